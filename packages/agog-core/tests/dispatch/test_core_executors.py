"""Executors of traced functions: what is refused, which is asked first, and what runs where none is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.compiler import Compiler, Executor, Graph
from agog_core.dispatch.plugins.executors import executors_of, explain_executors
from agog_core.dispatch.plugins.loader import loader
from agog_core.dispatch.reports import diagnosis
from agog_core.errors import AmbiguousKernelError
from agog_core.plugin import hookimpl
from agog_core.tracing.execution.executors import executable
from agog_testing import says
from agog_testing.compilers import graph_of


def executor(**facts: Any) -> Executor:
    return Executor(**{"name": "fast", "device": "cpu", "prepare": declining} | facts)


def declining(graph: Graph, compilers: Sequence[Compiler]) -> None:
    """An executor that takes no graph."""


@pytest.fixture(autouse=True)
def _on_the_cpu() -> Iterator[None]:
    with ag.device("/cpu:0"):  # which executors here are for, whatever device the tests are run on
        yield


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """What brings executors, which are then the only ones."""
    for plugin in loader().plugins:
        monkeypatch.setattr(plugin, "executors", [])
    names: list[str] = []

    def bring(name: str, *executors: Executor) -> None:
        ag.register_plugin(SimpleNamespace(agog_executors=hookimpl(lambda: executors)), name)
        names.append(name)

    yield bring
    for name in names:
        ag.unregister_plugin(name)


@pytest.mark.parametrize(
    ("facts", "error", "text"),
    [
        (
            {"device": "CPU"},
            ValueError,
            "Executor(name='fast', device='CPU'): a device type is one lower-case word, such as 'gpu'.",
        ),
        ({"name": ""}, TypeError, "Executor(name=''): name must be a name, such as 'numpy'; got ''."),
        (
            {"prepare": "prepare"},
            TypeError,
            "Executor(name='fast'): prepare must be a function or a 'module:attribute' string; got 'prepare'.",
        ),
        ({"priority": "high"}, TypeError, "Executor(name='fast'): priority must be an int; got 'high'."),
        (
            {"unavailable": "no"},
            TypeError,
            "Executor(name='fast'): unavailable must be a function that returns a sentence or None; got 'no'.",
        ),
    ],
)
def test_refusals(facts: dict[str, Any], error: type[Exception], text: str) -> None:
    with says(error, text):
        executor(**facts)


def test_a_hook_that_yields_something_else_is_refused() -> None:
    hooks = SimpleNamespace(agog_executors=hookimpl(lambda: ["numpy"]))
    with says(
        ag.errors.PluginError,
        "register_plugin('stranger'): agog_executors must yield Executor objects; it yielded 'numpy'.",
    ):
        ag.register_plugin(hooks, "stranger")


def test_the_highest_is_asked_first_and_others_are_told_of(register: Callable[..., None]) -> None:
    slow, absent = executor(name="slow", priority=50), executor(name="absent", unavailable=lambda: "no NumPy here")
    broken = executor(name="broken", prepare="no_such_module:prepare", priority=7)
    register("stranger", slow, absent, broken)
    register("other", fast := executor(priority=900))
    assert executors_of("cpu") == [fast, slow]
    assert explain_executors("cpu").splitlines() == [
        "executors of traced functions on device 'cpu':",
        "  first: executor 'fast' of plugin 'other' (registered by the program), priority 900",
        "  next: executor 'slow' of plugin 'stranger' (registered by the program), priority 50",
        "  rejected: executor 'absent' of plugin 'stranger' (registered by the program), priority 100: not available: "
        "no NumPy here",
        "  rejected: executor 'broken' of plugin 'stranger' (registered by the program), priority 7: could not be "
        "loaded: ModuleNotFoundError: No module named 'no_such_module'",
    ]
    assert diagnosis.problems()[-1] == (
        "stranger: the executor 'broken' could not be loaded: ModuleNotFoundError: No module named 'no_such_module'"
    )


def test_a_preference_goes_before_priority(register: Callable[..., None]) -> None:
    register("stranger", slow := executor(name="slow", priority=50))
    register("other", executor(priority=900))
    before = ag.prefer("stranger")
    try:
        assert executors_of("cpu")[0] is slow
    finally:
        ag.prefer(*before)


def test_equal_ranks_are_decided_by_nobody_else(register: Callable[..., None]) -> None:
    register("one", executor(name="a"))
    register("two", executor(name="b"))
    with says(
        AmbiguousKernelError,
        "2 executors of equal rank are registered for device 'cpu':\n"
        "  executor 'a' of plugin 'one' (registered by the program), priority 100\n"
        "  executor 'b' of plugin 'two' (registered by the program), priority 100\n"
        "Choose one: agog.prefer('one'), or AGOG_PREFER=one in the environment.",
    ):
        executors_of("cpu")


def test_a_device_type_that_nobody_brings(register: Callable[..., None]) -> None:
    register("stranger", executor(device="cpx"))
    assert diagnosis.problems()[-1] == (
        "stranger brings the executor 'fast' for the device type 'cpx', which no plugin brings; did you mean 'cpu'?"
    )


def test_one_that_takes_no_graph_leaves_it_to_the_next(register: Callable[..., None]) -> None:
    asked: list[str] = []

    def first(graph: Graph, compilers: Sequence[Compiler]) -> None:
        asked.append("first")

    def second(graph: Graph, compilers: Sequence[Compiler]) -> Any:
        asked.append("second")
        return lambda inputs, variables: ([inputs[0] * 7], [])

    register("stranger", executor(name="first", prepare=first, priority=2), executor(prepare=second, priority=1))
    x = np.float32([1, 2])
    (result,), _ = executable(graph_of(lambda x: x + 1.0, ag.constant(x)))([x], [])
    assert asked == ["first", "second"]
    np.testing.assert_array_equal(result, [7, 14])


def test_without_any_each_kernel_is_called(register: Callable[..., None]) -> None:
    x = np.float32([1, 2])
    (result,), _ = executable(graph_of(lambda x: x + 1.0, ag.constant(x)))([x], [])
    np.testing.assert_array_equal(result, [2, 3])
    assert explain_executors("cpu") == (
        "executors of traced functions on device 'cpu':\n  none: each kernel is called, and no compiler is asked"
    )


def test_a_plugin_that_fails_brings_none() -> None:
    plugin = loader().load("stranger", "a test", lambda: SimpleNamespace(agog_executors=hookimpl(lambda: [executor()])))
    try:
        assert len(plugin.executors) == 1
        plugin.leave_out("it is a test.")
        assert plugin.executors == []
    finally:
        loader().plugins.remove(plugin)
        loader().manager.unregister(name="stranger")
