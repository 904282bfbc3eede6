"""Backend: copies to and from the fake devices, counted, and the other functions of a backend."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from agog_core.plugin import MemoryStats, ResourceExhaustedError
from agog_fake.array import FakeArray
from agog_fake.memory import OutOfFakeMemory, empty, set_limit, usage
from agog_fake.stream import DEVICE_COUNT, on, streams


class Copies(NamedTuple):
    """How many arrays were copied between the host and the fake devices, and from one fake device to another."""

    from_host: int = 0
    to_host: int = 0
    between: int = 0


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
    Copies(from_host=0, to_host=0, between=0)
    >>> y.numpy().tolist(), copies()
    ([1.0, 4.0], Copies(from_host=0, to_host=1, between=0))
    """
    return _copies


def reset_copies() -> None:
    """Count from zero again."""
    global _copies
    with _lock:
        _copies = Copies()


def _count(from_host: int = 0, to_host: int = 0, between: int = 0) -> None:
    global _copies
    with _lock:
        _copies = Copies(_copies.from_host + from_host, _copies.to_host + to_host, _copies.between + between)


def from_host(host: np.ndarray[Any, Any], index: int) -> FakeArray:
    """Copy a host array to a device, when the device comes to it."""
    _count(from_host=1)
    memory = empty(host.shape, host.dtype)
    with on(index) as stream:
        stream.add("from_host", lambda: np.copyto(memory, host))
    return FakeArray(memory, index)


def to_host(array: FakeArray) -> np.ndarray[Any, Any]:
    """Copy an array to the host, once all work that may write it is done."""
    _count(to_host=1)
    streams[array.index].run()
    return array.memory.copy()


def copy(array: FakeArray) -> FakeArray:
    """A copy on the same device."""
    source, memory = array.memory, empty(array.shape, array.dtype)
    with on(array.index) as stream:
        stream.add("copy", lambda: np.copyto(memory, source))
    return FakeArray(memory, array.index)


def copy_from(array: FakeArray, source_index: int, index: int) -> FakeArray:
    """A copy on another device, whose stream waits for what the first one has to do until now."""
    _count(between=1)
    source, memory = array.memory, empty(array.shape, array.dtype)
    with on(source_index) as giving:
        event = giving.add("event", lambda: None)

    def move() -> None:
        giving.run(event)
        np.copyto(memory, source)

    with on(index) as taking:
        taking.add("copy_from", move)
    return FakeArray(memory, index)


def base(array: FakeArray) -> FakeArray:
    """The array that owns the memory of a view."""
    return array if array.base is None else array.base


def synchronize(index: int) -> None:
    """Wait for all work of a device."""
    streams[index].run()


def pending_error(index: int) -> str | None:
    """What gather or a loss has found wrong with indices or labels since somebody asked last."""
    return streams[index].invalid()


def timer(index: int) -> Callable[[], float]:
    """A clock that counts the time in which the device works on what it is given from now on."""
    streams[index].run()
    start = streams[index].seconds

    def stop() -> float:
        streams[index].run()
        return streams[index].seconds - start

    return stop


def bind(kernel: Callable[..., Any], op: str, dtype: str, index: int) -> Callable[..., Any]:
    """The kernel, for a thread that may have set another device or none."""

    def run(*arrays: FakeArray, **attributes: Any) -> Any:
        with on(index):
            return kernel(*arrays, **attributes)

    run.__wrapped__ = kernel  # type: ignore[attr-defined]  # for those who name kernels in errors
    return run


def memory_stats(index: int) -> MemoryStats:
    """What arrays hold, the most that they held, and the limit."""
    in_use, peak, limit = usage(index)
    return MemoryStats(in_use=in_use, peak=peak, reserved=in_use, limit=limit)


def set_memory_limit(index: int, size: int | None) -> None:
    """Limit what arrays may hold."""
    set_limit(index, size)


def translate(error: Exception) -> Exception | None:
    """An error of agog in place of one that only this plugin knows."""
    return ResourceExhaustedError(str(error)) if isinstance(error, OutOfFakeMemory) else None


def device_count() -> int:
    """Two: what is on the one is not on the other."""
    return DEVICE_COUNT
