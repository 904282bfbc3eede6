"""Kernels that decline calls, and kernels that are made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agog_core.plugin import Backend, Kernel
from agog_testing.conformance import collect, main
from agog_testing.opinfo import table

Array = np.ndarray[Any, Any]


def square(fn: Callable[..., Any], **facts: Any) -> Kernel:
    return Kernel(op="square", device="cpu", fn=fn, dtypes=("float32",), **facts)


def rows_only(x: Array) -> Any:
    return np.square(x) if x.ndim == 1 else NotImplemented


def wrong_for_rows(x: Array) -> Any:
    return np.square(x) + np.float32(1) if x.ndim == 1 else NotImplemented


def never(x: Array) -> Any:
    return NotImplemented


def failures(plugin: str = "stranger") -> dict[str, str]:
    outcomes = {case.check: case.run() for case in collect(plugin)}
    return {check: outcome.text for check, outcome in outcomes.items() if outcome.kind != "passed"}


def test_number_of_declined_calls_is_shown(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    register(square(rows_only, when="one axis"))
    assert main(["stranger", "-v"]) == 0
    samples = list(table["square"].samples("float32", np.random.default_rng(0)))
    others = sum(sample.args[0].ndim != 1 for sample in samples)
    out = capsys.readouterr().out.splitlines()
    at = out.index("square/float32/value: passed (worst error 0 ULP)")
    assert out[at + 1] == f"    declined {others} of {len(samples)} calls"
    assert f"square/float32 declined {others} of {len(samples)} calls" == out[-2]


def test_what_is_not_declined_is_checked(register: Callable[..., None]) -> None:
    register(square(wrong_for_rows))
    assert "sample: shape (1,)" in failures()["value"]


def test_kernel_that_declines_all_samples(register: Callable[..., None]) -> None:
    register(square(never))
    samples = list(table["square"].samples("float32", np.random.default_rng(0)))
    assert failures() == {
        "value": "rule: a kernel takes some of the samples of its op\nsample: all\nexpected: a result\n"
        f"got: NotImplemented for each of {len(samples)} calls"
    }


def test_update_that_declines_some_samples(register: Callable[..., None]) -> None:
    def add(variable: Array, delta: Array, *, scale: Any) -> Any:
        if variable.ndim != 1:
            return NotImplemented
        variable += delta * variable.dtype.type(scale)
        return None

    register(Kernel(op="apply_add", device="cpu", fn=add, dtypes=("float32",)))
    assert failures() == {}


def test_kernel_of_another_device_that_declines_gets_help_from_the_host(
    register: Callable[..., None], remote: Backend
) -> None:
    """It is the only one of its device."""

    def kernel(x: Any) -> Any:
        return type(x)(np.square(x.memory)) if x.memory.ndim == 1 else NotImplemented

    register(Kernel(op="square", device="remote", fn=kernel, dtypes=("float32",)), backend=remote)
    assert failures().keys() == {"gradient", "forward", "linear"}  # of which other ops are a part: they are not checked


def test_kernel_is_made_for_op_dtype_and_device(register: Callable[..., None]) -> None:
    made: list[tuple[str, str, str]] = []

    def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
        made.append((op, dtype, device))
        return np.square

    register(Kernel(op="square", device="cpu", make=make, dtypes=("float32", "int8")))
    assert failures() == {}
    assert set(made) == {("square", "float32", "cpu:0"), ("square", "int8", "cpu:0")}


def test_each_thread_has_its_own_instance_of_a_kernel(register: Callable[..., None]) -> None:
    threads: list[int] = []

    def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
        threads.append(threading.get_ident())
        owner = threading.get_ident()

        def kernel(x: Array) -> Array:
            assert threading.get_ident() == owner
            return np.asarray(np.square(x))

        return kernel

    register(Kernel(op="square", device="cpu", make=make, per_thread=True, dtypes=("float32",)))
    cases = collect("stranger")
    outcomes = []
    for case in cases[:2]:
        thread = threading.Thread(target=lambda case=case: outcomes.append(case.run()))
        thread.start()
        thread.join()
    outcomes += [case.run() for case in cases]
    assert {outcome.text for outcome in outcomes} == {""}
    assert len(threads) >= 2


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda op, dtype, device: 1 / 0, "RuntimeError: it cannot be made: ZeroDivisionError: division by zero"),
        (lambda op, dtype, device: None, "RuntimeError: it cannot be made: TypeError: "),
    ],
)
def test_kernel_that_cannot_be_made(register: Callable[..., None], make: Callable[..., Any], text: str) -> None:
    register(Kernel(op="square", device="cpu", make=make, dtypes=("float32",)))
    assert text in failures()["value"]
