"""Pipelines that run for long: memory stays, threads work beside the loop, and Ctrl-C ends them."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_data import Dataset, pacing, threads

EPOCHS = 100
WARM = 20
ALLOWED = 64_000  # bytes: what caches take in 80 epochs; a leak of one batch would be 1.6 MB


def scale(x: Any, y: Any) -> Any:
    return ag.cast(x, "float32") / 255.0, y


def growth(dataset: Dataset, each: Callable[[Any], object] = lambda batch: None) -> int:
    """By how many bytes the program's memory grows after the first epochs."""
    tracemalloc.start()
    try:
        for epoch in range(EPOCHS):
            for batch in dataset:
                each(batch)
            if epoch == WARM:
                gc.collect()
                before = tracemalloc.get_traced_memory()[0]
        batch = None
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def source() -> Dataset:
    return Dataset.from_tensor_slices((np.zeros((200, 50), np.uint8), np.arange(200))).shuffle(100)


PIPELINES: dict[str, Callable[[Dataset], Dataset]] = {
    "elements": lambda d: d.map(scale).batch(64).prefetch(2),
    "batches": lambda d: d.batch(64).map(scale).prefetch(2),
    "vectorized": lambda d: d.map(scale, vectorize=True).shuffle(30).batch(64),
    "threads": lambda d: d.map(scale, 2).batch(64).prefetch(2),
}
if hasattr(os, "fork"):
    PIPELINES["processes"] = lambda d: d.map(scale, 1, processes=True).batch(64).prefetch(2)


@pytest.mark.parametrize("build", PIPELINES.values(), ids=PIPELINES)
def test_memory_stays_flat(build: Callable[[Dataset], Dataset]) -> None:
    assert growth(build(source())) < ALLOWED


def test_a_leak_would_be_seen() -> None:
    kept: list[Any] = []
    assert growth(PIPELINES["elements"](source()), each=lambda batch: kept.append(batch[0] + 0.0)) > 20 * ALLOWED


@pytest.mark.parametrize("buffer_size", [1, 2, 8])
def test_the_next_element_is_made_in_each_step_of_the_loop(buffer_size: int) -> None:
    made = [threading.Event() for _ in range(30)]
    dataset = Dataset.range(30).map(lambda x: made[int(x)].set() or x).prefetch(buffer_size)
    for step, _ in enumerate(dataset):
        assert step == 29 or made[step + 1].wait(20)  # passes only when it is made while we are here


class FakeQueue:
    """A queue whose consumer reads for itself when that is allowed, and a clock that both use."""

    def __init__(self, clock: list[float], reading: float) -> None:
        self.resting = True
        self.visits = 0
        self._clock = clock
        self._reading = reading

    def read(self) -> str:
        self._clock[0] += self._reading
        return "by the consumer"

    def get(self) -> str:
        return "by the thread"


@pytest.mark.parametrize("reading", [1e-6, 1e-3, 1.0])
@pytest.mark.parametrize(("away", "expected"), [(1e-6, "by the consumer"), (1e-3, "by the thread")])
def test_who_reads(reading: float, away: float, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(pacing, "perf_counter", lambda: clock[0])
    queue: Any = FakeQueue(clock, reading)
    pace = pacing.Pace()
    found = []
    for _ in range(60):
        found.append(pace.next(queue))
        clock[0] += away
    assert found[0] == "by the consumer"
    assert set(found[3:]) == {expected}
    assert queue.visits == 120


def test_a_consumer_that_begins_to_hurry_reads_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(pacing, "perf_counter", lambda: clock[0])
    queue: Any = FakeQueue(clock, 1.0)
    pace = pacing.Pace()
    found = []
    for step in range(200):
        found.append(pace.next(queue))
        clock[0] += 1e-3 if step < 100 or step == 130 else 1e-6
    assert set(found[3:195]) == {"by the thread"}  # once more it was away for longer, in between
    assert set(found[195:]) == {"by the consumer"}


def test_a_thread_works_for_a_consumer_that_finds_it_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(pacing, "perf_counter", lambda: clock[0])
    queue: Any = FakeQueue(clock, 1.0)
    monkeypatch.setattr(queue, "read", lambda: None)  # a thread that rested has gone on, since the consumer was away
    pace = pacing.Pace()
    for _ in range(4):
        assert pace.next(queue) == "by the thread"
        clock[0] += 1.0
    assert not queue.resting


def test_a_consumer_that_is_back_before_the_thread_has_gone_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """It must not wait for a thread that has handed its element over, and rests as long as the consumer is there."""

    class Lingering(threads.Slot):
        __slots__ = ()

        def finish(self) -> None:
            super().finish()
            if threading.current_thread().name == "agog-prefetch":
                time.sleep(0.05)

    monkeypatch.setattr(threads, "Slot", Lingering)
    monkeypatch.setattr(pacing, "_LONG", 1000)  # however slow this machine is, the consumer is one that hurries
    found = []

    def consume() -> None:
        for element in Dataset.range(9).prefetch(2):
            found.append(int(element))
            time.sleep(0.02 * (len(found) % 2))  # the thread reads meanwhile

    consumer = threading.Thread(target=consume, daemon=True)
    consumer.start()
    consumer.join(20)
    assert found == [*range(9)]


@pytest.mark.parametrize("goes_on", [True, False])
@pytest.mark.parametrize(("name", "at"), [("map", 0), ("map", 1), ("map", 2), ("prefetch", 0)])
def test_an_interrupt_where_threads_start(name: str, at: int, goes_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = Dataset.range(9)
    iterator: Any = iter(dataset.map(lambda x: x, 3) if name == "map" else dataset.prefetch(2))
    state = iterator.state_dict()
    start, started = threading.Thread.start, []

    def interrupted(thread: threading.Thread) -> None:
        if len(started) == at:
            raise KeyboardInterrupt
        started.append(thread)
        start(thread)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(iterator)
    if not goes_on:
        iterator.load_state_dict(state)  # it stops the threads
    found: list[int] = []
    consumer = threading.Thread(target=lambda: found.extend(int(x) for x in iterator), daemon=True)
    consumer.start()
    consumer.join(20)
    assert found == [*range(9)]


PROGRAM = """
import os, signal, sys, threading, time
from agog_data import Dataset
from agog_data.transformations.flattening import parallel_interleave, sloppy_interleave
signal.signal(signal.SIGINT, signal.default_int_handler)  # the shell has what it runs in the background ignore it

def slow(x):
    time.sleep(0.01)
    return x

def stuck(x):
    time.sleep(0 if x < 1 else 3600)
    return x

def datasets(x):
    return Dataset.range(10**9).map(slow)

while sys.stdin.readline() and (run := os.fork()):  # what is imported need not be again
    print(os.waitstatus_to_exitcode(os.waitpid(run, 0)[1]), flush=True)
    print("end", file=sys.stderr, flush=True)
if not run:
    iterator = iter(Dataset.range(10**9).{stages})
    next(iterator)
    print(os.getpid(), flush=True)
    for _ in iterator:
        pass
"""
STAGES = {
    "prefetch": "map(slow).prefetch(2)",
    "parallel map": "map(slow, 3)",
    "vectorized": "map(slow, 2, vectorize=True).batch(4).prefetch(1)",
    "stuck map": "map(stuck, 3)",
    "stuck interleave": "interleave(lambda x: Dataset.range(x, 10**9).map(stuck), 3, 1, 2)",
    "nested": "prefetch(1).map(slow, 2).batch(2).prefetch(2)",
    "interleave": "interleave(datasets, 2, 1, 2)",
    "parallel_interleave": "apply(parallel_interleave(datasets, 2)).prefetch(1)",
    "sloppy_interleave": "apply(sloppy_interleave(datasets, 2))",
}


# The session `endurance` lets them run 1000 times: what this looks for comes once in some tens of times.
RUNS = int(os.environ.get("AGOG_INTERRUPTS", "1"))
HANGING_SECONDS = 60  # they end in tenths of a second, and where nobody hears the Ctrl-C never


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("stages", STAGES.values(), ids=STAGES)
def test_ctrl_c_ends_a_program_at_once(stages: str) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(stages=stages)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdin is not None
    assert program.stdout is not None
    assert program.stderr is not None
    for run in range(RUNS):
        program.stdin.write("go on\n")
        program.stdin.flush()
        pid = int(program.stdout.readline())
        hanging = threading.Timer(HANGING_SECONDS, os.kill, [pid, signal.SIGKILL])
        hanging.start()
        os.kill(pid, signal.SIGINT)
        code = int(program.stdout.readline())
        hanging.cancel()
        errors = ""
        while (line := program.stderr.readline()) not in ("end\n", ""):
            errors += line
        assert code == -signal.SIGINT, f"run {run}: it ended with {code}; -9 is that it hung\n{errors}"
        assert errors.count("Traceback") == 1, errors
        assert errors.rstrip().endswith("KeyboardInterrupt"), errors
    program.communicate()
    assert program.returncode == 0
