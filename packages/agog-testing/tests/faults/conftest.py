"""What tests of planted faults share: the kit's verdict on one kernel, and the reference kernels to plant faults in."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.plugins.loader import loader
from agog_core.plugin import Kernel, hookimpl, load_reference
from agog_testing.conformance import collect

Verdict = Callable[..., dict[str, str]]


@pytest.fixture
def verdict() -> Iterator[Verdict]:
    """A function that gives the checks which fail for a kernel of the CPU, and what they say."""
    numpy_state, state, errors = np.random.get_state(), random.getstate(), np.geterr()

    def failures(op: str, kernel: Callable[..., Any], dtype: str = "float32", **facts: Any) -> dict[str, str]:
        class Hooks:
            @hookimpl
            def agog_kernels(self) -> list[Kernel]:
                return [Kernel(op=op, device="cpu", fn=kernel, dtypes=(dtype,), priority=200, **facts)]

        ag.register_plugin(Hooks(), "stranger")
        try:
            outcomes = {case.check: case.run() for case in collect("stranger")}
        finally:
            ag.unregister_plugin("stranger")
        return {check: outcome.text for check, outcome in outcomes.items() if outcome.kind != "passed"}

    yield failures
    np.random.set_state(numpy_state)
    random.setstate(state)
    np.seterr(**errors)


@pytest.fixture
def reference() -> Callable[[str], Callable[..., Any]]:
    """A function that gives the reference kernel of an op on the CPU."""

    def of(op: str) -> Callable[..., Any]:
        (plugin,) = (plugin for plugin in loader().plugins if plugin.name == "cpu-numpy")
        found: Callable[..., Any] = load_reference(next(kernel.fn for kernel in plugin.kernels if kernel.op == op))
        return found

    return of
