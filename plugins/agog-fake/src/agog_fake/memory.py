"""Memory: the bytes in use on each device, and the contents of fresh memory."""

from __future__ import annotations

from collections import Counter
from threading import RLock
from typing import Any

import numpy as np

# The bytes that arrays hold on each device.
_in_use: Counter[int] = Counter()
# The most that they ever held.
_peak: Counter[int] = Counter()
# The most that they may hold, where there is a limit.
_limit: dict[int, int] = {}
_lock = RLock()  # an array may be collected while its thread makes another one


class OutOfFakeMemory(Exception):
    """The arrays of a device would hold more than its limit."""


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Memory that nothing has been written to: who reads it too early sees noise and no zeros."""
    memory = np.empty(shape, dtype)
    if not dtype.hasobject:
        memory.reshape(-1).view(np.uint8).fill(0xA5)
    return memory


def reserve(index: int, size: int) -> None:
    """Count bytes as used, or raise where they are too many."""
    with _lock:
        in_use, limit = _in_use[index], _limit.get(index)
        if limit is not None and in_use + size > limit:
            raise OutOfFakeMemory(
                f"fake:{index} is out of memory: {size} bytes more than the {in_use} in use exceed the limit {limit}."
            )
        _in_use[index] += size
        _peak[index] = max(_peak[index], _in_use[index])


def give_back(index: int, size: int, lock: Any = _lock, in_use: Counter[int] = _in_use) -> None:
    """Count bytes as free; it runs still when the interpreter ends and the module's names are gone."""
    with lock:
        in_use[index] -= size


def usage(index: int) -> tuple[int, int, int | None]:
    """The bytes in use, the most that ever were, and the limit."""
    with _lock:
        return _in_use[index], _peak[index], _limit.get(index)


def set_limit(index: int, size: int | None) -> None:
    """Limit what the arrays of a device may hold; None takes the limit away."""
    with _lock:
        _limit.pop(index, None)
        if size is not None:
            _limit[index] = size
