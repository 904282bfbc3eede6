"""Saving: what agog-checkpoint asks of the processes that save one checkpoint together."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from agog_core.plugin import Communicator
from agog_core.processes import acting_as
from agog_distribute.faults.agreement import agree

if TYPE_CHECKING:
    from agog_distribute.processes.groups import Group

__all__ = ["independent"]


class Together:
    """The processes of a group, as `agog_core.processes.Processes` has them.

    Args:
        group: the processes.
    """

    def __init__(self, group: Group) -> None:
        self.rank, self.size = group.rank, group.size
        self._group = group
        self._own: Communicator | None = None

    def agree(self, what: str) -> None:
        """Go on where all are about to do the same."""
        agree(self._group, what)
        if self._own is None:  # one of its own, since files are written behind the program's collectives
            self._own = self._group.communicator.split(range(self.size))

    def exchange(self, message: bytes) -> list[bytes]:
        """The messages of all processes, on each."""
        assert self._own is not None, "they agree first"
        return self._own.exchange(message)


def independent() -> AbstractContextManager[None]:
    """A block in which checkpoints are those of this process alone, such as under ``if rank() == 0:``.

    Otherwise all processes save one checkpoint together, and each of them has to call `save`.

    Returns:
        A context manager.

    >>> with independent():
    ...     pass  # checkpoint.save(path)
    """
    return acting_as(None)
