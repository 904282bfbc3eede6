"""Backend: how arrays come to the fake devices and leave them; every such copy is counted."""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from agog_core.plugin import MemoryStats
from agog_fake.array import FakeArray, bytes_in_use

DEVICE_COUNT = 2


class Copies(NamedTuple):
    """How many arrays were copied between the host and the fake devices; from one device to another is one of each."""

    from_host: int = 0
    to_host: int = 0


# How many copies there were between host and device.
_copies = Copies()
# Held while copies are counted.
_lock = Lock()


def copies() -> Copies:
    """The number of copies since the start of the program, or since `reset_copies`.

    >>> import agog_core as ag
    >>> with ag.device("fake:0"):
    ...     x = ag.constant([1.0, 2.0])
    >>> reset_copies()
    >>> y = ag.square(x)
    >>> copies()
    Copies(from_host=0, to_host=0)
    >>> y.numpy().tolist(), copies()
    ([1.0, 4.0], Copies(from_host=0, to_host=1))
    """
    return _copies


def reset_copies() -> None:
    """Count from zero again."""
    global _copies
    with _lock:
        _copies = Copies()


def _count(from_host: int = 0, to_host: int = 0) -> None:
    global _copies
    with _lock:
        _copies = Copies(_copies.from_host + from_host, _copies.to_host + to_host)


def from_host(host: np.ndarray[Any, Any], index: int) -> FakeArray:
    """Copy a host array to a device."""
    _count(from_host=1)
    return FakeArray(np.array(host, order="C"), index)


def to_host(array: FakeArray) -> np.ndarray[Any, Any]:
    """Copy an array to the host."""
    _count(to_host=1)
    return array.memory.copy()


def copy(array: FakeArray) -> FakeArray:
    """A copy on the same device."""
    return FakeArray(array.memory.copy(), array.index)


def synchronize(index: int) -> None:
    """Nothing to wait for: kernels run at once."""


def memory_stats(index: int) -> MemoryStats:
    """The bytes that live arrays hold."""
    return MemoryStats(in_use=bytes_in_use(index))
