"""MPI: collectives, a step of training and guards in processes that mpiexec starts."""

from __future__ import annotations

from pathlib import Path
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


def test_a_guard_that_fails_on_one_rank_runs_no_collective_twice(launch: Any) -> None:
    done = launch(2, "faults", "guard", seconds=20)
    check(done, 2)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("what", ["plain", "rows", "clipped", "accumulated", "scaled", "sharded"])
def test_steps_are_those_of_one_process(size: int, what: str, launch: Any) -> None:
    check(launch(size, "averages", what), size)


@pytest.mark.parametrize(("saving", "restoring"), [(2, 2), (2, 4), (4, 1), (1, 2)])
def test_sharded_slots_are_restored_by_another_number_of_ranks(
    saving: int, restoring: int, launch: Any, tmp_path: Path
) -> None:
    check(launch(saving, "sharded_saves", str(tmp_path / "model"), "save"), saving)
    check(launch(restoring, "sharded_saves", str(tmp_path / "model"), "restore"), restoring)
    if restoring == 1:
        check(launch(1, "sharded_saves", str(tmp_path / "model"), "restore bare"), 1)


@pytest.mark.parametrize(("how", "restoring"), [("eager", 2), ("traced shared", 2), ("eager", 4)])
def test_what_compression_has_left_is_restored_by_as_many_ranks(
    how: str, restoring: int, launch: Any, tmp_path: Path
) -> None:
    check(launch(2, "compressed_saves", str(tmp_path / "model"), f"save {how}"), 2)
    others = " others" if restoring != 2 else ""
    check(launch(restoring, "compressed_saves", str(tmp_path / "model"), f"restore {how}{others}"), restoring)
