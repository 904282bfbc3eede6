"""CUDA devices: two in number, their streams and events.

The null stream runs at once. Any other stream runs late: when an event on it is waited for, by the host or by the null
stream, so that who forgets to wait sees what was in memory before.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar, Self

from cupy_on_numpy.counting import wait
from cupy_on_numpy.faults import CUDARuntimeError

DEVICE_COUNT = 2
MEMORY = 16 << 30  # bytes of each
_thread = threading.local()
# Held while a stream gets or does work, so that no thread takes for done what another one is at.
_one_at_a_time = threading.RLock()


def current() -> int:
    """The device that this thread has set."""
    return getattr(_thread, "device", 0)


class Device:
    """A device, which a thread sets inside of a `with`."""

    def __init__(self, device: Any = None) -> None:
        self.id = current() if device is None else int(device)
        self._before: list[int] = []

    def __enter__(self) -> Self:
        self._before.append(current())
        self.use()
        return self

    def __exit__(self, *_: object) -> None:
        _thread.device = self._before.pop()

    def use(self) -> None:
        """Set it for the thread."""
        if not 0 <= self.id < DEVICE_COUNT:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        _thread.device = self.id

    @property
    def compute_capability(self) -> str:
        """Of no card."""
        return "00"

    @property
    def mem_info(self) -> tuple[int, int]:
        """The bytes that are free, here all, and all that there are."""
        return MEMORY, MEMORY

    def synchronize(self) -> None:
        """Wait for all streams."""
        wait("Device.synchronize")
        for stream in Stream._made:
            if stream.device_id in (-1, self.id):
                stream._run()

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    # With an order and no hash, as CuPy's, which therefore is no key of a dict.
    __hash__ = None  # type: ignore[assignment]


class Event:
    """A point in a stream's work."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        self._stream: Stream | None = None
        self._position = 0
        self._time: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Put the event behind what a stream has to do."""
        self._stream = get_current_stream() if stream is None else stream
        self._time = None
        self._position = self._stream._add(self._arrive)

    def _arrive(self) -> None:
        self._time = time.perf_counter()

    @property
    def done(self) -> bool:
        """Whether the event has come; the null stream is never behind."""
        if self._stream is Stream.null:
            self._stream._run(self._position)
        return self._time is not None

    def synchronize(self) -> None:
        """Wait for it."""
        wait("Event.synchronize")
        self._come()

    def _come(self) -> None:
        """Do the work before it, without a wait of the host."""
        if self._stream is not None:
            self._stream._run(self._position)


class Stream:
    """Work of a device in order."""

    null: ClassVar[Stream]
    _made: ClassVar[list[Stream]] = []

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: int = 0) -> None:
        self.device_id = -1 if null else current()
        self.is_non_blocking = non_blocking
        self.ptr = 0 if null else id(self)
        self._work: list[Callable[[], None]] = []
        self._done = 0
        Stream._made.append(self)

    def __enter__(self) -> Self:
        if self.device_id not in (-1, current()):
            raise RuntimeError(
                f"The device that the stream is created on ({self.device_id}) does not match with the current device "
                f"({current()})"
            )
        _thread.streams = [*_streams(), self]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        _thread.streams = _streams()[:-1]

    def _add(self, work: Callable[[], None]) -> int:
        """Put work behind all earlier work; returns its number."""
        with _one_at_a_time:
            self._work.append(work)
            return self._done + len(self._work)

    def _run(self, until: int | None = None) -> None:
        """Do all work, or that up to a number."""
        with _one_at_a_time:
            while self._work and (until is None or self._done < until):
                work = self._work.pop(0)
                self._done += 1
                work()

    def record(self, event: Event | None = None) -> Event:
        """Record an event, a new one unless one is given."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let later work on this stream wait for an event."""
        if self is Stream.null:
            event._come()
        else:
            self._add(event._come)

    def synchronize(self) -> None:
        """Wait for all work."""
        wait("Stream.synchronize")
        self._run()

    @property
    def done(self) -> bool:
        """Whether there is no work left."""
        return not self._work


Stream.null = Stream(null=True)


def _streams() -> list[Stream]:
    return getattr(_thread, "streams", [])


def get_current_stream(device_id: int = -1) -> Stream:
    """The stream that this thread has set."""
    return _streams()[-1] if _streams() else Stream.null


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two events that have come."""
    if start_event._time is None or end_event._time is None:
        raise CUDARuntimeError("cudaErrorNotReady: device not ready")
    return (end_event._time - start_event._time) * 1000
