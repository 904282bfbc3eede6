"""MPI: a rank that goes wrong ends all, with an error that names it and what it did."""

from __future__ import annotations

import time
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("raises", "Rank 1 ends all processes: it has raised ValueError: of rank 1\n"),
        ("thread", "Rank 1 ends all processes: a thread has raised ZeroDivisionError: "),
        ("traced", "Rank 1 ends all processes: it has raised InvalidArgumentError: assert_positive: "),
        ("exit", "rank 1: end of the program, the 2nd collective\n"),
        ("end", "rank 1: end of the program, the 2nd collective\n"),
        ("missing", "rank 1: all_gather of float32 (1,), the 2nd collective, at "),
        ("order", "rank 1: broadcast (root=0) of float32 (1,), the 2nd collective, at "),
        ("stop", ") is stopped; rank 0 ends all processes."),
        ("kill", ""),  # what mpiexec says of it
        ("hard exit", ""),
    ],
)
def test_a_rank_that_goes_wrong_ends_all(what: str, text: str, launch: Any) -> None:
    begin = time.monotonic()
    done = launch(3, "faults", what, seconds=30)
    assert done.returncode != 0
    assert text in done.stderr
    assert time.monotonic() - begin < 15  # seconds: the start of three processes, and ten


@pytest.mark.parametrize(
    ("what", "text"),
    [
        (("raises",), "Rank 1 ends all processes: it has raised ValueError: in the walk\n"),
        (("is interrupted", "traced"), "Rank 1 ends all processes: it has raised KeyboardInterrupt.\n"),
        (("exits",), "rank 1: average_gradients, given up, the "),
        (("exits", "traced"), "rank 1: average_gradients, given up, the "),
        (("catches",), "rank 1: average_gradients, given up, the "),
        (("catches", "traced"), "rank 1: average_gradients, given up, the "),
        (("catches and ends", "traced"), "rank 1: average_gradients, given up, the "),
    ],
)
def test_a_rank_that_goes_wrong_in_a_walk_ends_all(what: tuple[str, ...], text: str, launch: Any) -> None:
    begin = time.monotonic()
    done = launch(2, "walk_faults", *what, seconds=30)
    assert done.returncode != 0
    assert text in done.stderr
    assert time.monotonic() - begin < 15  # seconds, as above


def test_a_rank_that_loops_ends_all_at_the_deadline(launch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_DISTRIBUTE_DEADLINE", "3")
    done = launch(3, "faults", "loop", seconds=30)
    assert done.returncode != 0
    assert "Rank 0 ends all processes: it has waited for others for 3 s, which is the deadline" in done.stderr
    assert "  rank 1: is at " in done.stderr
    assert "  rank 2: waits in all_reduce (reduction='sum') of float32 (2,), the 2nd collective, at " in done.stderr


def test_a_rank_that_computes_for_long_ends_nothing(launch: Any) -> None:
    done = launch(2, "faults", "slow", seconds=40)
    assert done.returncode == 0, done.stderr


def test_unlike_shapes_end_all_with_both_lines(launch: Any) -> None:
    done = launch(2, "faults", "shapes", seconds=20)
    assert done.returncode != 0
    for rank, shape in enumerate(("(2,)", "(3,)")):
        assert f"rank {rank}: all_reduce (reduction='sum') of float32 {shape}, the 2nd collective, at " in done.stderr
