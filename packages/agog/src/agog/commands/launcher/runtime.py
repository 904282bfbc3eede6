"""Runtime: the MPI that starts processes, of a wheel beside Python, or else of the system."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Runtime(NamedTuple):
    """An MPI: its name, its `mpiexec`, and the options and settings with which processes share a machine freely.

    Processes are not bound to single processors, since the launcher divides these, and there may be more than those.
    """

    name: str
    mpiexec: str
    options: tuple[str, ...] = ()
    settings: Mapping[str, str] = {}


# What their `mpiexec --version` says, and how they are told.
_KNOWN: tuple[tuple[str, str, tuple[str, ...], Mapping[str, str]], ...] = (
    ("Intel(R) MPI", "Intel MPI", (), {"I_MPI_PIN": "0"}),
    ("HYDRA", "MPICH", (), {}),
    ("Open MPI", "Open MPI", ("--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"), {}),
)


def find_runtime() -> Runtime | None:
    """The `mpiexec` beside Python, where wheels put it, or that of the path; None if there is none."""
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    mpiexec = shutil.which("mpiexec", path=os.pathsep.join(folders))
    if mpiexec is None:
        return None
    said = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False).stdout
    for sign, name, options, settings in _KNOWN:
        if sign in said:
            return Runtime(name, mpiexec, options, settings)
    return Runtime("an MPI", mpiexec)
