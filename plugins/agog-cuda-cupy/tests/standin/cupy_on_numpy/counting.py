"""Counting: how often a device would be waited for, given values by the host, and given kernels to run; and where.

Each is counted by what it was and by the line that asked for it: the first outside of the stand-in, and of what helps
to launch.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from cupy_on_numpy import faults

INSIDE = (str(Path(__file__).parent), "agog_cuda_cupy/cuda/modules.py")

waits: Counter[str] = Counter()
"""Waits for a device, such as ``"bool(array) at losses.py:47"``."""
uploads: Counter[str] = Counter()
"""Values of the host that become arrays of a device."""
launches: Counter[str] = Counter()
"""Kernels that a device would run."""

_thread = threading.local()


class DeviceSynchronized(RuntimeError):
    """A wait where `allow_synchronize` forbids it; under the name that CuPy's own has."""


def wait(what: str) -> None:
    """Count a wait, or refuse it."""
    text = f"{what} at {_place()}"
    waits[text] += 1
    _refuse(text)
    faults.check()


def refuse(what: str) -> None:
    """Raise where `allow_synchronize` forbids waits; nothing is waited for."""
    _refuse(f"{what} at {_place()}")


def _refuse(text: str) -> None:
    if getattr(_thread, "is_forbidden", False):
        raise DeviceSynchronized(text)


def upload(what: str) -> None:
    """Count values that go to a device."""
    uploads[f"{what} at {_place()}"] += 1


def launch(name: str) -> None:
    """Count a kernel."""
    faults.check(is_launch=True)
    launches[f"{name} at {_place()}"] += 1
    faults.run(name)


def reset() -> None:
    """Count from zero again."""
    for counter in (waits, uploads, launches):
        counter.clear()


@contextmanager
def allow_synchronize(allow: bool) -> Iterator[None]:
    """Whether this thread may wait inside; as CuPy's own."""
    before, _thread.is_forbidden = getattr(_thread, "is_forbidden", False), not allow
    try:
        yield
    finally:
        _thread.is_forbidden = before


def _place() -> str:
    frame = sys._getframe(2)
    while frame.f_back is not None and _is_inside(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{frame.f_code.co_filename.rsplit('/', 1)[-1]}:{frame.f_lineno}"


@cache
def _is_inside(file: str) -> bool:
    return any(part in file for part in INSIDE)
