"""MPI: one checkpoint of all ranks, with shares of slots, that another number of ranks goes on from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize("what", ["at once", "behind"])
def test_another_number_of_ranks_goes_on_to_the_same_bits(what: str, launch: Any, tmp_path: Path) -> None:
    results = []
    for turn, size in enumerate((2, 4)):
        done = launch(size, "saves", what, str(tmp_path))
        assert done.returncode == 0, done.stderr
        found = set(re.findall(r"from (\d+) to (\d+): (\w{40})", done.stdout))
        assert len(found) == 1
        ((begin, end, bits),) = found
        assert (int(begin), int(end)) == (5 * turn, 5 * turn + 5)
        results.append(bits)
    alone = tmp_path / "alone"
    for _ in results:
        done = launch(1, "saves", what, str(alone))
        assert results.pop(0) in done.stdout


def test_ranks_whose_weights_have_drifted_apart_end_with_their_name(launch: Any, tmp_path: Path) -> None:
    done = launch(2, "saves", "drift", str(tmp_path))
    assert done.returncode != 0
    assert "What differs from rank 0:" in done.stderr
    assert "  weights: rank 1" in done.stderr


def test_a_rank_that_saves_alone_ends_with_the_lines_of_all(launch: Any, tmp_path: Path) -> None:
    done = launch(2, "saves", "alone", str(tmp_path))
    assert done.returncode != 0
    assert re.search(r"rank 0: Checkpoint.save, the \d+th collective, at .*saves.py:\d+", done.stderr)
    assert re.search(r"rank 1: barrier, the \d+th collective, at .*saves.py:\d+", done.stderr)
