"""Guarded memory: copies of arrays between two pages that nobody may touch, so that who leaves an array is found."""

from __future__ import annotations

import ctypes
import mmap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class _Pages:
    """Pages between two that nobody may touch."""

    def __init__(self, room: int) -> None:
        page = mmap.PAGESIZE
        # Private, so that a process that is forked has its own.
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self._memory = np.frombuffer(mmap.mmap(-1, room + 2 * page, flags=private), np.uint8)
        self.room, self._start = room, address_of(self._memory)
        for at in (self._start, self._start + page + room):
            if _libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(page), _NO_ACCESS):
                raise OSError(ctypes.get_errno(), "mprotect has failed")

    def copy_of(self, array: Array, is_first: bool) -> tuple[Array, int]:
        """A copy against the first of the two pages, or against the second; and its address."""
        if not array.flags.c_contiguous:
            raise TypeError(f"A kernel takes arrays that lie in one piece; got strides {array.strides}.")
        offset = mmap.PAGESIZE + (0 if is_first else self.room - array.nbytes)
        copy: Array = np.ndarray(array.shape, array.dtype, self._memory, offset)
        copy[...] = array
        return copy, self._start + offset


def address_of(array: Array) -> int:
    """Where an array's first element is."""
    address: int = array.__array_interface__["data"][0]
    return address


def guarded(array: Array, *, is_first: bool = False) -> Array:
    """A copy of an array between two pages that nobody may touch: against the second, or against the first."""
    copy, _ = _Pages(_room(array)).copy_of(array, is_first)
    return copy


@contextmanager
def guarded_for_a_while(arrays: Sequence[Array], *, is_first: bool) -> Iterator[list[tuple[Array, int]]]:
    """Copies like those of `guarded`, and their addresses; their pages are used again, which have to be made seldom."""
    pages = [_pages_for(array) for array in arrays]
    yield [its.copy_of(array, is_first) for its, array in zip(pages, arrays, strict=True)]
    for its in pages:
        if its.room <= _MOST_KEPT:
            _spare[its.room].append(its)


def _pages_for(array: Array) -> _Pages:
    """Pages of the right size, that no array uses."""
    try:
        return _spare[_room(array)].pop()
    except IndexError:
        return _Pages(_room(array))


def _room(array: Array) -> int:
    """The bytes of the pages that an array needs."""
    return -(-max(array.nbytes, 1) // mmap.PAGESIZE) * mmap.PAGESIZE


# Pages that no array uses now, by their bytes; and the most that are kept.
_spare: defaultdict[int, list[_Pages]] = defaultdict(list)
_MOST_KEPT = 1 << 16
_NO_ACCESS = 0  # PROT_NONE of <sys/mman.h>
_libc = ctypes.CDLL(None, use_errno=True)
