"""Every op, and its gradient, gives the same bits in a traced function."""

from __future__ import annotations

import warnings

import pytest

from agog_core.tracing.execution import hotness
from agog_testing.checks.tracing import differences
from agog_testing.opinfo import OpInfo, table


@pytest.mark.parametrize("op", sorted(table))
def test_op_is_equal_in_a_traced_function(op: str) -> None:
    check(table[op])


@pytest.mark.parametrize("op", sorted(table))
def test_op_is_equal_in_a_function_that_is_not_compiled_yet(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hotness, "_at_once", [])
    check(table[op])


def check(info: OpInfo) -> None:
    dtypes = [dtype for dtype in ("float32", "int32", "complex64", "bool", "string") if dtype in info.dtypes]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of sources that have no gradient, and of numbers
        assert list(differences(info, (dtypes or info.dtypes)[0])) == []


# Ops of gradients come with those whose gradients they are.
FORWARD = sorted(name for name, info in table.items() if info.differentiable and not name.endswith("_grad"))


@pytest.mark.parametrize("op", FORWARD)
def test_gradient_of_a_traced_function_is_equal(op: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(differences(table[op], "float32", outside=True)) == []
