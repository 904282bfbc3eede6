"""Faults: a lowering that differs from its kernel is found where this compiler runs it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import agog_core as ag
from agog_core.plugin import Kernel, hookimpl
from agog_testing.conformance import collect


def square(x: Any) -> Any:
    return x * x


def larger(x: Any) -> Any:
    return x * x * x.dtype.type(1.125)


def kind(lower: Any) -> str:
    """How the check of lowerings by this compiler ends for a kernel of square."""

    class Hooks:
        @hookimpl
        def agog_kernels(self) -> Iterable[Kernel]:
            return [Kernel(op="square", device="cpu", fn=square, lower=lower, dtypes=("float32",), priority=200)]

    ag.register_plugin(Hooks(), "stranger")
    try:
        (case,) = [case for case in collect("stranger", ["square"], ["float32"]) if case.check == "lowered_by_llvm"]
        return case.run().kind
    finally:
        ag.unregister_plugin("stranger")


def test_a_lowering_of_another_function_is_found() -> None:
    assert kind(larger) == "failed"


def test_its_corrected_twin_passes() -> None:
    assert kind(square) == "passed"
