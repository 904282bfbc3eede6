"""Stopwatch: the time in which a process computes samples and references, which is not the plugin's."""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator, MutableSequence
from contextlib import contextmanager

# The seconds so far, and when the present ones began, or 0. A process that is watched shares them with its watcher.
_seconds: MutableSequence[float] = array("d", [0.0, 0.0])


def share(memory: MutableSequence[float]) -> None:
    """Keep the time in memory that another process reads by `read`."""
    global _seconds
    _seconds = memory


def read(memory: MutableSequence[float]) -> float:
    """The seconds so far, in memory that a process shares."""
    spent, begin = memory
    return spent + (time.monotonic() - begin if begin else 0.0)


@contextmanager
def stopped() -> Iterator[None]:
    """Count the time in the block as the kit's own."""
    if _seconds[1]:  # a sample that is computed by a reference
        yield
        return
    begin = _seconds[1] = time.monotonic()
    try:
        yield
    finally:
        _seconds[1] = 0.0
        _seconds[0] += time.monotonic() - begin
