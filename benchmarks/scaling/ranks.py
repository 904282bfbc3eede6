"""Ranks: what is measured in each process; rank 0 writes it to the file that is the first argument."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from time import perf_counter
from typing import Any

import numpy as np

import agog as tf
import agog_distribute as distribute
from agog_distribute.gradients.transfers import Averaging
from benchmarks.cases import CASES
from benchmarks.kinds import SEED
from benchmarks.scaling.deep import MlpDeep
from benchmarks.scaling.model import Network
from benchmarks.scaling.simulated import simulated_group

BURST = 0.02
"""Seconds of a burst of small messages."""

Row = dict[str, float]
"""Figures by name: seconds, but for "bytes" and "spread"."""


def slowest(seconds: float) -> float:
    """What the slowest rank took."""
    return float(distribute.all_reduce(tf.constant(seconds, tf.float64), "max"))


def timed(f: Callable[[], Any], calls: int = 1) -> float:
    """Seconds a call from when all are there until the last is done."""
    distribute.barrier()
    start = perf_counter()
    for _ in range(calls):
        f()
    return slowest((perf_counter() - start) / calls)


def reductions(size: int, rounds: int) -> Row:
    """Seconds of an all-reduce of so many bytes, by agog and by mpi4py, in turns: the least of some rounds."""
    from mpi4py import MPI

    given = np.ones(size // 4, np.float32)
    result, x = np.empty_like(given), tf.constant(given)
    ways: dict[str, Callable[[], Any]] = {
        "agog": lambda: distribute.all_reduce(x),
        "mpi4py": lambda: MPI.COMM_WORLD.Allreduce(given, result),
    }
    calls = max(1, int(BURST / max(timed(f, 2) for f in ways.values())))
    rows = [{name: timed(f, calls) for name, f in ways.items()} for _ in range(rounds)]
    return {"bytes": given.nbytes, **{name: min(row[name] for row in rows) for name in ways}}


class Training:
    """Steps of a case of benchmarks/cases, on a batch of each rank's own.

    Args:
        case: its name.
    """

    def __init__(self, case: str) -> None:
        rng = np.random.default_rng(SEED)
        chosen: Any = MlpDeep() if case == "mlp_deep" else CASES[case]
        self.case = chosen
        self.variables = [tf.Variable(array) for array in chosen.parameters(rng)]
        self.batch = [tf.constant(array) for array in chosen.batch(rng)]
        self.optimizer = tf.train.AdamOptimizer(chosen.rate)

    def step(self, new_tape: Callable[[], tf.GradientTape]) -> Row:
        """Seconds of the parts of a step."""
        times = [perf_counter()]
        with new_tape() as tape:
            loss = self.case.agog(tf, *self.variables, *self.batch)
        times.append(perf_counter())
        gradients = tape.gradient(loss, self.variables)
        times.append(perf_counter())
        self.optimizer.apply_gradients(zip(gradients, self.variables, strict=True))
        times.append(perf_counter())
        return dict(zip(("forward", "backward", "update"), np.diff(times).tolist(), strict=True))

    @property
    def size(self) -> int:
        """Bytes of all gradients."""
        return sum(variable.numpy().nbytes for variable in self.variables)


@contextmanager
def waits() -> Iterator[list[float]]:
    """The seconds in which the walk back stands still for averages: when a bucket is handed over, and at the end."""
    found: list[float] = []
    own = {name: getattr(Averaging, name) for name in ("_start", "finish")}  # the last bucket is sent in `_start`
    is_inside = False  # `finish` calls `_start`

    def timed_as(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal is_inside
            if is_inside:
                return method(*arguments, **options)
            is_inside, start = True, perf_counter()
            try:
                return method(*arguments, **options)
            finally:
                is_inside = False
                found.append(perf_counter() - start)

        return call

    for name, method in own.items():
        setattr(Averaging, name, timed_as(method))
    try:
        yield found
    finally:
        for name, method in own.items():
            setattr(Averaging, name, method)


def steps(training: Training, bucket: int, rounds: int) -> Row:
    """Seconds of a step with buckets of a size, beside one that averages nothing, and beside the averages alone."""
    tape = partial(distribute.DistributedGradientTape, bucket_bytes=bucket)
    gradients = [tf.zeros_like(variable) for variable in training.variables]
    rows = []
    with waits() as waited:
        for number in range(2 + rounds):
            row = {"plain": timed(lambda: training.step(tf.GradientTape))}
            waited.clear()
            row["step"] = timed(lambda: training.step(tape))
            wait = sum(waited)
            row["wait"] = float(distribute.all_reduce(tf.constant(wait, tf.float64), "mean"))
            row["alone"] = timed(
                lambda: distribute.average_gradients(gradients, training.variables, bucket_bytes=bucket)
            )
            if number >= 2:  # the first finds that gradients are dense, and the second makes the buffers
                rows.append(row)
    best = min(rows, key=lambda row: row["step"])
    least = {name: min(row[name] for row in rows) for name in ("plain", "alone")}
    return {"bytes": min(bucket, training.size), "step": best["step"], "wait": best["wait"], **least}


def over_network(training: Training, bucket: int, rounds: int, group: distribute.Group) -> Row:
    """Seconds of a step of one of some simulated ranks: with averages during the walk back, behind it, and without."""
    settings: dict[str, Any] = {"group": group, "bucket_bytes": bucket}

    class Behind(tf.GradientTape):
        def gradient(self, target: Any, sources: Any) -> Any:
            return distribute.average_gradients(super().gradient(target, sources), sources, **settings)

    gradients = [tf.zeros_like(variable) for variable in training.variables]
    ways: dict[str, Callable[[], Any]] = {
        "plain": lambda: training.step(tf.GradientTape),
        "step": lambda: training.step(partial(distribute.DistributedGradientTape, **settings)),
        "behind": lambda: training.step(Behind),
        "alone": lambda: distribute.average_gradients(gradients, training.variables, **settings),
    }
    rows = [{name: timed(f) for name, f in ways.items()} for _ in range(2 + rounds)][2:]
    return {"bytes": min(bucket, training.size), **{name: min(row[name] for row in rows) for name in ways}}


def parts(training: Training, rounds: int) -> dict[str, Any]:
    """Seconds of the parts of a step alone, in the fastest one, and how far the times lie apart."""
    training.step(tf.GradientTape)
    rows = [training.step(tf.GradientTape) for _ in range(rounds)]
    totals = [sum(row.values()) for row in rows]
    spread = stdev(np.log(totals).tolist())
    copy = copying([variable.numpy() for variable in training.variables], rounds)
    fastest = rows[int(np.argmin(totals))]
    return {**fastest, "size": training.size, "spread": spread, "copy": copy, "ready": ready(training)}


def ready(training: Training) -> list[tuple[int, float]]:
    """Bytes of the last gradients, and the share of the walk back after which these are there."""
    times: dict[int, float] = {}

    class Told(tf.GradientTape):
        def pull_back(self, targets: Any, sources: Any, seeds: Any, tell: Any = None) -> Any:
            start = perf_counter()
            found = super().pull_back(targets, sources, seeds, lambda n, _: times.setdefault(n, perf_counter() - start))
            times[-1] = perf_counter() - start
            return found

    training.step(Told)
    times.clear()
    training.step(Told)
    found, size, latest = [], 0, 0.0
    for number in reversed(range(len(training.variables))):  # as they lie in buckets
        size += training.variables[number].numpy().nbytes
        latest = max(latest, times.get(number, times[-1]) / times[-1])
        found.append((size, latest))
    return found


def copying(gradients: Sequence[Any], rounds: int) -> float:
    """Seconds in which gradients are divided by the number of ranks, into a buffer of all: the least of some rounds."""
    buffer = np.zeros(sum(gradient.size for gradient in gradients), np.float32)
    targets = np.split(buffer, np.cumsum([gradient.size for gradient in gradients])[:-1])

    def copy() -> None:
        for gradient, target in zip(gradients, targets, strict=True):
            np.multiply(gradient.reshape(-1), np.float32(0.5), out=target)

    return min(timed(copy) for _ in range(rounds))


def wrapper(training: Training, rounds: int) -> Row:
    """Seconds of a step by the plain tape and by the distributed one, in turns: the least, and the mean of a fifth."""
    tapes = {"plain": tf.GradientTape, "wrapped": distribute.DistributedGradientTape}
    taken: dict[str, list[float]] = {name: [] for name in tapes}
    for number in range(rounds + 5):
        for name, tape_type in tapes.items():
            start = perf_counter()
            training.step(tape_type)
            if number >= 5:
                taken[name].append(perf_counter() - start)
    fastest = {name: sorted(times)[: max(1, rounds // 5)] for name, times in taken.items()}
    return {name: times[0] for name, times in fastest.items()} | {
        f"{name}_fifth": fmean(times) for name, times in fastest.items()
    }


def main(file: str, wanted: str) -> None:
    """Measure what a JSON object wants: "case", "small", "sizes" of messages, "buckets", "rounds", and of what is
    "simulated" the ranks, Gbit/s and microseconds."""
    asked = json.loads(wanted)
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[distribute.local_rank() % len(cores)]})
    rounds = asked["rounds"]
    found: dict[str, Any] = {"all_reduce": [reductions(size, rounds) for size in asked["sizes"]]}
    if distribute.size() == 1:
        found["parts"] = parts(Training(asked["case"]), 3 * rounds)
        ranks, gigabits, microseconds = asked["simulated"]
        group = simulated_group(ranks, Network(microseconds * 1e-6, gigabits * 1e9 / 8))
        found["simulated"] = {
            "ranks": ranks,
            "gigabits": gigabits,
            "microseconds": microseconds,
            "steps": [over_network(Training(asked["case"]), bucket, rounds, group) for bucket in asked["buckets"]],
        }
        found["wrapper"] = wrapper(Training(asked["small"]), 40 * rounds)
    else:
        training = Training(asked["case"])
        found["steps"] = [steps(training, bucket, rounds) for bucket in asked["buckets"]]
    if distribute.rank() == 0:
        Path(file).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
