"""Compilers of traced functions: what is refused, which is asked first, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import agog_core as ag
from agog_core.dispatch.plugins.compilers import compilers_of, explain_compilers
from agog_core.dispatch.reports import diagnosis
from agog_core.errors import AmbiguousKernelError
from agog_core.plugin import Compiler, hookimpl
from agog_testing import says


def compiler(**facts: Any) -> Compiler:
    return Compiler(**{"name": "fast", "device": "cpu", "compile": abs, "takes": abs} | facts)


@pytest.fixture
def register() -> Iterator[Callable[..., None]]:
    names: list[str] = []

    def bring(name: str, *compilers: Compiler) -> None:
        ag.register_plugin(SimpleNamespace(agog_compilers=hookimpl(lambda: compilers)), name)
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
            "Compiler(name='fast', device='CPU'): a device type is one lower-case word, such as 'gpu'.",
        ),
        ({"name": ""}, TypeError, "Compiler(name=''): name must be a name, such as 'llvm'; got ''."),
        (
            {"compile": "compile"},
            TypeError,
            "Compiler(name='fast'): compile must be a function or a 'module:attribute' string; got 'compile'.",
        ),
        (
            {"takes": None},
            TypeError,
            "Compiler(name='fast'): takes must be a function or a 'module:attribute' string; got None.",
        ),
        ({"priority": "high"}, TypeError, "Compiler(name='fast'): priority must be an int; got 'high'."),
        (
            {"unavailable": "no"},
            TypeError,
            "Compiler(name='fast'): unavailable must be a function that returns a sentence or None; got 'no'.",
        ),
    ],
)
def test_refusals(facts: dict[str, Any], error: type[Exception], text: str) -> None:
    with says(error, text):
        compiler(**facts)


def test_the_highest_is_asked_first_and_others_are_told_of(register: Callable[..., None]) -> None:
    slow, absent = compiler(name="slow", priority=850), compiler(name="absent", unavailable=lambda: "no compiler here")
    broken = compiler(name="broken", compile="no_such_module:compile", priority=7)
    register("stranger", slow, absent, broken)
    register("other", fast := compiler(priority=900))
    assert compilers_of("cpu")[:2] == [fast, slow]
    assert explain_compilers("cpu").splitlines()[:1] == ["compilers of traced functions on device 'cpu':"]
    assert [line for line in explain_compilers("cpu").splitlines() if "registered by" in line] == [
        "  first: compiler 'fast' of plugin 'other' (registered by the program), priority 900",
        "  next: compiler 'slow' of plugin 'stranger' (registered by the program), priority 850",
        "  rejected: compiler 'absent' of plugin 'stranger' (registered by the program), priority 100: not available: "
        "no compiler here",
        "  rejected: compiler 'broken' of plugin 'stranger' (registered by the program), priority 7: could not be "
        "loaded: ModuleNotFoundError: No module named 'no_such_module'",
    ]
    assert diagnosis.problems()[-1] == (
        "stranger: the compiler 'broken' could not be loaded: ModuleNotFoundError: No module named 'no_such_module'"
    )


def test_a_preference_goes_before_priority(register: Callable[..., None]) -> None:
    register("stranger", slow := compiler(name="slow", priority=50))
    register("other", compiler(priority=900))
    before = ag.prefer("stranger")
    try:
        assert compilers_of("cpu")[0] is slow
    finally:
        ag.prefer(*before)


def test_equal_ranks_are_decided_by_nobody_else(register: Callable[..., None]) -> None:
    register("one", compiler(name="a", priority=901))
    register("two", compiler(name="b", priority=901))
    with says(
        AmbiguousKernelError,
        "2 compilers of equal rank are registered for device 'cpu':\n"
        "  compiler 'a' of plugin 'one' (registered by the program), priority 901\n"
        "  compiler 'b' of plugin 'two' (registered by the program), priority 901\n"
        "Choose one: agog.prefer('one'), or AGOG_PREFER=one in the environment.",
    ):
        compilers_of("cpu")


def test_a_device_type_that_nobody_brings(register: Callable[..., None]) -> None:
    register("stranger", compiler(device="cpx"))
    assert diagnosis.problems()[-1] == (
        "stranger brings the compiler 'fast' for the device type 'cpx', which no plugin brings; did you mean 'cpu'?"
    )


def test_none() -> None:
    assert explain_compilers("fake") == (
        "compilers of traced functions on device 'fake':\n  none: each step runs by the functions of the array library"
    )
