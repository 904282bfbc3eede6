"""Updates of several variables at once, by kernels that take them together; and one by one where they do not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.observers.profiling import profile
from agog_core.ops.updates.descent import apply_gradient_descent
from agog_core.plugin import Kernel, hookimpl
from agog_testing import says

RAN: list[int] = []


def one(w: Any, g: Any, *, learning_rate: float) -> None:
    """The op's kernel, which says that it was called for one."""
    RAN.append(1)
    w -= learning_rate * g


def several(groups: list[tuple[Any, ...]], *, learning_rate: float) -> Any:
    """The same for several; it declines learning rates below 0, and fails at 0."""
    if learning_rate < 0:
        return NotImplemented
    if learning_rate == 0:
        raise RuntimeError("no step")
    RAN.append(len(groups))
    for w, g in groups:
        w -= learning_rate * g
    return None


def make_several(op: str, dtype: str, device: str) -> Any:
    """What makes it."""
    RAN.append(-len(op))  # -22
    return several


@contextmanager
def kernel(**changes: Any) -> Iterator[None]:
    facts = {"op": "apply_gradient_descent", "device": "cpu", "fn": one, "several": several, "priority": 200}
    plugin = SimpleNamespace(agog_kernels=hookimpl(lambda: [Kernel(**{**facts, **changes})]))
    ag.register_plugin(plugin, "together")
    try:
        yield
    finally:
        ag.unregister_plugin("together")


@pytest.fixture(autouse=True)
def _nothing_ran() -> Iterator[None]:
    RAN.clear()
    with ag.device("/cpu:0"):  # where the kernels are, whatever device the tests are run on
        yield


def variables(*values: list[float], dtype: Any = None) -> list[ag.Variable]:
    return [ag.Variable(value, dtype=dtype) for value in values]


def steps(given: list[ag.Variable]) -> list[Any]:
    """A step for each variable, with ones as its gradient."""
    return [([v], [ag.ones_like(v)]) for v in given]


def values(given: list[ag.Variable]) -> list[Any]:
    return [v.numpy().tolist() for v in given]


def test_a_kernel_takes_several_at_once() -> None:
    given = variables([1.0], [2.0, 3.0], [])
    with kernel():
        apply_gradient_descent.several(steps(given), learning_rate=0.5)
    assert RAN == [3]
    assert values(given) == [[0.5], [1.5, 2.5], []]


def test_without_one_they_go_one_by_one() -> None:
    given = variables([1.0], [2.0])
    with kernel(several=None):
        apply_gradient_descent.several(steps(given), learning_rate=0.5)
    assert RAN == [1, 1]
    assert values(given) == [[0.5], [1.5]]


def test_what_it_declines_goes_one_by_one() -> None:
    given = variables([1.0], [2.0])
    with kernel():
        apply_gradient_descent.several(steps(given), learning_rate=-0.5)
    assert RAN == [1, 1]
    assert values(given) == [[1.5], [2.5]]


def test_each_dtype_is_a_call() -> None:
    given = [*variables([1.0], [2.0]), *variables([3.0], [4.0], dtype=ag.float64)]
    with kernel():
        apply_gradient_descent.several(steps([given[n] for n in (0, 2, 1, 3)]), learning_rate=0.5)
    assert RAN == [2, 2]
    assert values(given) == [[0.5], [1.5], [2.5], [3.5]]


def test_dtypes_that_it_is_not_for_go_one_by_one() -> None:
    given = [*variables([1.0], [2.0]), *variables([3.0], dtype=ag.float64)]
    with kernel(dtypes="float32"):
        apply_gradient_descent.several(steps(given), learning_rate=0.5)
    assert RAN == [2]
    assert values(given) == [[0.5], [1.5], [2.5]]


def test_a_variable_that_comes_twice_takes_both_steps() -> None:
    (v,) = variables([1.0])
    with kernel():
        apply_gradient_descent.several(steps([v, v]), learning_rate=0.5)
    assert RAN == [1, 1]
    assert values([v]) == [[0.0]]


def test_values_that_somebody_holds_stay_what_they_were() -> None:
    given = variables([1.0], [2.0])
    held, view = given[0].value(), given[1].numpy()
    with kernel():
        apply_gradient_descent.several(steps(given), learning_rate=0.5)
    assert RAN == [2]
    assert held.numpy().tolist() == [1.0]
    assert view.tolist() == [2.0]
    assert values(given) == [[0.5], [1.5]]


def test_a_gradient_may_be_another_variables_value() -> None:
    first, second = variables([1.0], [2.0])
    with kernel():
        given = [([first], [second.value()]), ([second], [first.value()])]
        apply_gradient_descent.several(given, learning_rate=0.5)
    assert RAN == [2]
    assert values([first, second]) == [[0.0], [1.5]]


def test_memory_is_written_in_place() -> None:
    given = variables([1.0], [2.0])
    before = [v._current()._array.ctypes.data for v in given]
    with kernel():
        apply_gradient_descent.several(steps(given), learning_rate=0.5)
        apply_gradient_descent.several(steps(given), learning_rate=0.5)
    assert RAN == [2, 2]
    assert [v._current()._array.ctypes.data for v in given] == before


def test_a_wrong_step_changes_nothing() -> None:
    first, second = variables([1.0], [2.0])
    given = [([first], [ag.ones([1])]), ([second], [ag.ones([2])])]
    with (
        kernel(),
        says(
            InvalidArgumentError,
            "apply_gradient_descent: gradient has shape (2,); variable 'Variable:0' has shape (1,).",
        ),
    ):
        apply_gradient_descent.several(given, learning_rate=0.5)
    assert values([first, second]) == [[1.0], [2.0]]


def test_a_kernel_that_raises_is_named_and_variables_can_be_read() -> None:
    given = variables([1.0], [2.0, 3.0])
    with kernel(), pytest.raises(RuntimeError, match="no step") as caught:
        apply_gradient_descent.several(steps(given), learning_rate=0.0)
    assert values(given) == [[1.0], [2.0, 3.0]]
    (note,) = caught.value.__notes__
    assert note.startswith(f"in the kernel {__name__}.several of plugin 'together'")
    assert note.endswith(
        "for op 'apply_gradient_descent' on device 'cpu:0' with dtype float32, called with float32 (1,), float32 (1,), "
        "float32 (2,), float32 (2,)"
    )


def test_who_looks_at_calls_sees_each() -> None:
    given = variables([1.0], [2.0])
    with kernel():
        with profile() as seen:
            apply_gradient_descent.several(steps(given), learning_rate=0.5)
        assert [row.count for row in seen.ops if row.op == "apply_gradient_descent"] == [2]
        apply_gradient_descent.several(steps(given), learning_rate=0.5)
    assert RAN == [1, 1, 2]


def test_checked_calls_go_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CHECK", "1")
    given = variables([1.0], [2.0])
    with kernel():
        apply_gradient_descent.several(steps(given), learning_rate=0.5)
    assert RAN == [1, 1]


def test_what_is_made_is_made_once() -> None:
    given = variables([1.0], [2.0])
    made = {"fn": None, "make": lambda *_: one, "several": f"{__name__}:make_several"}
    with kernel(**made):
        apply_gradient_descent.several(steps(given), learning_rate=0.5)
        ag.prefer(*ag.prefer("together"))
        apply_gradient_descent.several(steps(given), learning_rate=0.5)
    assert RAN == [-22, 2, 2]


@pytest.mark.parametrize(
    ("op", "several", "why"),
    [
        ("square", several, "it has `several`, but op 'square' updates no variables"),
        (
            "apply_gradient_descent",
            "math:nothing",
            "could not be loaded: AttributeError: module 'math' has no attribute 'nothing'",
        ),
    ],
)
def test_kernels_that_cannot_be_right_are_left_out(op: str, several: Any, why: str) -> None:
    with kernel(op=op, several=several):
        text = ag.explain(op, "cpu", "float32")
    assert why in text


def test_several_must_be_a_function() -> None:
    with says(TypeError, "Kernel(op='apply_adam'): several must be a function or a 'module:attribute' string; got 3."):
        Kernel(op="apply_adam", device="cpu", fn=np.add, several=3)  # type: ignore[arg-type]
