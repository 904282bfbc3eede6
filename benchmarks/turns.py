"""Turns: frameworks in processes of their own, one at a time at work, in bursts that follow one another."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from time import perf_counter
from typing import Any

from benchmarks.kinds import Case
from benchmarks.worker import serve

BURST = 0.05
"""Seconds of a burst: short, so that a disturbance hits few of them, and all frameworks alike."""

WARM = 2.0
"""Seconds that each program runs before it is timed, in which functions are traced and compiled."""


@dataclass(slots=True)
class Times:
    """What a framework took for a case.

    Args:
        value: of the first call.
        first: seconds of the first call, compilation included.
        bursts: seconds a unit, of each burst.
    """

    value: float
    first: float
    bursts: list[float] = field(default_factory=list)

    @property
    def least(self) -> float:
        """Seconds a unit in the burst that was disturbed least."""
        return min(self.bursts)


class Worker:
    """A framework's process. It is stopped while another has its turn, with all threads that wait by spinning."""

    def __init__(self, name: str, threads: int) -> None:
        self.name = name
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other, name, threads), daemon=False)
        self.process.start()
        other.close()

    @property
    def pid(self) -> int:
        """Of the process."""
        assert self.process.pid is not None
        return self.process.pid

    def ask(self, question: str, argument: Any) -> Any:
        """The answer; LookupError where the framework has none."""
        with suppress(AttributeError):  # Windows cannot stop a process
            os.kill(self.pid, signal.SIGCONT)
        self.pipe.send((question, argument))
        answer = self.pipe.recv()
        with suppress(AttributeError):
            os.kill(self.pid, signal.SIGSTOP)
        if isinstance(answer, str):
            raise LookupError(answer)
        return answer

    def close(self) -> None:
        """End the process."""
        with suppress(AttributeError):
            os.kill(self.pid, signal.SIGCONT)
        self.pipe.close()
        self.process.join(10)
        if self.process.is_alive():
            self.process.kill()


@contextmanager
def workers(names: Sequence[str], threads: int) -> Iterator[list[Worker]]:
    """Processes of frameworks, which end with the block."""
    made: list[Worker] = []
    try:
        for name in names:
            made.append(Worker(name, threads))
        yield made
    finally:
        for worker in made:
            worker.close()


def times(case: Case, at_work: Sequence[Worker], seconds: float) -> tuple[dict[str, Times], dict[str, str]]:
    """What each framework takes in bursts of some seconds together, and why some have none."""
    taken: dict[str, Times] = {}
    without: dict[str, str] = {}
    calls: dict[str, int] = {}
    for worker in at_work:
        try:
            taken[worker.name] = Times(*worker.ask("first", case.name))
        except LookupError as error:
            without[worker.name] = str(error)
            continue
        end, one = perf_counter() + WARM, worker.ask("calls", 1)
        while perf_counter() < end:
            count = max(1, int(BURST / one))
            one = worker.ask("calls", count) / count
        calls[worker.name] = max(1, int(BURST / one))
    ready = [worker for worker in at_work if worker.name in taken]
    end = perf_counter() + seconds * len(ready)
    while ready and (perf_counter() < end or len(taken[ready[0].name].bursts) < 3):
        for worker in ready:
            count = calls[worker.name]
            taken[worker.name].bursts.append(worker.ask("calls", count) / count / case.per)
    return taken, without
