"""Iterators in checkpoints, continued by another process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agog as tf
import agog.eager as tfe

SEED = 5


def noisy(x: Any) -> Any:
    return x, tf.random_uniform([])


def noisy_rows(x: Any) -> Any:
    return x, tf.random_uniform(x.shape)


PIPELINES: dict[str, Callable[[Any], Any]] = {
    **{f"map {n}": lambda d, n=n: d.map(noisy, n).batch(3).prefetch(2) for n in (None, 1, 4)},
    **{f"vectorized {n}": lambda d, n=n: d.map(noisy_rows, n, vectorize=True).batch(3) for n in (None, 1, 4)},
    "shuffled results": lambda d: d.map(noisy, 4).shuffle(7).batch(3),
}
if hasattr(os, "fork"):
    for n in (1, 4):
        PIPELINES[f"processes {n}"] = lambda d, n=n: d.map(noisy, n, processes=True).batch(3).prefetch(2)


def make(name: str) -> Any:
    return tfe.Iterator(PIPELINES[name](tf.data.Dataset.range(40).shuffle(30)).repeat(2))


def values(iterator: Any) -> list[Any]:
    return [(x.numpy().tolist(), noise.numpy().tolist()) for x, noise in iterator]


def continue_from(folder: Path) -> None:
    """What the other process does."""
    for name in PIPELINES:
        iterator = make(name)
        tf.train.Checkpoint(iterator=iterator).restore(str(folder / name.replace(" ", "_") / "at-1")).assert_consumed()
        print(repr(values(iterator)))


@pytest.mark.parametrize("position", [0, 5, 14, 28])
def test_a_checkpoint_continues_an_iterator(position: int, tmp_path: Path) -> None:
    expected = []
    for name in PIPELINES:
        tf.set_random_seed(SEED)
        iterator = make(name)
        for _ in range(position):
            next(iterator)
        tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / name.replace(" ", "_") / "at"))
        expected.append(repr(values(iterator)))
    done = subprocess.run(
        [sys.executable, __file__, str(tmp_path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    for name, found, rest in zip(PIPELINES, done.stdout.splitlines(), expected, strict=True):
        assert found == rest, f"{name}, continued after {position} batches; seed {SEED}"


if __name__ == "__main__":
    continue_from(Path(sys.argv[1]))
