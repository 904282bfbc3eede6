"""Random ranks that are killed at random moments under `agog launch --restarts`: the weights are those without kills.

`nox -s kills` kills 200, and `AGOG_RANK_KILLS` says another number.
"""

from __future__ import annotations

import math
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("mpi4py")

KILLS = int(os.environ.get("AGOG_RANK_KILLS", "2"))
SIZES = [2, 4] if KILLS >= 100 else [2]
IN_EACH = math.ceil(KILLS / (2 * len(SIZES)))  # of the tests
IN_ONE_RUN = 10
PROGRAM = Path(__file__).parent / "killed_training.py"


def train(folder: Path, size: int, kills: int, seed: str, seconds: float, how: str) -> tuple[set[str], float]:
    """The weights that the ranks end with, and how long that took."""
    folder.mkdir()
    command = [sys.executable, "-m", "agog", "launch", "-n", str(size), "--restarts", str(kills)]
    begin = time.monotonic()
    done = subprocess.run(
        [*command, str(PROGRAM), str(folder), str(kills), seed, str(seconds), how],
        capture_output=True,
        text=True,
        timeout=60 * (kills + 1),
        check=False,
    )
    assert done.returncode == 0, f"seed {seed}: {done.stdout}{done.stderr}"
    weights = re.findall(r"^\[\d\] weights (\w{64})$", done.stdout, re.MULTILINE)
    assert len(weights) == size, f"seed {seed}: {done.stdout}{done.stderr}"
    return set(weights), time.monotonic() - begin


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs kill -9")
@pytest.mark.parametrize("how", ["replicas", "shared"])
@pytest.mark.parametrize("size", SIZES)
def test_kills_change_no_bit(tmp_path: Path, size: int, how: str) -> None:
    wanted, seconds = train(tmp_path / "clean", size, 0, "0", 0.0, how)
    assert len(wanted) == 1
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}: {seconds:.1f} s without kills")  # shown where the test fails
    done = run = 0
    while done < IN_EACH:
        folder = tmp_path / str(run)
        found, _ = train(folder, size, min(IN_ONE_RUN, IN_EACH - done), f"{seed} {run}", seconds, how)
        assert found == wanted, f"seed {seed}, run {run}"
        done += len(list(folder.glob("kill-*")))
        run += 1
    print(f"{size} ranks, {how}: {done} kills in {run} runs, then the weights {wanted}")
