"""Strategies: unmodified programs of TensorFlow 2 in 1, 2 and 4 processes, with the numbers of one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

PROGRAMS = Path(__file__).parent / "strategies"
# Beside Python, where the wheel of an MPI puts it, or wherever the machine has one.
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
ALL = os.environ.get("AGOG_RANKS") == "all"  # `nox -s ranks`
needs_mpi = pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec here: install mpich or another MPI")


@cache
def printed(size: int, program: str, *arguments: str) -> list[str]:
    """The lines of rank 0."""
    launcher = [] if size == 1 else [str(MPIEXEC), "-n", str(size)]
    command = [*launcher, sys.executable, str(PROGRAMS / f"{program}.py"), *arguments]
    settings = {"OPENBLAS_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    settings |= {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=os.environ | settings)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def numbers(lines: list[str]) -> np.ndarray:
    """The numbers in lines of words and numbers."""
    return np.array([[float(word) for word in line.split()[1::2]] for line in lines])


@needs_mpi
@pytest.mark.parametrize(
    ("how", "size"),
    [
        *((how, 2) for how in ("arrays", "traced", "dataset", "own traced", "weights", "step traced", "norm")),
        *((how, 4) for how in ("function", "norm own traced", *(("weights", "step", "stop") if ALL else ()))),
    ],
)
def test_fit_has_the_losses_of_one_process(how: str, size: int) -> None:
    wanted = printed(1, "fit", *how.split())
    assert len(wanted) >= 5
    found = printed(size, "fit", *how.split())
    assert [line.split()[0::2] for line in found] == [line.split()[0::2] for line in wanted]
    for line, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(numbers([line]), numbers([other]), atol=2e-5)


@needs_mpi
@pytest.mark.parametrize("size", [2, 4] if ALL else [4])
@pytest.mark.parametrize("how", [(), ("traced",), ("ends", "traced")], ids=["eager", "traced", "one-example"])
def test_a_custom_loop_has_the_losses_of_one_process(how: tuple[str, ...], size: int) -> None:
    wanted = printed(1, "custom_loop", *how)
    assert len(wanted) == 3
    np.testing.assert_allclose(numbers(printed(size, "custom_loop", *how)), numbers(wanted), atol=2e-5)


@needs_mpi
@pytest.mark.parametrize("how", [(), ("traced",)], ids=["eager", "traced"])
def test_fit_by_a_distributed_optimizer_has_the_weights_of_one_process(how: tuple[str, ...]) -> None:
    assert printed(2, "fit_by_optimizer", *how) == ["all as in one process"]
