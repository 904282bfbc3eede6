"""Kernels that are made when they are chosen, and may keep what changes no result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.plugins.loader import loader
from agog_core.errors import InternalError, MissingKernelError, PluginWarning
from agog_core.observers.profiling import profile
from agog_core.plugin import Kernel, hookimpl
from agog_testing import says

X = np.array([1.0, 2.0], np.float32)
MADE: list[tuple[str, str, str]] = []


class Scratch:
    """A kernel that keeps memory between calls."""

    def __init__(self, op: str, dtype: str, device: str) -> None:
        MADE.append((op, dtype, device))
        self.thread = threading.get_ident()
        self.memory = np.empty(2, dtype)

    def __call__(self, x: Any) -> Any:
        np.multiply(x, x, out=self.memory)
        return self.memory + 100


@pytest.fixture(autouse=True)
def _outside_of_all_scopes() -> Iterator[None]:
    """The suite may run inside of a device's scope; these kernels are the CPU's."""
    with ag.device(None):
        yield


@pytest.fixture(autouse=True)
def _nothing_made() -> None:
    MADE.clear()


@contextmanager
def kernel(**changes: Any) -> Iterator[None]:
    found = [Kernel(**{"op": "square", "device": "cpu", "make": Scratch, "priority": 200, **changes})]
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: found)), "made")
    try:
        yield
    finally:
        ag.unregister_plugin("made")


def test_it_is_made_once_for_each_dtype() -> None:
    with kernel():
        assert MADE == []
        for _ in range(2):
            np.testing.assert_array_equal(ag.square(X), [101, 104])
            assert ag.square(X.astype(np.float64)).dtype is ag.float64
        assert MADE == [("square", "float32", "cpu:0"), ("square", "float64", "cpu:0")]


def test_what_was_made_outlives_resolutions() -> None:
    with kernel():
        for _ in range(2):
            with profile() as seen:
                ag.square(X)
            ag.prefer(*ag.prefer("made"))
            ag.square(X)
        assert MADE == [("square", "float32", "cpu:0")]
    assert [row.kernel for row in seen.ops] == [f"{__name__}:Scratch"]


def test_nothing_is_made_of_kernels_that_are_not_reached() -> None:
    with kernel(priority=-1):
        np.testing.assert_array_equal(ag.square(X), [1, 4])
        ag.explain("square", "cpu")
        assert MADE == []


def test_a_string_names_what_makes_it() -> None:
    with kernel(make=f"{__name__}:Scratch"), profile() as seen:
        ag.square(X)
    assert len(MADE) == 1
    assert [row.kernel for row in seen.ops] == [f"{__name__}:Scratch"]


@pytest.mark.parametrize("per_thread", [False, True])
def test_instances_and_threads(per_thread: bool) -> None:
    threads_of_instances: list[int] = []

    class Noting(Scratch):
        def __call__(self, x: Any) -> Any:
            threads_of_instances.append(self.thread)
            return super().__call__(x)

    def work() -> None:
        for _ in range(2):
            ag.square(X)

    with kernel(make=Noting, per_thread=per_thread):
        work()
        for _ in range(2):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
    assert len(threads_of_instances) == 6
    assert len(MADE) == (3 if per_thread else 1)
    if per_thread:  # the numbers of threads that have ended are given again
        assert threads_of_instances[:2] == [threading.get_ident()] * 2
        assert threading.get_ident() not in threads_of_instances[2:]


def test_threads_that_choose_it_at_once_get_one() -> None:
    barrier = threading.Barrier(4)

    def slow(*arguments: str) -> Any:
        MADE.append(arguments)  # type: ignore[arg-type]
        threading.Event().wait(0.05)
        return np.square

    def work() -> None:
        barrier.wait()
        ag.square(X)

    with kernel(make=slow):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(MADE) == 1


class Panic(BaseException):
    """What a library in another language may raise."""


def fails(*arguments: str) -> Any:
    raise OSError("no scratch memory")


def panics(*arguments: str) -> Any:
    raise Panic("index out of bounds")


WRONG: dict[str, tuple[Callable[..., Any], str]] = {
    "raises": (fails, "OSError: no scratch memory"),
    "panics": (panics, "Panic: index out of bounds"),
    "returns nothing": (
        lambda *arguments: None,
        f"TypeError: {__name__}:<lambda>('square', 'float32', 'cpu:0') must return a function; it returned None",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_one_that_cannot_be_made_is_passed_over(wrong: str) -> None:
    make, why = WRONG[wrong]
    with kernel(make=make):
        with pytest.warns(PluginWarning) as warned:
            np.testing.assert_array_equal(ag.square(X), [1, 4])
        assert [str(warning.message) for warning in warned] == [
            "The kernel for op 'square' on device 'cpu' of plugin 'made' (registered by the program), priority 200, "
            f"every dtype is left out: it could not be loaded: {why}"
        ]
        np.testing.assert_array_equal(ag.square(X), [1, 4])  # without another warning


def test_one_that_cannot_be_made_is_named_where_there_is_no_other() -> None:
    reference = next(p for p in loader().plugins if p.name == "cpu-numpy")
    kept = reference.kernels
    reference.kernels = [k for k in kept if k.op != "square"]
    try:
        with kernel(make=fails), pytest.warns(PluginWarning), pytest.raises(MissingKernelError) as caught:
            ag.square(X)
    finally:
        reference.kernels = kept
    assert str(caught.value).splitlines()[1] == (
        "  rejected: plugin 'made' (registered by the program), priority 200, every dtype: could not be loaded: "
        "OSError: no scratch memory"
    )


def test_errors_name_what_was_made() -> None:
    class Wrong(Scratch):
        def __call__(self, x: Any) -> Any:
            return [x]

    with (
        kernel(make=Wrong),
        says(
            InternalError,
            f"square: the kernel {__name__}.{Wrong.__qualname__} for device 'cpu' and dtype float32 returned list; a "
            "kernel returns ndarray. This is a bug of the plugin that brings it.",
        ),
    ):
        ag.square(X)


@pytest.mark.parametrize(
    ("arguments", "kind", "why"),
    [
        ({}, TypeError, "it takes one of fn, make and on; got none."),
        ({"fn": abs, "make": abs}, TypeError, "it takes one of fn, make and on; got fn and make."),
        ({"make": "abs"}, TypeError, "make must be a function or a 'module:attribute' string; got 'abs'."),
        ({"fn": abs, "lower": 3}, TypeError, "lower must be a function, a 'module:attribute' string or 'next'; got 3."),
        ({"fn": abs, "out": 3}, TypeError, "out must be a function or a 'module:attribute' string; got 3."),
        ({"fn": abs, "when": None}, TypeError, "when must be a string; got None."),
        ({"fn": abs, "priority": "high"}, TypeError, "priority must be an int; got 'high'."),
        (
            {"fn": abs, "unavailable": "too old"},
            TypeError,
            "unavailable must be a function that returns a sentence or None; got 'too old'.",
        ),
        (
            {"fn": abs, "per_thread": True},
            ValueError,
            "per_thread=True needs make, which may keep state; fn may not.",
        ),
        ({"fn": abs, "pool": True}, ValueError, "pool=True needs make, which may keep state; fn may not."),
    ],
)
def test_what_a_kernel_may_not_be(arguments: dict[str, Any], kind: type[Exception], why: str) -> None:
    with says(kind, f"Kernel(op='square'): {why}"):
        Kernel(op="square", device="cpu", **arguments)


def test_what_a_kernel_says_of_itself() -> None:
    kernel = Kernel(op="square", device="cpu", make="a:b", per_thread=True, pool=True, lower="a:c", out=abs)
    assert (kernel.source, kernel.deterministic, kernel.when) == ("a:b", True, "")
    assert Kernel(op="square", device="cpu", fn=fails).source == f"{__name__}:fails"


def test_a_function_without_a_module_has_that_of_its_class() -> None:
    class Native:
        """A function as NumPy's are before 2.2."""

        def __getattribute__(self, name: str) -> Any:
            if name in ("__module__", "__qualname__"):
                raise AttributeError(name)
            return super().__getattribute__(name)

        def __call__(self, x: Any) -> Any:
            return x

        def __repr__(self) -> str:
            return "<native>"

    assert Kernel(op="square", device="cpu", fn=Native()).source == f"{__name__}:<native>"
