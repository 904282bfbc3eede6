"""What launchers say of a process in its environment."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agog_core.errors import FailedPreconditionError
from agog_core.plugin import Collective
from agog_distribute.processes import groups
from agog_distribute.processes.alone import Alone
from agog_distribute.processes.environment import NAMES, Launched, launched

MPICH = {"PMI_RANK": "3", "PMI_SIZE": "4", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"}
OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "3",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
}
SLURM = {"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "1", "SLURM_TASKS_PER_NODE": "2(x2)"}


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (name for names in NAMES.values() for name in names):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("environment", "said_by"),
    [
        (MPICH, "PMI_SIZE"),  # of Intel MPI and Kubernetes' MPI operator too
        (OPEN_MPI, "OMPI_COMM_WORLD_SIZE"),
        (SLURM, "SLURM_STEP_NUM_TASKS"),
        # mpiexec in an allocation of Slurm, which has one process of its own on each machine
        (MPICH | {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_LOCALID": "0"}, "PMI_SIZE"),
    ],
)
def test_each_launcher_is_understood(
    environment: dict[str, str], said_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert launched() is None
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert launched() == Launched(3, 4, 1, 2, said_by)


def test_one_process_of_a_launcher_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "1")
    assert launched() is None


def test_processes_that_do_not_find_each_other_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "4")
    found: Collective | SimpleNamespace = SimpleNamespace(name="mpi", connect=Alone)
    monkeypatch.setattr(groups, "collective_of", lambda device: found)
    with pytest.raises(FailedPreconditionError) as failure:
        groups._connected()
    assert str(failure.value) == (
        "agog_distribute: SLURM_STEP_NUM_TASKS=4 says that this program was launched in several processes, but "
        "collective 'mpi' finds one. Its library is not that of the launcher: start the program by the mpiexec beside "
        "Python or `agog launch`, or under Slurm by `srun --mpi=pmi2` or `--mpi=pmix`, as the library has it."
    )
