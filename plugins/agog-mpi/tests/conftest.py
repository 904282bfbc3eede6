"""Programs that `mpiexec` starts in several processes, as a user would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
# Beside Python, where the wheel of an MPI puts it, or wherever the machine has one.
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))

Launch = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def launch() -> Launch:
    """Run a program of the folder in a number of processes; it ends within a minute, or is killed."""
    if MPIEXEC is None:
        pytest.skip("there is no mpiexec here: install mpich, openmpi or another MPI")

    def run(size: int, program: str, *arguments: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        command = [MPIEXEC, "-n", str(size), sys.executable, str(PROGRAMS / f"{program}.py"), *arguments]
        settings = {"OPENBLAS_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        settings |= {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
        return subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, check=False, env=os.environ | settings
        )

    return run
