"""Environment: what launchers of MPI programs tell each process, before anything connects it.

``mpiexec`` of MPICH and Intel MPI, that of Open MPI, ``srun``, and Kubernetes' MPI operator, which runs ``mpiexec``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

# Those of `mpiexec` first: under it, those of Slurm may be of the one process for each machine that starts the others.
NAMES: Mapping[str, tuple[str, ...]] = {
    "rank": ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"),
    "size": ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"),
    "local_rank": ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"),
    "local_size": ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_TASKS_PER_NODE"),
}


class Launched(NamedTuple):
    """What a launcher says of this process, and the name of the variable that says the size."""

    rank: int
    size: int
    local_rank: int
    local_size: int
    said_by: str


def launched() -> Launched | None:
    """What a launcher says; None where the program was started alone."""
    size, said_by = _number("size", 1)
    if size <= 1:
        return None
    (rank, _), (local_rank, _), (local_size, _) = _number("rank", 0), _number("local_rank", 0), _number("local_size", 1)
    return Launched(rank, size, local_rank, local_size, said_by)


def _number(what: str, missing: int) -> tuple[int, str]:
    for name in NAMES[what]:
        # Slurm says "2" or "2(x3),1": two on each of three machines, and one.
        text = os.environ.get(name, "").partition("(")[0].partition(",")[0]
        if text.isdigit():
            return int(text), name
    return missing, ""
