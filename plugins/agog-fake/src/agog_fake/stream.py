"""Stream: the work of one device, in order. It runs late: when somebody waits for it, or when much of it has gathered.

A kernel returns before it has run, as on a GPU. Whatever reads memory without waiting, writes a host array that is
still to be copied, or counts on an error at once, is found out. No thread of its own runs the work, so that every run
of a program is the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock, current_thread, local
from time import perf_counter
from typing import Any

import numpy as np

from agog_core.plugin import InvalidArgumentError

Work = Callable[[], Any]
DEVICE_COUNT = 2
# How many pieces of work gather before they run unasked.
LENGTH = 100

# Held while work is added or run; one for all streams, because a copy waits for another device's.
_lock = RLock()
# Which device each thread has set.
_thread = local()


class Stream:
    """The work of one device.

    Args:
        index: the device.
    """

    def __init__(self, index: int) -> None:
        self.index = index
        self.seconds = 0.0  # that the device has worked
        self._waiting: deque[tuple[str, Work]] = deque()
        self._added = self._done = 0
        self._invalid: str | None = None
        self._fault: Exception | None = None

    def add(self, name: str, work: Work) -> int:
        """Put work behind all earlier work; returns its number, for `run`."""
        self._check_thread(name)
        with _lock:
            self._waiting.append((name, work))
            self._added += 1
            number = self._added
            if len(self._waiting) > LENGTH:
                self._run(number)
        return number

    def now(self, name: str, work: Callable[[], Any]) -> Any:
        """Do all earlier work and then this, and give its result or error."""
        self._check_thread(name)
        with _lock:
            self.run()
            with np.errstate(all="ignore"):
                return work()

    def run(self, until: int | None = None) -> None:
        """Wait for all work, or for that up to a number."""
        with _lock:
            self._run(self._added if until is None else until)
            fault, self._fault = self._fault, None
        if fault is not None:
            raise fault

    def invalid(self) -> str | None:
        """What was wrong with values that a kernel has found to be invalid since somebody asked last."""
        with _lock:
            self._run(self._added)
            text, self._invalid = self._invalid, None
        return text

    def _run(self, until: int) -> None:
        if self._done < until:
            with np.errstate(all="ignore"):
                self._work(until)

    def _work(self, until: int) -> None:
        while self._done < until:
            name, work = self._waiting.popleft()
            self._done += 1
            start = perf_counter()
            try:
                work()
            except InvalidArgumentError as error:
                self._invalid = self._invalid or str(error)
            except Exception as error:
                # After a first error the values are not worth much, and may lead to others.
                if self._invalid is None and self._fault is None:
                    error.add_note(f"fake:{self.index} ran {name} late; it was asked to earlier.")
                    self._fault = error
            self.seconds += perf_counter() - start

    def _check_thread(self, name: str) -> None:
        device = getattr(_thread, "index", None)
        if device != self.index:
            has_set = "no device" if device is None else f"fake:{device}"
            raise RuntimeError(
                f"{name}: thread {current_thread().name!r} gives work to fake:{self.index}, and has set {has_set}; a "
                "thread sets the device first, as the kernels do that Backend.bind returns."
            )


streams = tuple(Stream(index) for index in range(DEVICE_COUNT))
"""The stream of each device."""


@contextmanager
def on(index: int) -> Iterator[Stream]:
    """Set the device of this thread inside."""
    before: Any = getattr(_thread, "index", None)
    _thread.index = index
    try:
        yield streams[index]
    finally:
        _thread.index = before
