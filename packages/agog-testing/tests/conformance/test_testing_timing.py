"""The proof that kernels are faster; the clock of these tests goes on when a kernel says so, and by nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from square_checks import COUNT

from agog_core.plugin import Kernel
from agog_testing.conformance import main, sizes, timing
from agog_testing.conformance.timing import Timing, verdicts

Array = np.ndarray[Any, Any]


class Clock:
    """Stands in place of the module time."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in (timing, sizes):
        monkeypatch.setattr(module, "time", clock)
    return clock


def square(clock: Clock, seconds: Callable[[int], float], priority: int = 100) -> Kernel:
    """A kernel that takes as long as a function of the number of elements says."""

    def kernel(x: Array) -> Array:
        clock.now += seconds(x.size)
        return np.asarray(np.square(x))

    return Kernel(op="square", device="cpu", fn=kernel, dtypes=("float32",), priority=priority)


def usual(size: int) -> float:
    return 1e-6 + size * 1e-9


@pytest.mark.parametrize(
    ("seconds", "code", "last"),
    [
        (lambda size: usual(size) / 2, 0, ["1 of 1 faster than rival"]),
        (usual, 1, ["square/float32: NOT FASTER than rival's", "0 of 1 faster than rival"]),
        # faster for many elements, and far slower for a few
        (lambda size: 2e-6 + size * 1e-10, 1, ["square/float32: NOT FASTER than rival's", "0 of 1 faster than rival"]),
        # faster for many elements, and a little slower for a few
        (lambda size: 1.1e-6 + size * 1e-10, 0, ["1 of 1 faster than rival"]),
    ],
)
def test_verdict(
    register: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
    clock: Clock,
    seconds: Callable[[int], float],
    code: int,
    last: list[str],
) -> None:
    register(square(clock, usual), name="rival")
    register(square(clock, seconds, priority=0))
    assert main(["stranger", "--faster-than", "rival"]) == code
    out = capsys.readouterr().out.splitlines()
    at = out.index("Speed (least time of a call)")
    assert out[at + 1].split("  ")[0] == "op"
    rows = out[at + 2 : -1 - len(last)]
    assert [row.split()[2] for row in rows] == ["(67,)", "(6700,)", "(670000,)"]
    ratios = [usual(size) / seconds(size) for size in (67, 6700, 670000)]
    assert [row.split()[-1] for row in rows] == [f"{ratio:.2f}" for ratio in ratios]
    assert out[-1 - len(last) : -1] == last
    assert out[-1] == f"{COUNT} passed, 0 failed"


def test_timings_for_programs(register: Callable[..., None], capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    register(square(clock, usual), name="rival")
    register(square(clock, lambda size: usual(size) / 4))
    assert main(["stranger", "--faster-than", "rival", "--json", "-"]) == 0
    first = json.loads(capsys.readouterr().out)["timings"][0]
    assert (first["op"], first["dtype"], first["call"], first["declined"]) == ("square", "float32", "(67,)", False)
    assert first["seconds"] == pytest.approx(usual(67) / 4)
    assert first["rival_seconds"] == pytest.approx(usual(67))


def test_wrong_kernels_are_not_timed(
    register: Callable[..., None], capsys: pytest.CaptureFixture[str], clock: Clock
) -> None:
    register(square(clock, usual), name="rival")
    register(Kernel(op="square", device="cpu", fn=np.exp, dtypes=("float32",)))
    assert main(["stranger", "--faster-than", "rival"]) == 1
    captured = capsys.readouterr()
    assert "Speed" not in captured.out
    assert captured.err == "agog-conformance: tests failed, so nothing was timed.\n"


@pytest.mark.parametrize(
    ("rival", "text"),
    [
        ("stranger", "--faster-than names 'stranger' itself; name another plugin."),
        ("sines", "--faster-than: plugins 'stranger' and 'sines' have no op and device in common."),
    ],
)
def test_nothing_to_compare(
    register: Callable[..., None], capsys: pytest.CaptureFixture[str], clock: Clock, rival: str, text: str
) -> None:
    register(square(clock, usual))
    register(Kernel(op="sin", device="cpu", fn=np.sin, dtypes=("float32",)), name="sines")
    assert main(["stranger", "--faster-than", rival]) == 2
    assert capsys.readouterr().err == f"agog-conformance: {text}\n"


def test_no_dtype_in_common(register: Callable[..., None], capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    register(square(clock, usual))
    register(Kernel(op="square", device="cpu", fn=np.square, dtypes=("int8",)), name="rival")
    assert main(["stranger", "--faster-than", "rival"]) == 2
    assert capsys.readouterr().err == "agog-conformance: there is nothing to compare with 'rival'.\n"


def test_crash_of_a_call_that_is_timed(
    register: Callable[..., None], capsys: pytest.CaptureFixture[str], clock: Clock
) -> None:
    def crash(x: Array) -> Array:
        if x.size == 67 * 1000:
            os._exit(3)
        return np.asarray(np.square(x))

    register(square(clock, usual), name="rival")
    register(Kernel(op="square", device="cpu", fn=crash, dtypes=("float32",)))
    assert main(["stranger", "--faster-than", "rival"]) == 1
    captured = capsys.readouterr()
    assert captured.err == "agog-conformance: timing square: its process ended with exit code 3\n"
    assert captured.out.splitlines()[-1] == f"{COUNT - 1} passed, 1 failed"


def test_calls_that_were_declined_prove_nothing() -> None:
    taken = Timing("square", "float32", "(67,)", 1.0, 2.0, False)
    declined = taken._replace(dtype="float64", declined=True)
    assert verdicts([taken, taken._replace(seconds=9.0, declined=True), declined]) == {
        ("square", "float32"): True,
        ("square", "float64"): False,
    }
