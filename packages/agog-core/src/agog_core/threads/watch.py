"""Watch: takes threads away where other programs need their processors, and gives them back when these are gone.

The threads of OpenBLAS and OpenMP spin until the last one is done. Where another program has the processor of one, all
others burn theirs until it is back, milliseconds in each product: steps of convolutions on two busy processors took 10
to 20 times as long, and as much processor time, as with one thread.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from threading import Event, Thread

from agog_core.threads.load import Others, processors
from agog_core.threads.number import lock, number, of_environment, tell

# Seconds between two looks at the processors, whose counters have steps of 10 ms; how much of a processor others may
# take before a thread leaves it to them; and after how many looks in a row that saw more room threads come back.
_PAUSE, _TOLERATED, _CALM = 0.2, 0.25, 10


class Watch:
    """How many of so many processors other programs leave, as it finds by looking again and again."""

    def __init__(self, most: int, others: Callable[[], float]) -> None:
        self.most = self.free = most
        self.others = others
        self._calm = 0

    def look(self) -> int:
        """Look once: the processors that are free from now on."""
        room = max(1, self.most - math.ceil(self.others() - _TOLERATED))
        self._calm = self._calm + 1 if room > self.free else 0
        if room < self.free or self._calm == _CALM:
            self.free, self._calm = room, 0
        return self.free


class _Watcher:
    """The thread that looks; it is away while the process forks, as the threads of pools are."""

    def __init__(self) -> None:
        self._end = Event()
        self._thread: Thread | None = None
        self._is_wanted = False
        os.register_at_fork(before=self._stop, after_in_parent=self._go_on, after_in_child=self._go_on)

    def start(self) -> None:
        """Look from now on, where the environment says no number and Linux says what the processors do."""
        with lock:
            self._is_wanted = True
            if self._thread is not None or of_environment() is not None or (most := processors()) < 2:
                return
            try:
                watch = Watch(most, Others())
            except (OSError, ValueError, IndexError):
                return
            self._end = Event()
            self._thread = Thread(target=_look_on, args=(watch, self._end), name="agog-threads", daemon=True)
            self._thread.start()

    def _stop(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._end.set()
            thread.join()

    def _go_on(self) -> None:
        if self._is_wanted:
            self.start()


def _look_on(watch: Watch, end: Event) -> None:
    while not end.wait(_PAUSE):
        free = watch.look()
        with lock:
            if free != number.free and not end.is_set():
                number.free = free
                tell()


_watcher = _Watcher() if sys.platform.startswith("linux") else None


def watch_processors() -> None:
    """Keep threads from computing where other programs do."""
    if _watcher is not None:
        _watcher.start()
