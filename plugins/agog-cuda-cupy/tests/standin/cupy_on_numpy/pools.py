"""Pools: how much memory arrays hold, which blocks are kept for later ones, and a limit.

A kept block serves what is as large as it; CuPy's are split and joined again. As with CuPy, what the limit refuses is
refused at once, even where kept blocks could be given back.
"""

from __future__ import annotations

import threading
import weakref
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from cupy_on_numpy.cuda_devices import current

_UNIT = 512  # bytes, of which CuPy's pool hands out multiples
_used: Counter[int] = Counter()
_kept: defaultdict[int, Counter[int]] = defaultdict(Counter)  # how many blocks of each size
_limit: Counter[int] = Counter()
_lock = threading.RLock()  # an array may be collected while its thread makes another one


class OutOfMemoryError(MemoryError):
    """More memory is asked for than the limit leaves."""

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        super().__init__(
            f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes, limit set to: {limit:,} "
            "bytes)."
        )


class Block(NamedTuple):
    """Memory of the pool: of which device, and how many bytes."""

    device: int
    size: int


def _take(index: int, size: int) -> Block:
    """Count bytes as used, of a block that is kept if one is as large."""
    rounded = -(-size // _UNIT) * _UNIT
    with _lock:
        if _kept[index][rounded]:
            _kept[index][rounded] -= 1
        elif _limit[index] and rounded:
            total = _used[index] + _kept_bytes(index)
            if total + rounded > _limit[index]:
                raise OutOfMemoryError(rounded, total, _limit[index])
        _used[index] += rounded
    return Block(index, rounded)


def _kept_bytes(index: int) -> int:
    return sum(size * count for size, count in list(_kept[index].items()))  # meanwhile arrays may be collected


def give_back(block: Block, lock: Any = _lock, used: Any = _used, kept: Any = _kept) -> None:
    """Keep a block that an array has let go of; it runs still when the interpreter ends."""
    if block.size:
        with lock:
            used[block.device] -= block.size
            kept[block.device][block.size] += 1


class MemoryPool:
    """The pool of the current device."""

    def malloc(self, size: int) -> Block:
        """Memory for an array."""
        return _take(current(), size)

    def used_bytes(self) -> int:
        """What arrays hold."""
        return _used[current()]

    def total_bytes(self) -> int:
        """That, and what is kept."""
        return _used[current()] + _kept_bytes(current())

    def free_bytes(self) -> int:
        """What is kept."""
        return _kept_bytes(current())

    def free_all_blocks(self, stream: Any = None) -> None:
        """Give back what is kept."""
        with _lock:
            _kept[current()].clear()

    def get_limit(self) -> int:
        """The limit; 0 where there is none."""
        return _limit[current()]

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Set the limit."""
        _limit[current()] = size or 0


Allocator = Callable[[int], Block]

pool = MemoryPool()
"""The one that arrays take memory of."""
_allocator: Allocator = pool.malloc


def set_allocator(allocator: Allocator | None = None) -> None:
    """Choose where arrays take memory from, in all threads."""
    global _allocator
    _allocator = pool.malloc if allocator is None else allocator


def get_allocator() -> Allocator:
    """Where arrays take memory from."""
    return _allocator


def alloc(size: int) -> Block:
    """Memory for an array of the current device."""
    return _allocator(size)


class PinnedMemoryPool:
    """The pool of pinned host memory, which keeps nothing."""

    def free_all_blocks(self) -> None:
        """Give back what is kept."""


# Where pinned memory is that arrays hold: its ends by its starts.
_pinned: dict[int, int] = {}


def empty_pinned(shape: Any, dtype: Any = float, order: str = "C") -> np.ndarray[Any, Any]:
    """Host memory; noise, as nothing is written to it."""
    host: np.ndarray[Any, Any] = np.empty(shape, dtype, order)  # type: ignore[call-overload]
    host.reshape(-1).view(np.uint8).fill(0xA5)
    start = host.ctypes.data
    _pinned[start] = start + host.nbytes
    weakref.finalize(host, _pinned.pop, start, None)
    return host


def is_memory_pinned(data: int) -> bool:
    """Whether an address is of pinned memory."""
    return any(start <= data < end for start, end in list(_pinned.items()))
