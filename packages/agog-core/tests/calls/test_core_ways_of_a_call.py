"""The way of a call is written out eight times for speed, and each does the same things."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.devices.lookup import scopes
from agog_core.dispatch.kernels.observation import KernelCall, observe, unobserve
from agog_core.errors import InternalError, InvalidArgumentError
from agog_core.ops.math.logic import masked
from agog_core.ops.nn.fused import matmul_bias
from agog_core.plugin import Kernel, hookimpl
from agog_core.recording import active
from agog_core.shapes import intern_shape
from agog_core.tensors.tensor import wrap
from agog_testing import says

Way = Callable[..., ag.Tensor]

# The op's name, how it is called, and its value in NumPy, for each way.
WAYS: dict[str, tuple[str, Way, Callable[..., Any]]] = {
    "unary": ("exp", lambda x: ag.exp(x), np.exp),
    "binary": ("maximum", lambda x: ag.maximum(x, x), lambda x: x),
    "matmul": ("matmul", lambda x: ag.matmul(x, x), lambda x: x @ x),
    "matmul_bias": ("matmul_bias", lambda x: matmul_bias(x, x, row(x)), lambda x: x @ x + x[0]),
    "call": ("cumsum", lambda x: ag.cumsum(x), lambda x: np.cumsum(x, 0)),
    "create": ("fill", lambda x: ag.fill([2, 2], 1.5), lambda x: np.full((2, 2), 1.5)),
    "cast": ("cast", lambda x: ag.cast(x, ag.float64), lambda x: x),
    "masked": ("masked", lambda x: masked(x, MASK), lambda x: x),
}


def row(x: ag.Tensor) -> ag.Tensor:
    """The first row, by no call of a kernel."""
    return wrap(x._array[0], x._table, intern_shape((2,)))


DTYPES = {way: ag.float64 if way == "cast" else ag.float32 for way in WAYS}
with ag.device("cpu:0"):
    MASK = ag.constant(np.ones((2, 2), bool))
X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)

each_way = pytest.mark.parametrize("way", WAYS)
each_way_with_input = pytest.mark.parametrize("way", [way for way in WAYS if way != "create"])


@pytest.fixture(autouse=True)
def _on_the_cpu() -> Iterator[None]:
    """The kernels here are for the CPU, also where the suite is run on another device; casts and masks go their own
    ways outside of all scopes.
    """
    with ag.device("cpu:0") if scopes else nullcontext():
        yield


@contextmanager
def kernel(op: str, function: Callable[..., Any]) -> Iterator[None]:
    """A kernel that runs instead of the reference."""

    @hookimpl
    def agog_kernels() -> Iterator[Kernel]:
        yield Kernel(op=op, device="cpu", fn=function, priority=1000)

    ag.register_plugin(SimpleNamespace(agog_kernels=agog_kernels), "instead")
    try:
        yield
    finally:
        ag.unregister_plugin("instead")


@each_way
def test_value_shape_and_dtype(way: str) -> None:
    _, run, expected = WAYS[way]
    for _ in range(2):  # the first resolves the kernel
        out = run(ag.constant(X))
        np.testing.assert_allclose(out.numpy(), expected(X.astype(np.float64)), rtol=1e-6)
        assert out.dtype is DTYPES[way]
        assert out._shape is intern_shape((2, 2))
        assert out._watch is None


@each_way
def test_the_table_is_filled_once(way: str) -> None:
    op, run, _ = WAYS[way]
    x = ag.constant(X)
    calls = 0

    def counting(*arrays: Any, **attributes: Any) -> Any:
        nonlocal calls
        calls += 1
        return np.ones((2, 2), np.float32)

    with kernel(op, counting):
        table = x._table
        assert op not in table.kernels
        run(x)
        assert table.kernels[op] is counting
        run(x)
    assert calls == 2
    assert op not in table.kernels


@each_way
def test_a_result_of_a_foreign_type_is_turned_into_an_array(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op, run, _ = WAYS[way]
    x, result = ag.constant(X), np.ones((2, 2), np.float32)
    asked: list[Any] = []

    def as_array(foreign: Any) -> Any:
        asked.append(foreign)
        return result

    monkeypatch.setattr(x._table, "as_array", as_array)
    with kernel(op, lambda *arrays, **attributes: "foreign"):
        assert [run(x)._array is result for _ in range(2)] == [True, True]
    assert asked == ["foreign", "foreign"]


@each_way
def test_a_result_that_is_no_array_is_refused(way: str) -> None:
    op, run, _ = WAYS[way]

    def nonsense(*arrays: Any, **attributes: Any) -> Any:
        return "nonsense"

    with kernel(op, nonsense):
        for _ in range(2):
            with says(
                InternalError,
                f"{op}: the kernel {nonsense.__module__}.{nonsense.__qualname__} for device 'cpu' and dtype float32 "
                "returned str; a kernel returns ndarray. This is a bug of the plugin that brings it.",
            ):
                run(ag.constant(X))


@each_way
def test_what_a_kernel_declines_the_next_one_runs(way: str) -> None:
    op, run, expected = WAYS[way]
    calls: list[str] = []

    def declining(*arrays: Any, **attributes: Any) -> Any:
        calls.append(op)
        return NotImplemented

    with kernel(op, declining):
        for _ in range(2):
            np.testing.assert_allclose(run(ag.constant(X)).numpy(), expected(X.astype(np.float64)), rtol=1e-6)
    assert calls == [op, op]


@each_way
def test_what_a_kernel_raises_says_which_it_was(way: str) -> None:
    op, run, _ = WAYS[way]

    def broken(*arrays: Any, **attributes: Any) -> Any:
        raise OSError("no driver")

    with kernel(op, broken):
        for _ in range(2):
            with pytest.raises(OSError, match="no driver") as caught:
                run(ag.constant(X))
            (note,) = caught.value.__notes__
            assert note.startswith(
                f"in the kernel {broken.__module__}.{broken.__qualname__} of plugin 'instead' (registered by the "
                f"program) for op {op!r} on device 'cpu:0' with dtype float32, called with "
            )


@each_way
def test_observers_see_the_call(way: str) -> None:
    op, run, _ = WAYS[way]
    seen: list[KernelCall] = []
    observe(seen.append)
    try:
        for _ in range(2):
            run(ag.constant(X))
    finally:
        unobserve(seen.append)
    assert [call.op.name for call in seen] == [op, op]
    assert seen[0].results[0].shape == (2, 2)


@each_way
def test_a_scope_chooses_the_device(way: str) -> None:
    _, run, _ = WAYS[way]
    x = ag.constant(X)
    with ag.device("cpu:0"):
        assert run(x).device.endswith("CPU:0")
    with pytest.raises(InvalidArgumentError) as caught, ag.device("gpu:7"):
        run(x)
    assert str(caught.value).startswith("/job:localhost/replica:0/task:0/device:GPU:7 unknown device.")


@each_way_with_input
def test_tapes_record_what_they_watch(way: str) -> None:
    _, run, _ = WAYS[way]
    x = ag.constant(X)
    with ag.GradientTape() as tape:
        assert active
        assert run(x)._watch is None
        assert tape.records == []
        tape.watch(x)
        out = run(x)
        assert tape.watches(out)
    assert tape.gradient(out, x).shape == (2, 2)


@pytest.mark.parametrize(
    ("op", "run"),
    [("is_nan", ag.is_nan), ("equal", lambda x: ag.equal(x, x)), ("argmax", ag.argmax)],
    ids=["unary", "binary", "call"],
)
def test_a_tape_with_source_lines_notes_where_gradients_break(op: str, run: Way) -> None:
    x = ag.constant(X)
    with ag.GradientTape(source_lines=True) as tape:
        tape.watch(x)
        run(x)
        assert tape.breaks is not None
        assert {what for _, what, _ in tape.breaks} == {op}


@pytest.mark.parametrize(
    ("op", "first", "second", "run"),
    [
        ("add", "x", "y", ag.add),
        ("matmul", "a", "b", ag.matmul),
        ("squared_difference", "x", "y", ag.squared_difference),
        ("concat", "values[0]", "values[1]", lambda x, y: ag.concat([x, y], 0)),
    ],
    ids=["binary", "matmul", "binary again", "call"],
)
def test_two_dtypes_are_refused_in_the_same_words(op: str, first: str, second: str, run: Way) -> None:
    x, y = ag.constant(X), ag.constant(X.astype(np.float64))
    with says(
        InvalidArgumentError,
        f"{op}: {first} has dtype float32 and {second} has dtype float64 (shapes (2, 2) and (2, 2)), but they must "
        f"be of one dtype; cast one of them, such as tf.cast({second}, tf.float32).",
    ):
        run(x, y)


@each_way_with_input
def test_a_dtype_that_the_op_is_not_defined_for_is_refused_in_the_same_words(way: str) -> None:
    op, run, _ = WAYS[way]
    with pytest.raises(InvalidArgumentError) as caught:
        run(ag.constant([["a", "b"], ["c", "d"]]))
    assert str(caught.value).startswith(f"{op}: dtype string is not supported; use one of ")
