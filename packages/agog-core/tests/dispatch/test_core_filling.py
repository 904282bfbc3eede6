"""Large results that fill the backend's memory: nobody who holds an earlier one ever sees another's values."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InternalError
from agog_core.observers.profiling import profile
from agog_core.plugin import Kernel, hookimpl
from agog_testing import says

SHAPE = (512, 600)  # 1.2 MB
X = np.random.default_rng(0).normal(size=SHAPE).astype(np.float32)
FILLED: list[tuple[int, ...]] = []


def square(x: Any) -> Any:
    return x * x


def fill(x: Any, *, out: Any) -> Any:
    if np.isnan(x.flat[0]):
        out[:100] = 7.0
        raise FloatingPointError("in the midst of it")
    if not x.flags.c_contiguous:
        return NotImplemented
    FILLED.append(out.shape)
    assert (out.flags.c_contiguous, out.dtype) == (True, x.dtype)
    np.multiply(x, x, out=out)
    return None


@contextmanager
def plugin(version: int | None = 3, **changes: Any) -> Iterator[None]:
    found = [Kernel(**{"op": "square", "device": "cpu", "fn": square, "out": fill, "priority": 200, **changes})]
    hooks = SimpleNamespace(agog_kernels=hookimpl(lambda: found), AGOG_API_VERSION=version)
    ag.register_plugin(hooks, "filling")
    try:
        with ag.device("cpu"):
            yield
    finally:
        ag.unregister_plugin("filling")
        FILLED.clear()


def squares(count: int = 12) -> None:
    """Large results of other values, which take whatever memory is free."""
    kept = [ag.square(ag.constant(np.full(SHAPE, number, np.float32))) for number in range(2, 2 + count)]
    for number, each in enumerate(kept, start=2):
        assert (each.numpy() == number * number).all()


HOLDERS: dict[str, Callable[[ag.Tensor], Any]] = {
    "the tensor": lambda y: y,
    "an array": lambda y: y.numpy(),
    "a part of an array": lambda y: y.numpy()[3:, ::2],
    "the array's own views": lambda y: y._array.T[5:],
    "a view": lambda y: ag.reshape(y, (600, 512)),
    "a view of a view": lambda y: ag.transpose(ag.reshape(y, (600, 512)))[1:],
    "a buffer": lambda y: memoryview(y.numpy()),
    "the buffer of a tensor's memory": lambda y: memoryview(y._array)[7:],
    "another library's array": lambda y: np.from_dlpack(y),
    "a variable": lambda y: ag.Variable(y),
    "a generator": lambda y: (row for row in y.numpy()),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_holds_a_result_keeps_its_values(holder: str) -> None:
    wanted = np.array(square(X))
    with plugin():
        held = HOLDERS[holder](ag.square(ag.constant(X)))
        assert FILLED == [SHAPE]
        gc.collect()
        squares()
    values = np.concatenate([row[None] for row in held]) if holder == "a generator" else np.asarray(held)
    expected = np.asarray(HOLDERS[holder](ag.constant(wanted))) if holder != "a generator" else wanted
    np.testing.assert_array_equal(values, expected)


def test_a_tape_keeps_the_values_that_it_saved() -> None:
    with plugin():
        x = ag.constant(X)
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = ag.square(ag.square(x))
        squares()
        gradient = tape.gradient(y, x)
    np.testing.assert_allclose(gradient.numpy(), 4 * X.astype(np.float64) ** 3, rtol=1e-5)


def test_a_view_does_not_see_the_update_of_a_variable_with_that_memory() -> None:
    with plugin():
        variable = ag.Variable(np.zeros(SHAPE, np.float32))
        variable.assign(ag.square(ag.constant(X)))
        view, part = ag.reshape(variable, (-1,)), variable.numpy()[4:]
        variable.assign_add(np.ones(SHAPE, np.float32))
        squares()
    np.testing.assert_array_equal(view.numpy(), (X * X).reshape(-1))
    np.testing.assert_array_equal(part, (X * X)[4:])
    np.testing.assert_array_equal(variable.numpy(), X * X + 1)


def test_an_error_in_the_midst_leaves_nothing_behind() -> None:
    with plugin():
        before = ag.square(ag.constant(X))
        nan = X.copy()
        nan.flat[0] = np.nan
        with pytest.raises(FloatingPointError) as caught:
            ag.square(ag.constant(nan))
        assert "plugin 'filling'" in caught.value.__notes__[0]
        squares()
        np.testing.assert_array_equal(before.numpy(), X * X)


def test_threads_have_results_of_their_own() -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        x = ag.constant(np.full(SHAPE, number, np.float32))
        kept = []
        for _ in range(20):
            kept.append(ag.square(x))
            if len(kept) > 3:
                del kept[0]
            wrong.extend(number for each in kept if (each.numpy() != number * number).any())

    with plugin():
        threads = [threading.Thread(target=work, args=(number,)) for number in range(2, 8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_large_results_alone_are_filled_from_a_cache_line_on() -> None:
    with plugin():
        assert ag.square(ag.constant(X))._array.ctypes.data % 64 == 0
        for small in (X[:1], X[:20], X[:, :0]):
            np.testing.assert_array_equal(ag.square(ag.constant(small)).numpy(), small * small)
        assert FILLED == [SHAPE]
        np.testing.assert_array_equal(ag.square(ag.transpose(ag.constant(X))).numpy(), (X * X).T)  # it is declined
        assert FILLED == [SHAPE]


@pytest.mark.parametrize("version", [None, 1, 2])
def test_plugins_of_former_versions_make_their_results(version: int | None) -> None:
    with plugin(version):
        np.testing.assert_array_equal(ag.square(ag.constant(X)).numpy(), X * X)
        assert FILLED == []


def test_the_made_kernel_is_seen_by_profiles_and_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    with plugin(), profile() as profiled:
        ag.square(ag.constant(X))
    assert [(event.row.op, event.row.plugin) for event in profiled.events] == [("square", "filling")]
    monkeypatch.setenv("AGOG_CHECK", "1")
    with plugin():
        np.testing.assert_array_equal(ag.square(ag.constant(X)).numpy(), X * X)


def test_a_backend_that_gives_another_array_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with plugin():
        backend = ag.constant(X)._table.device.backend
        object.__setattr__(backend, "empty", original := backend.empty)
        assert original is not None
        try:
            object.__setattr__(backend, "empty", lambda shape, dtype, index: np.empty(3, dtype))
            with says(
                InternalError,
                "empty of the backend for device cpu:0 returned a numpy.ndarray of shape (3,) and dtype float32; it "
                "must return ndarray of shape (512, 600). This is a bug of the plugin that brings the device.",
            ):
                ag.square(ag.constant(X))
        finally:
            object.__setattr__(backend, "empty", original)
