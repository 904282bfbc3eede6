"""Cases in processes of their own: what a plugin's own suite says of a kernel that crashes, hangs, or is not there."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from threading import Event
from typing import Any

import numpy as np
import pytest

from agog_core.plugin import Conformance, Kernel
from agog_testing.conformance import ConformanceError
from agog_testing.pytest_plugin import collect, prove

Array = np.ndarray[Any, Any]


def crash(x: Array) -> Array:
    ctypes.string_at(0)
    return x


def hang(x: Array) -> Array:
    Event().wait()
    return x


def square(fn: Callable[..., Any], **facts: Any) -> Kernel:
    return Kernel(op="square", device="cpu", fn=fn, dtypes=("float32",), **facts)


def test_cases_are_those_of_the_kit_and_run_elsewhere(register: Callable[..., None]) -> None:
    def writes(x: Array) -> Array:
        if os.getpid() == here:
            raise AssertionError("in the process of the suite")
        return np.asarray(np.square(x))

    here = os.getpid()
    register(square(writes), name="elsewhere")
    cases = collect("elsewhere", quick=True)
    assert [case.id for case in cases][:2] == ["square/float32/value", "square/float32/inputs"]
    assert {case.run().kind for case in cases} == {"passed"}


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        (crash, "its process ended by signal 11 (SIGSEGV)"),
        (hang, "it took longer than 2 seconds, and its process was ended"),
    ],
)
def test_crash_and_hang_fail_one_test(register: Callable[..., None], kernel: Callable[..., Any], why: str) -> None:
    register(square(kernel), Kernel(op="exp", device="cpu", fn=np.exp, dtypes=("float32",)), name=kernel.__name__)
    first, *others = collect(kernel.__name__, timeout=2.0)
    (value,) = (case for case in others if case.id == "square/float32/value")
    outcome = value.run()
    assert outcome.kind == "failed"
    assert outcome.text.splitlines()[0] == why
    assert f"in {kernel.__name__}" in outcome.text
    assert (first.id, first.run().kind) == ("exp/float32/value", "passed")
    with pytest.raises(pytest.fail.Exception, match=why.split(" (")[0]):
        prove(value)


def test_unavailable_is_skipped_unless_it_is_required(
    register: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    register(square(np.square, unavailable=lambda: "no such processor"), name="absent")
    (case,) = collect("absent")
    with pytest.raises(pytest.skip.Exception, match="no such processor"):
        prove(case)
    monkeypatch.setenv("REQUIRE_BACKEND", "absent")
    with pytest.raises(pytest.fail.Exception, match="no such processor"):
        prove(case)


def test_expected_failure(register: Callable[..., None]) -> None:
    conformance = Conformance(expected_failures={"square/float32/value": "guesses"})
    register(square(lambda x: x), conformance=conformance, name="guessing")
    with pytest.raises(pytest.xfail.Exception, match="guesses"):
        prove(collect("guessing")[0])


def test_unknown_plugin() -> None:
    with pytest.raises(ConformanceError, match="there is no plugin 'nobody'"):
        collect("nobody")
