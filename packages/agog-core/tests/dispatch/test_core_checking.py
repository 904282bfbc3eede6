"""What is told of kernels that raise, and what AGOG_CHECK=1 finds in those that do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.devices.lookup import clear_tables
from agog_core.errors import InternalError
from agog_core.plugin import Kernel, hookimpl
from agog_testing import says

X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
WHO = "of plugin 'checked' (registered by the program)"


@pytest.fixture(autouse=True)
def _on_the_cpu() -> Iterator[None]:
    """The kernels here are for the CPU, also where the suite is run on another device."""
    with ag.device("cpu:0"):
        yield


@contextmanager
def kernel(op: str, function: Callable[..., Any], **changes: Any) -> Iterator[None]:
    found = [Kernel(op=op, device="cpu", fn=function, priority=1000, **changes)]
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: found)), "checked")
    try:
        yield
    finally:
        ag.unregister_plugin("checked")


# --- kernels that raise -------------------------------------------------------------------------------------------


def fails(*arrays: Any, **attributes: Any) -> Any:
    raise RuntimeError("no unit is free")


# The op, a call of it, and what its kernel is called with.
CALLS: dict[str, tuple[str, Callable[[], Any], str]] = {
    "unary": ("exp", lambda: ag.exp(X), "float32 (2, 2)"),
    "binary": ("maximum", lambda: ag.maximum(X, 1.0), "float32 (2, 2), float32 ()"),
    "matmul": ("matmul", lambda: ag.matmul(X, X), "float32 (2, 2), float32 (2, 2)"),
    "call": ("cumsum", lambda: ag.cumsum(X), "float32 (2, 2)"),
    "call of three": ("where", lambda: ag.where(X > 1.0, X, X), "bool (2, 2), float32 (2, 2), float32 (2, 2)"),
    "create": ("fill", lambda: ag.fill([2], 1.0), "no arrays"),
    "update": ("apply_add", lambda: ag.Variable(X).assign_add(X), "float32 (2, 2), float32 (2, 2)"),
}


@pytest.mark.parametrize("way", CALLS)
def test_an_error_of_a_kernel_gets_a_note(way: str) -> None:
    op, run, given = CALLS[way]
    note = (
        f"in the kernel {__name__}.fails {WHO} for op {op!r} on device 'cpu:0' with dtype float32, called with {given}"
    )
    with kernel(op, fails), says(RuntimeError, "no unit is free") as caught:
        run()
    assert caught.value.__notes__ == [note]


def test_a_cast_gets_a_note_each_time() -> None:
    with kernel("cast", fails):
        for _ in range(2):
            with pytest.raises(RuntimeError) as caught:
                ag.cast(X, "int32")
            assert len(caught.value.__notes__) == 1
    turn: list[int] = []

    def fails_later(x: Any, dtype: str) -> Any:
        turn.append(1)
        return x.astype(dtype) if len(turn) == 1 else fails()

    with kernel("cast", fails_later):
        ag.cast(X, "int32")
        with pytest.raises(RuntimeError) as caught:
            ag.cast(X, "int32")  # the short way, once the table has the kernel
    assert caught.value.__notes__[0].endswith(
        "for op 'cast' on device 'cpu:0' with dtype float32, called with float32 (2, 2)"
    )


def test_the_note_names_the_kernel_that_ran_when_the_first_declines() -> None:
    first = kernel("matmul", lambda a, b, **attributes: NotImplemented)
    with first, kernel_below("matmul", raises_value_error), pytest.raises(ValueError, match="below") as caught:
        ag.matmul(X, X)
    assert caught.value.__notes__ == [
        f"in the kernel {__name__}.raises_value_error of plugin 'below' (registered by the program) for op 'matmul' on "
        "device 'cpu:0' with dtype float32, called with float32 (2, 2), float32 (2, 2)"
    ]


def raises_value_error(*arrays: Any, **attributes: Any) -> Any:
    raise ValueError("below")


@contextmanager
def kernel_below(op: str, function: Callable[..., Any]) -> Iterator[None]:
    found = [Kernel(op=op, device="cpu", fn=function, priority=500)]
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: found)), "below")
    try:
        yield
    finally:
        ag.unregister_plugin("below")


def test_an_interrupt_gets_none() -> None:
    def interrupted(*arrays: Any) -> Any:
        raise KeyboardInterrupt

    with kernel("exp", interrupted), pytest.raises(KeyboardInterrupt) as caught:
        ag.exp(X)
    assert not hasattr(caught.value, "__notes__")


def test_a_variable_is_whole_after_an_error() -> None:
    variable = ag.Variable(X)
    with kernel("apply_add", fails), pytest.raises(RuntimeError):
        variable.assign_add(X)
    np.testing.assert_array_equal(variable.numpy(), X)


# --- AGOG_CHECK=1 -------------------------------------------------------------------------------------------------


@pytest.fixture
def _checking(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AGOG_CHECK", "1")
    clear_tables()
    yield
    clear_tables()


def writes(x: Any, *others: Any, **attributes: Any) -> Any:
    x += 1
    return x * 1


def writes_second(x: Any, y: Any, **attributes: Any) -> Any:
    y *= 2
    return np.add(x, y)


def declines_too_late(x: Any) -> Any:
    x += 1
    return NotImplemented


# The op, a kernel that breaks a rule, a call, and what is said of it.
FAULTS: dict[str, tuple[str, Callable[..., Any], Callable[[], Any], str]] = {
    "dtype": (
        "exp",
        lambda x: np.exp(x.astype(np.float64)),
        lambda: ag.exp(X),
        "returned dtype float64; the op's rule gives float32. It was called with float32 (2, 2).",
    ),
    "shape": (
        "cumsum",
        lambda x, **attributes: x[:1],
        lambda: ag.cumsum(X),
        "returned shape (1, 2); the op's rule gives (2, 2). It was called with float32 (2, 2).",
    ),
    "type": (
        "matmul",
        lambda a, b, **attributes: [a],
        lambda: ag.matmul(X, X),
        "returned list; a kernel returns ndarray. It was called with float32 (2, 2), float32 (2, 2).",
    ),
    "shape of rank 0": (
        "reduce_sum",
        lambda x, axes, keepdims: x.sum(keepdims=True),
        lambda: ag.reduce_sum(X),
        "returned shape (1, 1); the op's rule gives (). It was called with float32 (2, 2).",
    ),
    "too few outputs": (
        "split",
        lambda x, **attributes: (x[:1],),
        lambda: ag.split(X, 2),
        "returned 1 arrays; 2 are expected. It was called with float32 (2, 2).",
    ),
    "one of several outputs": (
        "split",
        lambda x, **attributes: (x[:1], x),
        lambda: ag.split(X, 2),
        "returned shape (2, 2); the op's rule gives (1, 2). It was called with float32 (2, 2).",
    ),
    "without inputs": (
        "fill",
        lambda shape, value, dtype, index: np.ones(3, np.float32),
        lambda: ag.fill([2], 1.0),
        "returned shape (3,); the op's rule gives (2,). It was called with no arrays.",
    ),
    "writes to its input": (
        "exp",
        writes,
        lambda: ag.exp(X),
        "changed its input 'x', which is not its to write. It was called with float32 (2, 2).",
    ),
    "writes to its second input": (
        "add",
        writes_second,
        lambda: ag.constant(X) + ag.constant(X.T),
        "changed its input 'y', which is not its to write. It was called with float32 (2, 2), float32 (2, 2).",
    ),
    "writes to one of many": (
        "concat",
        lambda *arrays, axis: np.concatenate([writes(arrays[0]), *arrays[1:]], axis),
        lambda: ag.concat([X, X], 0),
        "changed its input 'values[0]', which is not its to write. It was called with float32 (2, 2), float32 (2, 2).",
    ),
    "writes, and declines then": (
        "exp",
        declines_too_late,
        lambda: ag.exp(X),
        "changed its input 'x', which is not its to write. It was called with float32 (2, 2).",
    ),
    "updates what it only reads": (
        "apply_add",
        lambda variable, value, **attributes: writes(value) is None or None,
        lambda: ag.Variable(X).assign_add(X),
        "changed its input 'delta', which is not its to write. It was called with float32 (2, 2), float32 (2, 2).",
    ),
    "its input": (
        "exp",
        lambda x: x,
        lambda: ag.exp(X),
        "returned memory of its input 'x', and the op makes no views. It was called with float32 (2, 2).",
    ),
    "a view of its second input": (
        "add",
        lambda x, y: y[::-1],
        lambda: ag.add(ag.constant(X), ag.constant(X.T)),
        "returned memory of its input 'y', and the op makes no views. It was called with float32 (2, 2), float32 (2, "
        "2).",
    ),
    "updates to another shape": (
        "apply_add",
        lambda variable, value, **attributes: (variable[:1] + 1,),
        lambda: ag.Variable(X).assign_add(X),
        "returned shape (1, 2); the op's rule gives (2, 2). It was called with float32 (2, 2), float32 (2, 2).",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.usefixtures("_checking")
def test_a_fault_is_found(fault: str) -> None:
    op, function, run, wrong = FAULTS[fault]
    name = f"{__name__}.{function.__qualname__}"
    with (
        kernel(op, function),
        says(
            InternalError,
            f"{op}: the kernel {name} {WHO} for op {op!r} on device 'cpu:0' with dtype float32 {wrong} This is a bug "
            "of the plugin that brings it.",
        ),
    ):
        run()


def test_nothing_is_checked_unless_it_is_asked_for() -> None:
    with kernel("exp", writes):
        np.testing.assert_array_equal(ag.exp(X.copy()), X + 1)


@pytest.mark.usefixtures("_checking")
def test_what_is_right_passes() -> None:
    variable = ag.Variable(X)
    variable.assign_add(X)
    ag.scatter_add(variable, [0], X[:1])
    with ag.GradientTape() as tape:
        tape.watch(x := ag.constant(X))
        parts = ag.split(ag.reshape(ag.matmul(x, variable), [4]) + 1.0, 2)
        y = ag.reduce_sum(ag.where(parts[0] > 1.0, parts[0], parts[1]))
    gradient = tape.gradient(y, x)
    assert gradient.shape == (2, 2)
    assert ag.boolean_mask(X, X > 2.0).shape == (2,)
    assert ag.cast(X, "int32").dtype is ag.int32
    assert ag.random_normal([2]).shape == (2,)
    np.testing.assert_array_equal(ag.string_strip(ag.constant([" a", "bc"])), [b"a", b"bc"])
    assert float(ag.reduce_max(ag.constant([1.0, np.nan, 3.0])[2:])) == 3.0
