"""Neighbours: what programs lose to busy processes beside them: ``python -m benchmarks.neighbours --help``.

On as many processors as there are busy processes, a fair share is half of each, so that a program takes twice its
quiet time. More than that is lost where its threads wait for one that has no processor.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from statistics import median
from time import perf_counter

import click

from benchmarks.cases import CASES
from benchmarks.frameworks import NAMES
from benchmarks.kinds import Case
from benchmarks.turns import WARM, Worker, workers

BURST = 0.2
"""Seconds of a burst: long beside the time slices of the scheduler."""

PROGRAMS = ("mlp", "mlp_big", "cnn", "lstm")
"""The cases that are timed by default: products, convolutions, recurrence, and the steps of an optimizer."""


@dataclass(slots=True)
class Comparison:
    """Seconds a unit in bursts alone, and in bursts beside busy processes."""

    quiet: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The usual time beside busy processes over that alone; a few bursts more or less change neither."""
        return median(self.beside) / median(self.quiet)


def spin() -> None:
    """Be busy for ever."""
    while True:
        pass


@contextmanager
def neighbours(count: int) -> Iterator[Sequence[BaseProcess]]:
    """Busy processes, which are stopped at first and end with the block."""
    processes = [get_context("spawn").Process(target=spin, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    stop(processes)
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()


def start(busy: Sequence[BaseProcess]) -> None:
    """Let processes run."""
    for process in busy:
        os.kill(process.pid or 0, signal.SIGCONT)


def stop(busy: Sequence[BaseProcess]) -> None:
    """Stop processes until they are started again."""
    for process in busy:
        os.kill(process.pid or 0, signal.SIGSTOP)


def compared(case: Case, worker: Worker, busy: Sequence[BaseProcess], rounds: int) -> Comparison:
    """The times of a case in a worker, in bursts with and without busy processes that follow one another."""
    stop(busy)
    worker.ask("first", case.name)
    end, one = perf_counter() + WARM, worker.ask("calls", 1)
    while perf_counter() < end:
        count = max(1, int(BURST / one))
        one = worker.ask("calls", count) / count
    count, found = max(1, int(BURST / one)), Comparison()
    for _ in range(rounds):
        found.quiet.append(worker.ask("calls", count) / count / case.per)
        start(busy)
        found.beside.append(worker.ask("calls", count) / count / case.per)
        stop(busy)
    return found


@click.command()
@click.argument("cases", nargs=-1, type=click.Choice(list(CASES)), metavar="[CASE]...")
@click.option("--framework", "frameworks", multiple=True, type=click.Choice(list(NAMES)), default=["agog"])
@click.option("--threads", multiple=True, type=click.IntRange(1), default=(1, 2), show_default=True)
@click.option("--busy", default=2, show_default=True, help="Processes beside it.")
@click.option("--rounds", default=15, show_default=True, help="Bursts of each kind.")
def main(cases: tuple[str, ...], frameworks: tuple[str, ...], threads: tuple[int, ...], busy: int, rounds: int) -> None:
    """Time CASEs alone and beside busy processes, and print the ratio."""
    with neighbours(busy) as processes:
        for count in threads:
            with workers(frameworks, count) as at_work:
                for name in cases or PROGRAMS:
                    for worker in at_work:
                        found = compared(CASES[name], worker, processes, rounds)
                        click.echo(
                            f"{name:12}{worker.name:16}{count} thread{'s' * (count != 1)} "
                            f"{median(found.quiet) * 1e6:12.1f} us alone{median(found.beside) * 1e6:12.1f} us "
                            f"beside {busy} busy processes   {found.ratio:.2f}"
                        )


if __name__ == "__main__":
    main()
