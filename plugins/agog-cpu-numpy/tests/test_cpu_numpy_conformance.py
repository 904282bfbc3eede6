"""The reference kernels conform, and they are the reference for every op."""

from __future__ import annotations

import pytest

import agog_core as ag
from agog_core.dispatch.op import all_ops
from agog_core.dispatch.plugins.loader import loader
from agog_testing.conformance import collect, main

# Gradients of some ops call ops that half precision has not.
PASSED = ("passed", "not checked")
CASES = collect("cpu-numpy")
# What takes long is run for one dtype of each op; `nox -s matrix` runs all for all.
LONG = {"leaks", "repeated", "shortcuts", "sizes", "state", "strides", "surroundings", "threads"}


@pytest.mark.parametrize("op", sorted(all_ops()))
def test_kernels_conform(op: str) -> None:
    cases = [case for case in CASES if case.op == op]
    dtypes = {case.dtype for case in cases}
    of_long = next((dtype for dtype in ("float32", "int32", "complex64") if dtype in dtypes), min(dtypes, default=None))
    cases = [case for case in cases if case.check not in LONG or case.dtype == of_long]
    failures = {case.id: outcome.text for case in cases if (outcome := case.run()).kind not in PASSED}
    assert failures == {}


def test_every_op_and_dtype_has_a_kernel() -> None:
    assert {(case.op, case.dtype) for case in CASES} == {
        (op.name, d.name) for op in all_ops().values() for d in op.dtypes
    }


def test_kernels_are_of_the_lowest_priority() -> None:
    (plugin,) = (plugin for plugin in loader().plugins if plugin.name == "cpu-numpy")
    assert {kernel.priority for kernel in plugin.kernels} == {0}
    assert {kernel.device for kernel in plugin.kernels} == {"cpu"}


def test_nothing_is_expected_to_fail() -> None:
    (plugin,) = (plugin for plugin in loader().plugins if plugin.name == "cpu-numpy")
    assert plugin.conformance.expected_failures == plugin.conformance.tolerances == {}


def test_command() -> None:
    assert main(["cpu-numpy", "--op", "square"]) == 0


def test_explain_names_the_plugin() -> None:
    assert "plugin 'cpu-numpy'" in ag.explain("matmul", device="cpu", dtype="float32")
