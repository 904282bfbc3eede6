"""Allocator: the C library's, told to keep large buffers for the next array, and arrays that begin at cache lines."""

from __future__ import annotations

import ctypes
import os
import sys
from math import prod
from typing import Any

import numpy as np

# mallopt's parameters in <malloc.h>.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3

# The bytes of a cache line, which are also those of the widest registers; and from how many on an array begins at one.
_LINE, LARGE = 64, 1 << 12

# Where an array of C has the address of its elements: NumPy's binary interface says, after the head of any object.
_DATA = object.__basicsize__


class _Block(np.ndarray[Any, Any]):
    """Memory with an array in it. NumPy's views then hold that array, and not the block, so references to it tell
    whether anybody sees its memory."""


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A C-contiguous array of any numbers, with memory of its own; where it is large, from a cache line on.

    The C library hands out memory 16 bytes behind one, where additions of 100 KiB take twice as long, and a convolution
    with such a filter 14 % longer.
    """
    size = prod(shape) * dtype.itemsize
    if size < LARGE or dtype.hasobject:
        return np.empty(shape, dtype)
    block = np.ndarray.__new__(_Block, size + _LINE - 1, np.uint8)
    address = ctypes.c_void_p.from_address(id(block) + _DATA).value or 0  # asking the block takes ten times as long
    return np.ndarray(shape, dtype, block, -address % _LINE)


def free_cached(index: int) -> None:
    """Give memory back to the system that no array holds; glibc alone can be asked for that."""
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def keep_large_buffers() -> bool:
    """Tell glibc to take the memory of large arrays from its heap and to keep it there; whether it took the settings.

    By default it asks the kernel for fresh pages for every array above 32 MiB at most, and gives them back at once:
    with arrays of 1 to 100 MB that takes as long as the computation itself. The environment variable
    ``AGOG_MALLOPT=0`` leaves the allocator alone.
    """
    if os.environ.get("AGOG_MALLOPT") == "0" or not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    settings = ((_MMAP_THRESHOLD, 1 << 30), (_TRIM_THRESHOLD, (1 << 31) - 1), (_TOP_PAD, 64 << 20))
    return all(mallopt(parameter, value) == 1 for parameter, value in settings)
