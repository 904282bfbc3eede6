"""Every example on 1, 2 and 4 ranks, by one changed line: the gradients are those of one process with the whole batch.

`nox -s ranks` takes all of them; the usual run a sample on 2 ranks. See `steps.py` for what is compared.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py")

FOLDER = Path(__file__).parent
NAMES = [file.stem for file in sorted((FOLDER.parents[1] / "examples").glob("*.py"))]
ALL = os.environ.get("AGOG_RANKS") == "all"
SAMPLE = ("huber",)
MPIEXEC = Path(sys.executable).parent / "mpiexec"

Found = dict[tuple[str, str, str], tuple[float, str]]


def steps(size: int, names: list[str]) -> Found:
    """For an example, a way of training, and "eager" or "traced": the error of gradients, and the weights' digest."""
    command = [str(MPIEXEC), "-n", str(size), sys.executable, str(FOLDER / "steps.py"), *names]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "AGOG_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    return {(name, how, way): (float(error), digest) for name, how, way, error, digest in rows}


@pytest.mark.parametrize("size", [1, 2, 4] if ALL else [2])
def test_steps_are_those_of_one_process(size: int) -> None:
    found = steps(size, NAMES if ALL else list(SAMPLE))
    assert {name for name, _, _ in found} == set(NAMES if ALL else SAMPLE)
    wrong = {key: error for key, (error, _) in found.items() if error > 1e-6}
    assert not wrong
    assert len(found) >= 10 * len({name for name, _, _ in found})
    for (name, how, way), (_, digest) in found.items():
        assert digest == found[name, how, "eager"][1], f"{name} {how}: other bits in a traced function"
        if how == "sharded":
            assert digest == found[name, "plain", way][1], f"{name}: other bits where slots are shared"
    if ALL:
        again = steps(size, NAMES)
        assert again == found, "another run of as many ranks has other bits"
        for (name, how, way), (error, digest) in found.items():  # shown by -s
            print(f"{size} ranks: {name:18} {how:12} {way:7} {error:.1e} {digest}")
