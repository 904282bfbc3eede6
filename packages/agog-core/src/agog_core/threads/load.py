"""Threads: as many of OpenBLAS's as find a processor of their own beside other programs.

OpenBLAS shares a product among its threads, which spin until the last is done. Where another program has the processor
of one, all others burn theirs until it is back, milliseconds in each product: steps of convolutions on two busy
processors took 10 to 20 times as long, and as much processor time, as with one thread.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

SETTINGS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
"""What OpenBLAS is told its number by: a number of the user's is kept."""

# Seconds between two looks at the processors, whose counters have steps of 10 ms; how much of a processor others may
# take before a thread leaves it to them; and after how many looks in a row that saw more room threads come back.
_PAUSE, _TOLERATED, _CALM = 0.2, 0.25, 10


class Pool(NamedTuple):
    """The threads of a BLAS: functions that say and set how many compute."""

    get: Callable[[], int]
    set: Callable[[int], object]


def openblas() -> Pool | None:
    """The pool of the OpenBLAS that NumPy computes with, if it does."""
    from numpy.linalg import _umath_linalg

    try:
        library = ctypes.CDLL(_umath_linalg.__file__)  # names are looked up in what it was linked with, too
    except OSError:
        return None
    for name in ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads"):
        if hasattr(library, name.format("set")):
            return Pool(getattr(library, name.format("get")), getattr(library, name.format("set")))
    return None


def granted(quota: str) -> int | None:
    """The processors that a cgroup grants in its file ``cpu.max``, as in ``"150000 100000"``; None without a limit."""
    allowed, _, period = quota.partition(" ")
    return None if allowed == "max" else max(1, math.ceil(int(allowed) / int(period)))


def used(counters: str, processors: set[int]) -> int:
    """The ticks that these processors have computed, from the text of ``/proc/stat``."""
    lines = [line.split() for line in counters.splitlines() if line.startswith("cpu")]
    own = [line[1:9] for line in lines if line[0][3:].isdigit() and int(line[0][3:]) in processors]
    return sum(
        sum(map(int, ticks)) - int(ticks[3]) - int(ticks[4]) for ticks in own
    )  # less idle, and waiting for disks


class Others:
    """How many processors other programs take, on average since it was last asked."""

    def __init__(self) -> None:
        self._processors = os.sched_getaffinity(0)
        self._tick = 1 / os.sysconf("SC_CLK_TCK")
        self._last = self._now()

    def __call__(self) -> float:
        before, self._last = self._last, self._now()
        wall, all_used, own = (now - then for now, then in zip(self._last, before, strict=True))
        return max(0.0, all_used - own) / wall if wall else 0.0

    def _now(self) -> tuple[float, float, float]:
        ticks = used(Path("/proc/stat").read_text(), self._processors)
        return time.perf_counter(), ticks * self._tick, time.process_time()


class Watch:
    """Lowers the number of a pool's threads at once where others need processors, and raises it when they are gone."""

    def __init__(self, pool: Pool, others: Callable[[], float]) -> None:
        self.pool, self.others = pool, others
        self.most = self.number = pool.get()
        self._calm = 0

    def look(self) -> bool:
        """Look once, and set the number; whether to go on: not where the program has set another number."""
        if self.pool.get() != self.number:
            return False
        room = max(1, self.most - math.ceil(self.others() - _TOLERATED))
        self._calm = self._calm + 1 if room > self.number else 0
        if room < self.number or self._calm == _CALM:
            self.number, self._calm = room, 0
            self.pool.set(room)
        return True


class _Watcher:
    """The thread that looks again and again; it is away while the process forks, as OpenBLAS's own threads are."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.start()
        os.register_at_fork(before=self.stop, after_in_parent=self.start, after_in_child=self.start)

    def start(self) -> None:
        self.watch.others()  # from now on: a process that was forked has its own clock
        self._end = Event()
        self._thread = Thread(target=self._run, name="agog-cpu-numpy", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(_PAUSE):
            if not self.watch.look():
                return


def leave_room_for_others() -> bool:
    """Keep OpenBLAS's threads from computing where others do, as long as the program runs; whether that is done.

    It is where the environment does not say a number, OpenBLAS has more than one thread, and Linux says what the
    processors do.
    """
    if not sys.platform.startswith("linux") or any(os.environ.get(name) for name in SETTINGS):
        return False
    pool = openblas()
    if pool is None or pool.get() < 2:
        return False
    try:
        others = Others()
    except (OSError, ValueError, IndexError):
        return False
    quota = Path("/sys/fs/cgroup/cpu.max")
    limit = granted(quota.read_text()) if quota.exists() else None
    if limit is not None and limit < pool.get():
        pool.set(limit)
    if pool.get() > 1:
        _Watcher(Watch(pool, others))
    return True
