"""Pieces: blocks of large arrays that fit into the processor's caches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from agog_kernels_xp.arrays import Array

PIECE = 1 << 17
"""Elements at a time. Steps of Adam on 200,000 elements took 5 % longer at half the size, and 24 % at an eighth."""


def scalars(xp: Any, array: Array, *values: float) -> tuple[Any, ...]:
    """Numbers to compute with, for an array's pieces: in NumPy arrays of rank 0, which nobody may change. NumPy
    converts a Python number at each operation, which takes as long as the operation itself on a small array.
    """
    if xp.__name__ != "numpy":
        return values
    try:
        return _scalars(xp, "f4" if array.dtype.itemsize == 2 else array.dtype.char, values)
    except TypeError:  # a number that stands for those of later runs of a traced function
        return values


def scalar(xp: Any, array: Array, value: float) -> Any:
    """A number of an array's dtype to compute with."""
    try:
        return array.dtype.type(value)
    except TypeError:  # as in `scalars`
        return xp.asarray(value, array.dtype)


@lru_cache(maxsize=8)  # the variables of a model share their hyperparameters
def _scalars(xp: Any, dtype: str, values: tuple[float, ...]) -> tuple[Array, ...]:
    return tuple(xp.asarray(value, dtype) for value in values)


def pieces(xp: Any, arrays: tuple[Array, ...], temporaries: int) -> Iterable[tuple[Array, ...]]:
    """For each piece of arrays of one shape, of which all but the last are updated in place: that of each array, then
    temporaries. Half precision is computed in float32, and rounded once.
    """
    first = arrays[0]
    if first.dtype.itemsize == 2:
        return _widened(xp, arrays, temporaries)
    if first.size <= PIECE:
        return ((*arrays, *[xp.empty_like(first) for _ in range(temporaries)]),)
    return _with_temporaries(xp, arrays, temporaries)


def _widened(xp: Any, arrays: tuple[Array, ...], temporaries: int) -> Iterator[tuple[Array, ...]]:
    for piece in _split(xp, arrays):
        exact = [array.astype("float32") for array in piece]
        yield (*exact, *[xp.empty_like(exact[0]) for _ in range(temporaries)])
        for array, result in zip(piece[:-1], exact, strict=False):
            array[...] = result


def _with_temporaries(xp: Any, arrays: tuple[Array, ...], temporaries: int) -> Iterator[tuple[Array, ...]]:
    scratch: list[Array] = []
    for piece in _split(xp, arrays):
        if not scratch or scratch[0].size != piece[0].size:
            scratch = [xp.empty_like(piece[0]) for _ in range(temporaries)]
        yield (*piece, *scratch)


def _split(xp: Any, arrays: tuple[Array, ...]) -> Iterator[tuple[Array, ...]]:
    size = arrays[0].size
    # In the memory of a device pieces gain nothing, and what records a kernel makes other loops of it.
    if size <= PIECE or xp.__name__ != "numpy" or hasattr(xp, "is_recording"):
        yield arrays
        return
    flat = [array.reshape(-1) for array in arrays]
    for start in range(0, size, PIECE):
        yield tuple([array[start : start + PIECE] for array in flat])
