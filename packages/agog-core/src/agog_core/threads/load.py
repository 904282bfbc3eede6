"""Load: the processors of this process, and what other programs take of them."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def processors() -> int:
    """How many processors this process may use at a time: those that it may run on, as far as a cgroup grants them."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        limit = granted(_QUOTA.read_text())
    except (OSError, ValueError):
        limit = None
    return own if limit is None else min(own, limit)


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
