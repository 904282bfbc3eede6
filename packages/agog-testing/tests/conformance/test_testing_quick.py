"""The quick run: what it leaves out, what it says of that, and what it does not hide."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from square_checks import COUNT

from agog_core.plugin import Conformance, Kernel
from agog_testing.conformance import collect, main
from agog_testing.kinds import dtypes_of_each_kind, samples_of_each_kind
from agog_testing.opinfo import Sample, table

Array = np.ndarray[Any, Any]
KIND = "one sample of each kind, one dtype of each kind"


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["float16", "float32", "float64"], {"float32", "float64"}),
        (["bfloat16", "float16"], {"bfloat16"}),
        (["int8", "int32", "uint8", "bool", "string"], {"int32", "bool", "string"}),
        (["complex64", "complex128"], {"complex64"}),
    ],
)
def test_dtypes_of_each_kind(names: list[str], chosen: set[str]) -> None:
    assert dtypes_of_each_kind(names) == chosen


def test_samples_of_each_kind() -> None:
    vector, matrix = np.ones(3, np.float32), np.ones((2, 2), np.float32)
    samples = [
        Sample("first", (vector, 1)),
        Sample("longer", (np.ones(9, np.float32), 2)),
        Sample("another rank", (matrix, 1)),
        Sample("empty", (vector[:0], 1)),
        Sample("not finite", (vector * np.nan, 1)),
        Sample("another option", (vector,), {"padding": "SAME"}),
        Sample("another choice", (vector,), {"padding": "VALID"}),
        Sample("not smooth", (vector, 1), smooth=False),
        Sample("a list", ([vector, vector], 1)),
        Sample("again", (vector, 3)),
    ]
    assert samples_of_each_kind(samples) == [0, 2, 3, 4, 5, 6, 7, 8]


def test_every_op_keeps_samples_that_can_be_differentiated() -> None:
    for info in table.values():
        for dtype in info.dtypes:
            samples = list(info.samples(dtype, np.random.default_rng(3)))
            kept = [samples[position] for position in samples_of_each_kind(samples)]
            assert len(kept) <= len(samples)
            assert any(sample.smooth for sample in kept) == any(sample.smooth for sample in samples), info.name


def test_it_takes_fewer_calls_and_dtypes(register: Callable[..., None]) -> None:
    calls: list[np.dtype[Any]] = []

    def square(x: Array) -> Array:
        calls.append(x.dtype)
        return np.asarray(np.square(x))

    register(Kernel(op="square", device="cpu", fn=square))

    def count(quick: bool) -> int:
        calls.clear()
        for case in collect("stranger", quick=quick):
            if case.check in ("value", "sizes"):
                assert case.run().kind == "passed"
        return len(calls)

    assert 0 < count(quick=True) * 8 < count(quick=False)
    assert {case.dtype for case in collect("stranger", quick=True)} == {"complex64", "float32", "float64", "int32"}
    assert {case.dtype for case in collect("stranger", dtypes=["int8"], quick=True)} == {"int8"}


def test_it_is_said_in_each_report(
    register: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    register(Kernel(op="square", device="cpu", fn=np.square, dtypes=("float32",)))
    files = ("--json", str(tmp_path / "results.json"), "--junit", str(tmp_path / "results.xml"))
    assert main(["stranger", "--quick", *files]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(f" tests, seed 20181105, quick: {KIND}")
    assert lines[-1] == f"{COUNT} passed, 0 failed (quick: {KIND})"
    assert json.loads((tmp_path / "results.json").read_text())["choice"]["quick"] is True
    (found,) = ElementTree.parse(tmp_path / "results.xml").getroot().iter("property")
    assert (found.get("name"), found.get("value")) == ("quick", KIND)


def test_fault_is_found(register: Callable[..., None]) -> None:
    register(Kernel(op="square", device="cpu", fn=lambda x: np.asarray(x * 2), dtypes=("float32",)))
    failed = {case.check for case in collect("stranger", quick=True) if case.run().kind == "failed"}
    assert {"value", "sizes"} <= failed


def test_expected_failure_that_needs_another_sample_is_no_error(register: Callable[..., None]) -> None:
    conformance = Conformance(expected_failures={"square/float32/value": "large numbers"})
    register(Kernel(op="square", device="cpu", fn=np.square, dtypes=("float32",)), conformance=conformance)
    outcome = next(case for case in collect("stranger", quick=True) if case.check == "value").run()
    assert (outcome.kind, outcome.text) == (
        "passed",
        "passes where it may fail (large numbers), in the samples of a quick run",
    )


def test_kernel_that_takes_only_what_is_left_out_is_given_all(register: Callable[..., None]) -> None:
    samples = list(table["square"].samples("float32", np.random.default_rng(20181105)))
    kept = {samples[position].args[0].tobytes() for position in samples_of_each_kind(samples)}
    others = {sample.args[0].tobytes() for sample in samples} - kept
    assert others

    def choosy(x: Array) -> Any:
        return np.asarray(np.square(x)) if x.tobytes() in others else NotImplemented

    register(Kernel(op="square", device="cpu", fn=choosy, dtypes=("float32",)))
    outcome = next(case for case in collect("stranger", quick=True) if case.check == "value").run()
    assert outcome.kind == "passed", outcome.text


def test_slow_kernel_gets_no_large_calls(register: Callable[..., None]) -> None:
    """One that goes from element to element in Python: its calls from threads are small ones, too."""
    sizes: list[int] = []

    def slow(x: Array) -> Array:
        sizes.append(x.size)
        end = time.process_time() + 2e-4 * x.size
        while time.process_time() < end:
            pass
        return np.asarray(np.square(x))

    register(Kernel(op="square", device="cpu", fn=slow, dtypes=("float32",)))
    for quick in (True, False):
        sizes.clear()
        cases = {case.check: case for case in collect("stranger", quick=quick)}
        assert cases["threads"].run().kind == cases["large"].run().kind == "passed"
        assert max(sizes) < 4097
        assert cases["sizes"].run().kind == "passed"
        assert (max(sizes) < 4097) == quick
