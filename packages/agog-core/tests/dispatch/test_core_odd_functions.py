"""Odd functions: those of plugins that raise what cannot be printed, return nonsense, or do not return."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.plugins import watch
from agog_core.dispatch.plugins.loader import Plugin, loader
from agog_core.dispatch.reports.diagnosis import problems
from agog_core.errors import InvalidArgumentError
from agog_core.plugin import Backend, Executor, Kernel, PluginWarning, hookimpl
from agog_core.tracing.execution.hotness import compile_functions_at_once
from agog_testing import says

Load = Callable[..., Plugin]


class UnprintableError(Exception):
    """An error without a text."""

    def __str__(self) -> str:
        raise OSError("no words")


def raises(*arguments: Any) -> Any:
    raise UnprintableError


UNPRINTABLE = "UnprintableError: its text cannot be read, for __str__ raises OSError"


@pytest.fixture
def load() -> Iterator[Load]:
    """Load a plugin "odd" of hooks, beside those that are there."""
    known = list(loader().plugins)

    def load(**hooks: Callable[[], Any]) -> Plugin:
        module = SimpleNamespace(**{name: hookimpl(hook) for name, hook in hooks.items()})
        return loader().load("odd", "odd 1.0", lambda: module)

    yield load
    for plugin in loader().plugins[len(known) :]:
        if plugin.failure is None:
            ag.unregister_plugin(plugin.name)
    loader().plugins[:] = known


def device(**functions: Any) -> Backend:
    """A device on NumPy's arrays."""
    usual: dict[str, Any] = {
        "device_count": lambda: 1,
        "from_host": lambda host, index: host,
        "to_host": lambda array: array,
        "copy": lambda array: array.copy(),
        "synchronize": lambda index: None,
    }
    return Backend(device="odd", array_type=np.ndarray, **usual | functions)


def works() -> bool:
    return float(ag.add(1.0, 2.0)) == 3.0


def test_an_error_that_cannot_be_printed(load: Load) -> None:
    plugin = load(agog_kernels=raises)
    assert plugin.failure == f"agog_kernels: {UNPRINTABLE}"
    assert problems() == [f"odd (odd 1.0) failed: agog_kernels: {UNPRINTABLE}"]
    assert works()


def test_a_hook_that_yields_without_an_end(load: Load) -> None:
    plugin = load(agog_kernels=lambda: itertools.repeat(Kernel(op="square", device="cpu", fn=abs)))
    assert plugin.failure == "agog_kernels yields more than 100,000 Kernel objects; it must come to an end."
    assert works()


def test_a_hook_that_does_not_return_is_spoken_of(
    load: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(watch, "PATIENCE", 0.05)

    def hangs() -> list[Any]:
        time.sleep(0.3)
        return []

    assert load(agog_kernels=hangs).failure is None
    assert capsys.readouterr().err == (
        "agog plugin 'odd' (odd 1.0) has not loaded after 0.05 s; at work is its hook agog_kernels. AGOG_PLUGINS, with "
        "the names of the others, leaves it out.\n"
    )


def test_an_import_that_does_not_return_is_spoken_of(
    load: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(watch, "PATIENCE", 0.05)
    loader().load("odd", "odd 1.0", lambda: time.sleep(0.3))
    assert capsys.readouterr().err == (
        "agog plugin 'odd' (odd 1.0) has not loaded after 0.05 s; at work is the import of its module. AGOG_PLUGINS, "
        "with the names of the others, leaves it out.\n"
    )


@pytest.mark.parametrize("function", ["unavailable", "device_count"])
def test_a_function_that_does_not_return_is_spoken_of(
    function: str, load: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(watch, "PATIENCE", 0.05)
    load(agog_backends=lambda: [device(**{function: lambda: time.sleep(0.3)})])
    ag.count_devices("odd")
    assert capsys.readouterr().err == (
        f"agog: {function} of the backend for device type 'odd' has not answered after 0.05 s.\n"
    )


def test_a_process_without_threads_or_standard_error(
    load: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(timer: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(watch.threading.Timer, "start", start)
    assert load(agog_kernels=lambda: []).failure is None
    monkeypatch.setattr(sys, "stderr", None)
    watch._tell(lambda seconds: "nobody reads this")
    assert capsys.readouterr() == ("", "")


ANSWERS = {
    True: "TypeError: unavailable must return a sentence or None; it returned True",
    5: "TypeError: unavailable must return a sentence or None; it returned 5",
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_unavailable_answers_nonsense(answer: Any, load: Load) -> None:
    plugin = load(
        agog_backends=lambda: [device(unavailable=lambda: answer)],
        agog_kernels=lambda: [Kernel(op="square", device="cpu", fn=raises, priority=900, unavailable=lambda: answer)],
        agog_executors=lambda: [Executor(name="odd", device="cpu", prepare=raises, unavailable=lambda: answer)],
    )
    assert plugin.failure is None
    assert problems() == [
        f"odd: the device type 'odd' cannot be used: its plugin failed: {ANSWERS[answer]}",
        f"odd: the kernels for square could not be loaded: {ANSWERS[answer]}",
        f"odd: the executor 'odd' could not be loaded: {ANSWERS[answer]}",
    ]
    assert works()


@pytest.mark.parametrize("count", [-1, "1", None, 1.0])
def test_device_count_answers_nonsense(count: Any, load: Load) -> None:
    load(agog_backends=lambda: [device(device_count=lambda: count)])
    why = f"its plugin failed: device_count must return a number of devices; it returned {count!r}"
    assert problems() == [f"odd: the device type 'odd' cannot be used: {why}"]
    assert ag.count_devices("odd") == 0
    assert works()


# Functions of a backend that are named.


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that a device's functions are in."""
    module = ModuleType("test_core_odd_library")
    module.__dict__.update(
        Array=np.ndarray,
        count=lambda: 1,
        adopt=lambda host, index: host,
        same=lambda array: array,
        copy=lambda array: array.copy(),
        wait=lambda index: None,
        number=5,
    )
    monkeypatch.setitem(sys.modules, "test_core_odd_library", module)
    return module


def named(**others: Any) -> Backend:
    """A device all of whose functions are named."""
    of = "test_core_odd_library"
    usual = {"device_count": f"{of}:count", "from_host": f"{of}:adopt", "to_host": f"{of}:same", "copy": f"{of}:copy"}
    return Backend(**{"device": "odd", "array_type": f"{of}:Array", **usual, "synchronize": f"{of}:wait"} | others)


def test_functions_that_are_named_are_imported_when_the_device_is_used(
    load: Load, monkeypatch: pytest.MonkeyPatch, library: ModuleType
) -> None:
    monkeypatch.delitem(sys.modules, "test_core_odd_library")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "meta_path", [])  # whoever imports it fails
        assert load(agog_backends=lambda: [named()]).failure is None
        assert works()
    monkeypatch.setitem(sys.modules, "test_core_odd_library", library)
    with ag.device("odd"):
        x = ag.constant([1.0, 2.0])
    assert x.device.endswith("device:ODD:0")
    assert x.numpy().tolist() == [1.0, 2.0]


BROKEN = {
    "no_such_module_of_agog:copy": (
        "could not be loaded: ModuleNotFoundError: No module named 'no_such_module_of_agog'"
    ),
    "test_core_odd_library:paste": (
        "could not be loaded: AttributeError: module 'test_core_odd_library' has no attribute 'paste'"
    ),
    "test_core_odd_library:number": "must be a function; it is 5",
}


@pytest.mark.parametrize("reference", BROKEN)
@pytest.mark.usefixtures("library")
def test_what_is_named_and_cannot_be_loaded(reference: str, load: Load) -> None:
    load(agog_backends=lambda: [named(copy=reference)])
    assert works()
    why = f"its plugin failed: copy ({reference}) {BROKEN[reference]}"
    assert problems() == [f"odd: the device type 'odd' cannot be used: {why}"]
    with ag.device("odd"), pytest.raises(InvalidArgumentError) as unknown:
        ag.zeros([1])
    assert str(unknown.value).splitlines()[1] == f"  why: {why}"


@pytest.mark.usefixtures("library")
def test_an_array_type_that_is_none(load: Load) -> None:
    load(agog_backends=lambda: [named(array_type="test_core_odd_library:number")])
    why = "array_type (test_core_odd_library:number) must be a type; it is 5"
    assert problems() == [f"odd: the device type 'odd' cannot be used: its plugin failed: {why}"]


# Functions for traced functions.


@pytest.fixture
def compiles_at_once() -> Iterator[None]:
    """Functions are compiled before they run."""
    compile_functions_at_once(True)
    yield
    compile_functions_at_once(False)


@pytest.mark.usefixtures("compiles_at_once")
@pytest.mark.parametrize(
    ("prepare", "why"),
    [
        (raises, UNPRINTABLE),
        (lambda graph, compilers: 5, "prepare must return a function, an Executable or None; it returned 5"),
        (lambda graph, compilers: "run", "prepare must return a function, an Executable or None; it returned 'run'"),
    ],
    ids=["raises", "a number", "a text"],
)
def test_an_executor_that_fails_is_passed_over(prepare: Any, why: str, load: Load) -> None:
    load(agog_executors=lambda: [Executor(name="odd", device="cpu", prepare=prepare, priority=900)])
    text = f"^The executor 'odd' failed, and a traced function runs without it: {why}$"
    f = ag.function(lambda x: x * x + 1.0)
    f(ag.constant(2.0))  # a first call is recorded
    with pytest.warns(PluginWarning, match=text):
        assert float(f(ag.constant(3.0))) == 10.0


def test_as_says_is_whole(load: Load) -> None:
    plugin = load(agog_kernels=lambda: [Kernel(op="square", device="cpu", fn=abs), 5])
    assert plugin.failure == "agog_kernels must yield Kernel objects; it yielded 5."
    with says(TypeError, "Kernel(op='square'): priority must be an int; got True."):
        Kernel(op="square", device="cpu", fn=abs, priority=True)
