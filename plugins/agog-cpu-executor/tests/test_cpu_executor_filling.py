"""Filling: kernels that write their results into the memory that stays between runs (`Kernel.out`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.plugin import Kernel, hookimpl
from agog_core.tracing.functions.function import function

Array = np.ndarray[Any, Any]


@pytest.fixture
def register() -> Iterator[Callable[..., None]]:
    def bring(**more: Any) -> None:
        kernel = Kernel(op="digamma", device="cpu", priority=300, **more)
        ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: [kernel])), "stranger")

    yield bring
    ag.unregister_plugin("stranger")


class Filling:
    """A kernel that doubles, and where its results lay when it filled an array."""

    def __init__(self, declines: bool = False) -> None:
        self.declines, self.places = declines, []

    def fn(self, x: Array) -> Array:
        return 2 * x

    def out(self, x: Array, *, out: Array) -> Any:
        if self.declines:
            return NotImplemented
        self.places.append(out.__array_interface__["data"][0])
        out[...] = 2 * x
        return None


def python(x: ag.Tensor) -> ag.Tensor:
    return ag.digamma(x + 1.0) + 1.0


@pytest.mark.parametrize("shape", [(3, 4), (1,), ()])
def test_results_lie_where_they_lay_before(register: Callable[..., None], shape: tuple[int, ...]) -> None:
    kernel = Filling()
    register(fn=kernel.fn, out=kernel.out)
    traced = function(python)
    results = [traced(ag.fill(shape, float(n))).numpy() for n in range(4)]
    for n, result in enumerate(results):  # after all of them: none was written again
        np.testing.assert_array_equal(result, np.full(shape, 2 * (n + 1) + 1, "float32"))
    assert (len(kernel.places), len(set(kernel.places))) == (3, 1)


def test_results_of_the_function_are_new_arrays(register: Callable[..., None]) -> None:
    kernel = Filling()
    register(fn=kernel.fn, out=kernel.out)
    traced = function(ag.digamma)
    results = [traced(ag.constant([1.0 + n, 2.0])) for n in range(4)]
    assert len(kernel.places) == 3
    for n, result in enumerate(results):
        np.testing.assert_array_equal(result.numpy(), [2.0 + 2 * n, 4.0])


def test_a_variable_is_not_half_written(register: Callable[..., None]) -> None:
    shared: list[bool] = []

    def fill(x: Array, *, out: Array) -> None:
        shared.append(np.shares_memory(x, out))
        out[...] = 2 * x

    v = ag.Variable([1.0, 2.0])
    register(fn=Filling().fn, out=fill)
    traced = function(lambda: v.assign(ag.digamma(v.value())))
    for _ in range(3):
        traced()
    assert shared == [False, False]
    np.testing.assert_array_equal(v.numpy(), [8.0, 16.0])


def test_one_that_declines(register: Callable[..., None]) -> None:
    kernel = Filling(declines=True)
    register(fn=kernel.fn, out=kernel.out)
    traced = function(python)
    for _ in range(3):
        np.testing.assert_array_equal(traced(ag.constant([1.0, 2.0])).numpy(), [5.0, 7.0])


def test_calls_that_are_checked_are_those_of_the_kernel(
    register: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Filling()
    monkeypatch.setenv("AGOG_CHECK", "1")
    register(fn=kernel.fn, out=kernel.out)
    traced = function(python, check=False)
    for _ in range(3):
        np.testing.assert_array_equal(traced(ag.constant([1.0, 2.0])).numpy(), [5.0, 7.0])
    assert not kernel.places


def test_one_that_is_made(register: Callable[..., None]) -> None:
    kernel, made = Filling(), []

    def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
        return kernel.fn

    def make_out(op: str, dtype: str, device: str) -> Callable[..., Any]:
        made.append((op, dtype, device))
        return kernel.out

    register(make=make, out=make_out)
    traced = function(python)
    for _ in range(3):
        traced(ag.constant([1.0, 2.0]))
    assert len(kernel.places) == 2
    assert made == [("digamma", "float32", "cpu:0")]


def test_an_error_names_the_line(register: Callable[..., None]) -> None:
    calls: list[Array] = []

    def fails(x: Array, out: Array | None = None) -> Any:
        calls.append(x)
        if len(calls) > 1:
            raise RuntimeError("no room")
        return x

    register(fn=fails, out=fails)
    traced = function(python)
    traced(ag.constant([1.0]))
    with pytest.raises(RuntimeError, match="no room") as caught:
        traced(ag.constant([1.0]))
    line = python.__code__.co_firstlineno + 1
    assert f"at {__file__}:{line}, in a traced function" in caught.value.__notes__


def test_ops_that_have_no_result_to_fill_an_array_with() -> None:
    kernel = Kernel(op="reshape", device="cpu", priority=300, fn=np.reshape, out=np.copyto)
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: [kernel])), "stranger")
    try:
        assert "it has `out`, but op 'reshape' gives views" in ag.explain("reshape", device="cpu")
    finally:
        ag.unregister_plugin("stranger")
