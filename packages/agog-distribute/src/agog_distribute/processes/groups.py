"""Groups: the processes of a run, and some of them that compute together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

from agog_core.dispatch.devices.lookup import get_device
from agog_core.dispatch.plugins.collectives import collective_of, explain_collectives
from agog_core.dispatch.plugins.reference import load_reference
from agog_core.errors import FailedPreconditionError, InvalidArgumentError
from agog_core.plugin import Collective, Communicator, HostCommunicator
from agog_distribute.processes.alone import Alone
from agog_distribute.processes.environment import launched
from agog_distribute.processes.through_host import ThroughHost

__all__ = ["Group", "local_rank", "local_size", "new_group", "rank", "size"]


class Group:
    """Some processes of a run, in the order of their ranks in it; all members make it, by `new_group`.

    Args:
        ranks: of its members, in the whole run.
        communicator: what connects them.
    """

    def __init__(self, ranks: Sequence[int], communicator: HostCommunicator) -> None:
        self.ranks = tuple(ranks)
        self.communicator = communicator
        self.count = 0  # of collectives so far, which all members agree upon
        self.averaging: Any = None  # what of it lasts from one average of gradients to the next
        self._of_devices: dict[str, Communicator] = {}

    def on(self, device: str) -> Communicator:
        """What connects the members' arrays on a device; all members ask for it at once.

        Args:
            device: its name, such as ``"gpu:0"``.

        Returns:
            A communicator.
        """
        if device not in self._of_devices:
            self._of_devices[device] = _of_device(device, self.communicator)
        return self._of_devices[device]

    @property
    def rank(self) -> int:
        """The number of this process in the group."""
        return self.communicator.rank

    @property
    def size(self) -> int:
        """How many processes it has."""
        return self.communicator.size

    def __repr__(self) -> str:
        return f"<Group of ranks {', '.join(map(str, self.ranks))}>"


class _Run:
    """All processes of the run, which are connected when somebody first asks for them."""

    def __init__(self) -> None:
        self._everybody: Group | None = None
        self._lock = Lock()

    def everybody(self) -> Group:
        """The group of all processes."""
        if self._everybody is None:
            with self._lock:
                if self._everybody is None:
                    communicator = _connected()
                    self._everybody = Group(range(communicator.size), communicator)
                    if communicator.size > 1:
                        from agog_distribute.faults.end import end_together  # here, since hooks import this module

                        end_together(self._everybody)
        return self._everybody


_run = _Run()


def _connected() -> HostCommunicator:
    """What the collective of this run connects; without any, this process alone."""
    said = launched()
    head = (
        f"agog_distribute: {said.said_by}={said.size} says that this program was launched in several " if said else ""
    )
    found = collective_of("cpu")
    if found is None:
        if said is not None:  # each would train for itself, and overwrite what the others save
            raise FailedPreconditionError(
                f"{head}processes, and nothing connects them: `python -m pip install 'agog-mpi[mpich]'`.\n"
                f"{explain_collectives('cpu')}"
            )
        return Alone()
    communicator: HostCommunicator = _connector(found)()
    if said is not None and communicator.size == 1:
        raise FailedPreconditionError(
            f"{head}processes, but collective {found.name!r} finds one. Its library is not that of the launcher: start "
            "the program by the mpiexec beside Python or `agog launch`, or under Slurm by `srun --mpi=pmi2` or "
            "`--mpi=pmix`, as the library has it."
        )
    return communicator


def _connector(found: Collective) -> Callable[..., Any]:
    connect: Callable[..., Any] = load_reference(found.connect) if isinstance(found.connect, str) else found.connect
    return connect


def _of_device(device: str, hosts: HostCommunicator) -> Communicator:
    """What connects arrays on a device: the collective of its type, else that of the hosts, with copies."""
    place = get_device(device)
    if place.backend.host_memory:
        return hosts
    if hosts.size == 1:
        return Alone()
    found = collective_of(place.type)
    if found is not None and found is collective_of("cpu"):  # it takes arrays of both
        return hosts
    names = hosts.exchange(b"" if found is None else found.name.encode())
    connected = _connector(found)(hosts) if found is not None and len(set(names)) == 1 else None
    return connected or ThroughHost(hosts, place)


def everybody() -> Group:
    """The group of all processes."""
    return _run.everybody()


def rank() -> int:
    """The number of this process.

    Returns:
        An int, from 0 on; 0 where there is one process.

    >>> rank()
    0
    """
    return everybody().rank


def size() -> int:
    """How many processes compute together.

    Returns:
        An int; 1 where the program was not launched in several processes.

    >>> size()
    1
    """
    return everybody().size


def local_rank() -> int:
    """The number of this process among those of its machine, by which it chooses a GPU.

    Returns:
        An int, from 0 on.

    >>> local_rank()
    0
    """
    return everybody().communicator.local_rank


def local_size() -> int:
    """How many processes of the run are on this machine.

    Returns:
        An int.

    >>> local_size()
    1
    """
    return everybody().communicator.local_size


def new_group(ranks: Sequence[int]) -> Group | None:
    """A group of some processes. All processes of the run call it, with the same ranks, in the same order.

    Args:
        ranks: the numbers of its members, each once.

    Returns:
        The group; None in a process that is no member.

    Raises:
        InvalidArgumentError: there is no such process, or it is named twice.

    >>> new_group([0])
    <Group of ranks 0>
    """
    everyone = everybody()
    chosen = [int(number) for number in ranks]
    if not chosen or len(set(chosen)) < len(chosen) or not all(0 <= number < everyone.size for number in chosen):
        raise InvalidArgumentError(
            f"new_group: ranks must be some of the numbers 0 to {everyone.size - 1}, each at most once; got {chosen}."
        )
    if everyone.rank not in chosen:
        return None
    return Group(chosen, everyone.communicator.split(chosen))
