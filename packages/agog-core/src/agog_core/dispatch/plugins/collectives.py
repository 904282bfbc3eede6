"""Collectives: what lets processes compute together, such as MPI, which plugins bring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agog_core.dispatch.fields import INT, NAME, REASON, REFERENCE, Field, check_fields
from agog_core.dispatch.plugins.backend import check_device_type
from agog_core.dispatch.plugins.ranking import decided, explain_ranking, ranked
from agog_core.dispatch.plugins.unavailability import available
from agog_core.errors import describe_value


class Communicator(Protocol):
    """Processes that compute together, each with its rank, as one of them sees it.

    All of them call the same methods in the same order, with arrays of equal shapes and dtypes. Arrays are those of the
    device, C-contiguous; results are new ones.
    """

    rank: int
    """The number of this process, from 0 on."""

    size: int
    """How many processes there are."""

    local_rank: int
    """The number of this process among those of its machine."""

    local_size: int
    """How many processes are on this machine."""

    def all_reduce(self, array: Any, reduction: str) -> Any:
        """The ``"sum"``, ``"mean"``, ``"max"`` or ``"min"`` of the processes' arrays, element by element, on each."""

    def all_gather(self, array: Any) -> Any:
        """The processes' arrays one behind the other, along the first axis, on each."""

    def reduce_scatter(self, array: Any, reduction: str) -> Any:
        """This process's part, along the first axis, of what `all_reduce` gives."""

    def broadcast(self, array: Any, root: int) -> Any:
        """The array of one process, on each."""

    def all_to_all(self, array: Any) -> Any:
        """The part of each process's array, along the first axis, that is for this process, in the order of ranks."""

    def barrier(self) -> None:
        """Wait until all processes are here."""

    def exchange(self, message: bytes) -> list[bytes]:
        """The messages of all processes, on each."""

    def agree(self, number: int) -> bool:
        """Whether all processes have the same number, of 63 bits."""

    def split(self, ranks: Sequence[int]) -> Communicator:
        """The processes of some ranks, in that order; each of these, and no other one, calls it."""

    def abort(self, message: str) -> None:
        """End all processes, after the message has been printed."""


class HostCommunicator(Communicator, Protocol):
    """What connects host arrays, also for threads that send gradients while others are still computed."""

    def duplicate(self) -> HostCommunicator | None:
        """The same processes once more, for another thread, whose calls never meet those of this one; all call it. Its
        `agree` leaves the processor to the program meanwhile. None where the engine serves one thread only."""

    def sum_in_place(self, array: Any) -> None:
        """Write what ``all_reduce(array, "sum")`` gives into the array."""

    def split(self, ranks: Sequence[int]) -> HostCommunicator:
        """See `Communicator.split`."""


@dataclass(frozen=True, kw_only=True)
class Collective:
    """What connects the processes of a run.

    Args:
        name: its name, such as ``"mpi"``, for errors and reports.
        devices: the device types whose arrays it takes, such as ``("cpu",)``.
        connect: gives the `HostCommunicator` of all processes; it is called once in each of them. A
            ``"module:attribute"`` string is imported then. For devices whose memory is not the host's it is called once
            for each group, with the communicator of host arrays, over which it may hand what it needs, and gives a
            `Communicator`; None where it connects these not.
        priority: among several for a device type, the highest is taken.
        unavailable: returns a sentence that says why it cannot be used here, or None.

    Raises:
        ValueError: a device type is not one lower-case word.
        TypeError: an argument is of a wrong type.

    >>> Collective(name="mpi", devices=("cpu",), connect="my_mpi:connect").priority
    100
    """

    name: str
    devices: tuple[str, ...]
    connect: Callable[[], HostCommunicator] | Callable[[Communicator], Communicator | None] | str
    priority: int = 100
    unavailable: Callable[[], str | None] = available

    def __post_init__(self) -> None:
        owner = f"Collective(name={describe_value(self.name)})"
        name = Field(NAME.accepts, "a name, such as 'mpi'")
        devices = Field(_are_names, "a tuple of device types, such as ('cpu',)")
        fields = {"name": name, "devices": devices, "connect": REFERENCE, "priority": INT, "unavailable": REASON}
        check_fields(owner, fields, vars(self))
        for device in self.devices:
            check_device_type(f"{owner[:-1]}, devices={self.devices!r})", device)

    @property
    def references(self) -> tuple[str, ...]:
        """The names of what may be imported late."""
        return ("connect",)


def _are_names(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(isinstance(name, str) for name in value)


def collective_of(device: str) -> Collective | None:
    """The collective for a device type that comes first, or None; AmbiguousKernelError for two of equal rank."""
    found = decided(ranked("collectives", device), device)
    return found[0].what if found else None


def explain_collectives(device: str) -> str:
    """Say which collectives connect processes for a device type, in which order, and why others do not."""
    return explain_ranking("collectives", device, "none: there is one process")
