"""Team: each turn of a call is taken once, whoever takes it, and a call returns when all turns are done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from agog_core.plugin import threads
from agog_cpu_llvm import presence, team

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

# Each turn adds 1 to its number in `out`, writes where its scratch memory is, and counts to `length` before.
TEXT = """target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @mark(ptr %words, ptr %scratch) {
start:
  %turns.at = getelementptr i64, ptr %words, i64 1
  %length.at = getelementptr i64, ptr %words, i64 2
  %out.at = getelementptr i64, ptr %words, i64 3
  %places.at = getelementptr i64, ptr %words, i64 4
  %turns = load i64, ptr %turns.at
  %length = load i64, ptr %length.at
  %out = load ptr, ptr %out.at
  %places = load ptr, ptr %places.at
  br label %next
next:
  %turn = atomicrmw add ptr %words, i64 1 monotonic
  %is.left = icmp slt i64 %turn, %turns
  br i1 %is.left, label %count, label %end
count:
  %n = phi i64 [ 0, %next ], [ %following, %count ]
  %following = add i64 %n, 1
  call void asm sideeffect "", "r"(i64 %n)
  %is.short = icmp slt i64 %following, %length
  br i1 %is.short, label %count, label %mark
mark:
  %place = getelementptr i64, ptr %out, i64 %turn
  %before = load i64, ptr %place
  %after = add i64 %before, 1
  store i64 %after, ptr %place
  %places.place = getelementptr i64, ptr %places, i64 %turn
  store ptr %scratch, ptr %places.place
  br label %next
end:
  ret void
}
"""


@cache
def engine() -> Any:
    from agog_cpu_llvm import machine

    return machine.engine(machine.assemble(TEXT))


def marks(turns: int, length: int = 1, scratch: int = 0, most: int = team.MOST) -> tuple[np.ndarray, np.ndarray]:
    """How often each turn was taken, and where its scratch memory was."""
    out, places = np.zeros((2, turns), np.int64)
    function = engine().get_function_address("mark")
    team.run(function, (turns, length, out.ctypes.data, places.ctypes.data), scratch, most)
    return out, places


@pytest.fixture(autouse=True, params=[1, 2, 5])
def number(request: pytest.FixtureRequest) -> Iterator[int]:
    threads.set_count(request.param)
    yield request.param
    threads.set_count(0)


@pytest.mark.parametrize("turns", [0, 1, 2, 7, 1000])
def test_each_turn_is_taken_once(turns: int) -> None:
    for length in (1, 3000):
        np.testing.assert_array_equal(marks(turns, length)[0], np.ones(turns))


def test_helpers_that_sleep_wake_up() -> None:
    for _ in range(5):
        time.sleep(0.02)
        np.testing.assert_array_equal(marks(50, 20_000)[0], np.ones(50))


def test_helpers_take_turns(number: int) -> None:
    deadline, places = time.monotonic() + 60, set[int]()
    while time.monotonic() < deadline and len(places) < number:  # others may keep a helper from its processor
        places |= set(marks(200, 100_000, 64)[1].tolist())
    assert len(places) == number


def test_the_team_owns_the_threads_unless_another_pool_does(number: int) -> None:
    marks(1)
    assert threads.owner() == "agog-cpu-llvm"
    threads.register("another", lambda count: None, priority=200)
    try:
        assert len(set(marks(500, 10_000, 64)[1].tolist())) == 1
    finally:
        threads.unregister("another")
    test_helpers_take_turns(number)


def test_threads_that_are_of_no_use_are_left_out() -> None:
    assert len(set(marks(500, 10_000, 64, most=1)[1].tolist())) == 1


@pytest.mark.parametrize("size", [1, 64, 100, 1 << 20, 1 << 25])
def test_scratch_memory_is_aligned_and_each_threads_own(size: int, number: int) -> None:
    for _ in range(3):
        places = np.unique(marks(100, 10_000, size)[1])
        assert len(places) <= number
        assert not (places % 64).any()
        assert (np.diff(places) >= size).all()


def test_scratch_memory_is_kept_up_to_a_limit() -> None:
    first = marks(1, scratch=1 << 20, most=1)[1]
    marks(1, scratch=1 << 26, most=1)
    assert marks(1, scratch=1 << 19, most=1)[1] == first


def test_calls_from_several_threads_at_once() -> None:
    wrong = []

    def work() -> None:
        for turns in range(1, 300):
            if (marks(turns, 300, 128)[0] != 1).any():
                wrong.append(turns)

    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="There are no timers of signals here.")
def test_a_call_is_whole_when_it_is_interrupted() -> None:
    class InterruptionError(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise InterruptionError

    before = signal.signal(signal.SIGALRM, interrupt)
    out, places = np.zeros((2, 64), np.int64)
    function, words = engine().get_function_address("mark"), (64, 3_000_000, out.ctypes.data, places.ctypes.data)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        with pytest.raises(InterruptionError):
            _ = team.run(function, words), time.sleep(60)  # the signal comes in one of the two
    finally:
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_array_equal(out, np.ones(64))
    time.sleep(0.05)
    np.testing.assert_array_equal(out, np.ones(64))
    np.testing.assert_array_equal(marks(64)[0], np.ones(64))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Processes are not forked here.")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_has_a_team_of_its_own(number: int) -> None:
    marks(100, 1000, 64)
    child = os.fork()
    if not child:
        status = 1
        try:
            test_helpers_take_turns(number)
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    np.testing.assert_array_equal(marks(100, 1000)[0], np.ones(100))


def test_a_process_ends_while_helpers_wait() -> None:
    program = f"import sys; sys.path[:0] = [{os.path.dirname(__file__)!r}]; import test_cpu_llvm_team as t; " + (
        "t.threads.set_count(3); t.marks(100, 1000); "
    )
    for rest in ("", "import time; time.sleep(0.05)"):
        done = subprocess.run([sys.executable, "-c", program + rest], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
