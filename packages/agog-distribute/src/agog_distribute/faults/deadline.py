"""Deadline: how long a process waits in a collective for the others, and since when it does."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from threading import get_ident
from typing import NamedTuple

from agog_core.errors import InvalidArgumentError

__all__ = ["set_deadline"]

_DEFAULT = 600.0


class Wait(NamedTuple):
    """A thread that waits for other processes: since when, for what (it is a text or becomes one), and whether it may
    take for ever."""

    begin: float
    what: object
    may_last: bool


class _Deadline:
    """The setting: what the program says, else the environment, else ten minutes."""

    def __init__(self) -> None:
        self.set: float | None = None

    def seconds(self) -> float:
        """How many seconds; 0 for no deadline."""
        if self.set is not None:
            return self.set
        text = os.environ.get("AGOG_DISTRIBUTE_DEADLINE", "")
        return checked("AGOG_DISTRIBUTE_DEADLINE", text) if text else _DEFAULT


# The deadline of all groups; the program sets it.
deadline = _Deadline()
# What each thread that is in a collective waits for.
waits: dict[int, Wait] = {}


def longest_of(several: Iterable[Wait]) -> Wait | None:
    """The wait that has begun first."""
    return min(several, key=lambda wait: wait.begin, default=None)


def set_deadline(seconds: float) -> None:
    """End the run where a process waits longer in a collective for the others.

    A process that is killed, stopped or has ended is noticed earlier. The deadline is for those that never come, such
    as one in an endless loop; it has to be longer than any process computes, loads or saves between two collectives.

    Args:
        seconds: how long; 0 for no deadline. It is 600 by default, or what the environment variable
            ``AGOG_DISTRIBUTE_DEADLINE`` says.

    Raises:
        InvalidArgumentError: it is negative, or no number.

    >>> set_deadline(600)
    """
    deadline.set = checked("set_deadline", seconds)


def checked(what: str, value: object) -> float:
    """A number of seconds, from a program or a text."""
    try:
        seconds = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        seconds = -1.0
    if not seconds >= 0:
        raise InvalidArgumentError(f"{what}: expected a number of seconds, or 0 for no deadline; got {value!r}.")
    return seconds


class Waiting:
    """A block in which this thread waits for other processes: for what, and whether it may last for ever."""

    __slots__ = ("_may_last", "_thread", "_what")

    def __init__(self, what: object, may_last: bool = False) -> None:
        self._what, self._may_last, self._thread = what, may_last, get_ident()

    def __enter__(self) -> None:
        waits[self._thread] = Wait(time.monotonic(), self._what, self._may_last)

    def __exit__(self, *error: object) -> None:
        waits.pop(self._thread, None)
