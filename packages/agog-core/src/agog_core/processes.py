"""Processes: those that compute together, as packages see them that do not know what connects these.

agog-distribute says which there are; agog-checkpoint lets them save together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import EllipsisType
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary


class Processes(Protocol):
    """Several processes, as one of them sees them."""

    rank: int
    """The number of this one."""

    size: int
    """How many there are."""

    def agree(self, what: str) -> None:
        """Go on where all are about to do the same, in its turn among the collectives of the program.

        Raises AbortedError, on all of them, where they are not.
        """

    def exchange(self, message: bytes) -> list[bytes]:
        """The messages of all processes, on each. Other threads may compute together meanwhile."""


class _Run:
    """The processes of this run, once these are connected."""

    processes: Processes | None = None


# The processes of this run; agog-distribute says it once.
_run = _Run()
# What a block of the program has instead; an ellipsis where it has the processes of the run.
_here: ContextVar[Processes | EllipsisType | None] = ContextVar("agog_processes", default=...)


def connect(processes: Processes) -> None:
    """Say which processes compute together from now on."""
    _run.processes = processes


def connected() -> Processes | None:
    """The processes that compute together here, if there are several."""
    here = _here.get()
    return _run.processes if here is ... else here


@contextmanager
def acting_as(processes: Processes | None) -> Iterator[None]:
    """A block in which these processes compute together; with None, this one acts by itself."""
    token = _here.set(processes)
    try:
        yield
    finally:
        _here.reset(token)


class Share(NamedTuple):
    """The elements of a larger array that a variable of this process holds, in the order of memory.

    Args:
        begin, end: which elements of the flat array.
        shape: that of the whole array.
    """

    begin: int
    end: int
    shape: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the array."""
        return self.end - self.begin == math.prod(self.shape)


# The shares of variables that are parts of larger arrays; `keep_share` writes them.
_shares: WeakKeyDictionary[Any, Share] = WeakKeyDictionary()


def keep_share(variable: Any, share: Share) -> None:
    """Note that a variable holds a share of a larger array, whose other shares are in the other processes.

    A checkpoint of all processes has the larger array, and a restore gives the variable its share of that.
    """
    _shares[variable] = share


def share_of(variable: Any) -> Share | None:
    """The share that a variable holds; None where it is no part of a larger array."""
    return _shares.get(variable)


def has_shares() -> bool:
    """Whether any variable holds a share."""
    return bool(_shares)
