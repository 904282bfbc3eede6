"""MPI: collectives, a step of training and faults in processes that mpiexec starts."""

from __future__ import annotations

from typing import Any

import pytest


def check(done: Any, size: int) -> None:
    assert done.returncode == 0, done.stderr
    for rank in range(size):  # lines of several processes may run into one another
        assert done.stdout.count(f"rank {rank} of {size} has found all as wanted") == 1, done.stdout


@pytest.mark.parametrize("size", [1, 2, 4])
def test_collectives_of_every_dtype(size: int, launch: Any) -> None:
    check(launch(size, "values"), size)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("how", ["eager", "traced"])
def test_the_mean_of_shares_is_the_gradient_of_the_batch(size: int, how: str, launch: Any) -> None:
    check(launch(size, "training", how), size)


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("raises", "Rank 1 ends all processes: it has raised ValueError."),
        ("thread", "Rank 1 ends all processes: a thread has raised ZeroDivisionError."),
        ("exits", ""),
    ],
)
def test_a_rank_that_goes_wrong_ends_all(what: str, text: str, launch: Any) -> None:
    done = launch(3, "faults", what, seconds=20)
    assert done.returncode != 0
    assert text in done.stderr


def test_unlike_shapes_end_all_with_both_lines(launch: Any) -> None:
    done = launch(2, "faults", "shapes", seconds=20)
    assert done.returncode != 0
    for rank, shape in enumerate(("(2,)", "(3,)")):
        assert f"rank {rank}: all_reduce (reduction='sum') of float32 {shape}, the 2nd collective, at " in done.stderr


def test_a_guard_that_fails_on_one_rank_runs_no_collective_twice(launch: Any) -> None:
    done = launch(2, "faults", "guard", seconds=20)
    check(done, 2)
