"""Clock: how much of its time a process has used, however busy the machine is."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

_PROCESSES = Path("/proc")
# A process that gets less of the processor, and is not even in line for it, waits for something else.
_LEAST_SHARE = 0.1
# References take as long as they take; but a plugin brings some too, and one of them may hang.
_WEIGHT_OF_REFERENCES = 0.1


class Clock:
    """The time that a process is charged: that of the processor where it computes, all of it where it waits.

    Args:
        pid: the process.
        reference_seconds: gives the time in which it has computed references, which weighs less.
    """

    def __init__(self, pid: int, reference_seconds: Callable[[], float]) -> None:
        self._pid = pid
        self._reference_seconds = reference_seconds
        self.restart()

    def restart(self) -> None:
        """Charge from now on."""
        self.clear()
        self._last = self._readings()

    def clear(self) -> None:
        """Forget what has been charged."""
        self._charged = 0.0

    def read(self) -> float:
        """The seconds charged so far. Call it often: since the last call, the process has either waited or not."""
        before, self._last = self._last, self._readings()
        passed, computed, in_references = (now - then for now, then in zip(self._last, before, strict=True))
        if passed:
            waits = computed < _LEAST_SHARE * passed and not _is_in_line(self._pid)
            used = passed if waits else min(passed, computed)
            self._charged += used * (1 - (1 - _WEIGHT_OF_REFERENCES) * min(1.0, in_references / passed))
        return self._charged

    def _readings(self) -> tuple[float, float, float]:
        now = time.monotonic()
        return now, _processor_seconds(self._pid, now), self._reference_seconds()


def _processor_seconds(pid: int, otherwise: float) -> float:
    """The processor's time that a process has had, with its threads; or another time, where nobody knows."""
    try:
        fields = _fields(_PROCESSES / str(pid))
    except OSError:
        return otherwise
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _is_in_line(pid: int) -> bool:
    """Whether a thread of a process runs, or would if a processor were free."""
    try:
        return any(_fields(thread)[0] == "R" for thread in (_PROCESSES / str(pid) / "task").iterdir())
    except OSError:
        return False


def _fields(folder: Path) -> list[str]:
    """What Linux says of a process or thread, from its state on."""
    return (folder / "stat").read_text().rpartition(")")[2].split()
