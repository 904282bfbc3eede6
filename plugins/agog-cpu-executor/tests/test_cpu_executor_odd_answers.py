"""Odd answers: compilers and lowerings that raise what cannot be printed or return nonsense are done without."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.compiler import Claim, Compiler
from agog_core.plugin import Kernel, PluginWarning, hookimpl
from agog_core.tracing.execution.hotness import compile_functions_at_once


class UnprintableError(Exception):
    """An error without a text."""

    def __str__(self) -> str:
        raise OSError("no words")


def raises(*arguments: Any) -> Any:
    raise UnprintableError


class Undecided:
    """What is neither true nor false."""

    __bool__ = raises


UNPRINTABLE = "UnprintableError: its text cannot be read, for __str__ raises OSError"
FAILED = "The compiler 'odd' failed, and a part of a traced function runs without it: "
STEPS = r" \(in 3 primitives: exp, multiply, subtract\)"
ASKED = "The compiler 'odd' failed to say whether it takes 'exp', and a traced function runs without it: "
CLAIMS = "The compiler 'odd' failed to claim parts of a traced function: "
WITHOUT = " of a traced function, which run without it: "
CLAIMED = f"The compiler 'odd' claims exp, multiply, subtract{WITHOUT}"

# What the compiler answers, and the warning.
ANSWERS: dict[str, tuple[dict[str, Any], str]] = {
    "compile raises": ({"compile": raises}, f"{FAILED}{UNPRINTABLE}{STEPS}"),
    "compile returns a number": (
        {"compile": lambda subgraph: 5},
        f"{FAILED}compile must return a function or None; it returned 5{STEPS}",
    ),
    "takes raises": ({"takes": raises}, f"{ASKED}{UNPRINTABLE}"),
    "takes is undecided": ({"takes": lambda primitive, values: Undecided()}, f"{ASKED}{UNPRINTABLE}"),
    "claims raises": ({"claims": raises}, f"{CLAIMS}{UNPRINTABLE}"),
    "claims returns a number": ({"claims": lambda graph: 5}, f"{CLAIMS}TypeError: 'int' object is not iterable"),
    "claims returns numbers": (
        {"claims": lambda graph: [5]},
        f"The compiler 'odd' claims 5{WITHOUT}claims must return Claim objects",
    ),
    "a claim of a number": (
        {"claims": lambda graph: [Claim(5, raises)]},  # type: ignore[arg-type]
        rf"The compiler 'odd' claims Claim\(nodes=5, compile={re.escape(repr(raises))}\){WITHOUT}TypeError: 'int' "
        "object is not iterable",
    ),
    "a claim's compile raises": (
        {"claims": lambda graph: [Claim(graph.nodes, raises)]},
        f"{CLAIMED}{UNPRINTABLE}",
    ),
    "a claim's compile returns a number": (
        {"claims": lambda graph: [Claim(graph.nodes, lambda inputs, outputs: 5)]},  # type: ignore[arg-type,return-value]
        f"{CLAIMED}compile must return a function or None; it returned 5",
    ),
}


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    """Functions are compiled before they run."""
    compile_functions_at_once(True)
    yield
    compile_functions_at_once(False)


def computes() -> list[float]:
    f = ag.function(lambda x: ag.exp(x) * x - x)
    f(ag.constant([2.0, 3.0]))  # a first call is recorded
    return f(ag.constant([0.0, 1.0])).numpy().tolist()


@pytest.mark.parametrize("name", ANSWERS)
def test_a_compiler_with_odd_answers_is_done_without(name: str) -> None:
    answers, text = ANSWERS[name]
    usual = {"compile": lambda subgraph: None, "takes": lambda primitive, values: True}
    compiler = Compiler(**{"name": "odd", "device": "cpu", "priority": 900} | usual | answers)
    ag.register_plugin(SimpleNamespace(agog_compilers=hookimpl(lambda: [compiler])), "odd")
    try:
        with pytest.warns(PluginWarning, match=f"^{text}$"):
            assert computes() == pytest.approx([0.0, np.e - 1.0])
    finally:
        ag.unregister_plugin("odd")


@pytest.mark.parametrize("lower", [raises, "no_such_module_of_agog:exp", lambda x: 5, lambda x: None])
def test_a_kernel_whose_lowering_fails_is_called_whole(lower: Any) -> None:
    calls = []

    def exp(x: Any) -> Any:
        calls.append(x)
        return np.exp(x)

    kernel = Kernel(op="exp", device="cpu", fn=exp, lower=lower, priority=900)
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: [kernel])), "odd")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert computes() == pytest.approx([0.0, np.e - 1.0])
    finally:
        ag.unregister_plugin("odd")
    assert calls
