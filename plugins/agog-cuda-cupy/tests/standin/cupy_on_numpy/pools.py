"""Pools: how much memory arrays hold, what is kept for later ones, and a limit."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import numpy as np
from cupy_on_numpy.cuda_devices import current

_UNIT = 512  # bytes, of which CuPy's pool hands out multiples
_used: Counter[int] = Counter()
_kept: Counter[int] = Counter()
_limit: Counter[int] = Counter()
_lock = threading.RLock()  # an array may be collected while its thread makes another one


class OutOfMemoryError(MemoryError):
    """More memory is asked for than the limit leaves."""

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        super().__init__(
            f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes, limit set to: {limit:,} "
            "bytes)."
        )


def take(index: int, size: int) -> int:
    """Count bytes as used, of what is kept first; returns how many it were."""
    rounded = -(-size // _UNIT) * _UNIT
    with _lock:
        kept = min(_kept[index], rounded)
        if _limit[index] and _used[index] + _kept[index] + rounded - kept > _limit[index]:
            _kept[index] = kept = 0  # CuPy gives back what it keeps before it raises
            if _used[index] + rounded > _limit[index]:
                raise OutOfMemoryError(rounded, _used[index], _limit[index])
        _kept[index] -= kept
        _used[index] += rounded
    return rounded


def give_back(index: int, rounded: int, lock: Any = _lock, used: Any = _used, kept: Any = _kept) -> None:
    """Keep bytes that an array has let go of; it runs still when the interpreter ends."""
    with lock:
        used[index] -= rounded
        kept[index] += rounded


class MemoryPool:
    """The pool of the current device."""

    def used_bytes(self) -> int:
        """What arrays hold."""
        return _used[current()]

    def total_bytes(self) -> int:
        """That, and what is kept."""
        return _used[current()] + _kept[current()]

    def free_bytes(self) -> int:
        """What is kept."""
        return _kept[current()]

    def free_all_blocks(self, stream: Any = None) -> None:
        """Give back what is kept."""
        _kept[current()] = 0

    def get_limit(self) -> int:
        """The limit; 0 where there is none."""
        return _limit[current()]

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Set the limit."""
        _limit[current()] = size or 0


class PinnedMemoryPool:
    """The pool of pinned host memory, which keeps nothing."""

    def free_all_blocks(self) -> None:
        """Give back what is kept."""


def empty_pinned(shape: Any, dtype: Any = float, order: str = "C") -> np.ndarray[Any, Any]:
    """Host memory; noise, as nothing is written to it."""
    host = np.empty(shape, dtype, order)  # type: ignore[call-overload]
    host.reshape(-1).view(np.uint8).fill(0xA5)
    return host  # type: ignore[no-any-return]
