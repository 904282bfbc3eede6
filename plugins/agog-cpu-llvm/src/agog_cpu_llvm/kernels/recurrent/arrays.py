"""Arrays: how the arrays of a call are laid out for compiled code, where units lie in groups of a vector's lanes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

Array = Any

_LINE = 64


def aligned(shape: Sequence[int], dtype: Any) -> Array:
    """An array at a line of the cache, with any content."""
    size = np.dtype(dtype).itemsize * prod(shape)
    memory = np.empty(size + _LINE, np.uint8)
    begin = -memory.ctypes.data % _LINE
    return memory[begin : begin + size].view(dtype).reshape(shape)


def grouped(matrix: Array, gates: int, lanes: int) -> Array:
    """A kernel of shape (rows, gates * units) in panels of shape (groups, rows, gates, lanes), zero where units end."""
    rows, units = len(matrix), matrix.shape[1] // gates
    padded = _padded(matrix.reshape(rows, gates, units), 2, lanes)
    panels = aligned((padded.shape[2] // lanes, rows, gates, lanes), matrix.dtype)
    panels[...] = padded.reshape(rows, gates, -1, lanes).transpose(2, 0, 1, 3)
    return panels


def turned(matrix: Array, gates: int, lanes: int, columns: int) -> Array:
    """The transpose of a kernel, whose rows lie as columns of `grouped` do, in panels of some columns."""
    padded = _padded(_padded(matrix.reshape(len(matrix), gates, -1), 2, lanes), 0, columns)
    rows, _, units = padded.shape
    panels = aligned((rows // columns, units // lanes, gates, lanes, columns), matrix.dtype)
    panels[...] = padded.reshape(rows // columns, columns, gates, -1, lanes).transpose(0, 3, 2, 4, 1)
    return panels


def in_groups(matrix: Array, lanes: int) -> Array:
    """Rows of units as vectors of shape (groups, rows, lanes), zero where units end: a copy."""
    return _padded(matrix, 1, lanes).reshape(len(matrix), -1, lanes).transpose(1, 0, 2).copy()


def out_of_groups(vectors: Array, units: int) -> Array:
    """Vectors of shape (groups, rows, lanes) as rows of units: a copy."""
    groups, rows, lanes = vectors.shape
    return np.array(vectors.transpose(1, 0, 2).reshape(rows, groups * lanes)[:, :units], order="C")


def wide(array: Array) -> Array:
    """The array in the dtype that it is computed in, with elements along the last axis that are neighbours."""
    array = array.astype(np.float32) if array.itemsize == 2 else array
    return array if array.strides[-1] == array.itemsize else np.ascontiguousarray(array)


def with_features(x: Array, kernel: Array) -> tuple[Array, Array]:
    """Inputs and their kernel; where there are no features, with one that is 0."""
    if x.shape[2]:
        return x, kernel
    return np.zeros((*x.shape[:2], 1), x.dtype), np.zeros((1, kernel.shape[1]), kernel.dtype)


def mask_words(mask: Array) -> dict[str, Any]:
    """The words of a mask of shape (times, batch); without elements, it is True everywhere."""
    if not mask.size:
        return {"mask": np.ones(1, bool), "mask_time": 0, "mask_row": 0}
    return {"mask": np.ascontiguousarray(mask), "mask_time": mask.shape[1], "mask_row": 1}


def step_words(name: str, array: Array) -> dict[str, Any]:
    """The words of an array of shape (times, batch, ...): its address and steps."""
    time, row, _ = array.strides
    return {name: array, f"{name}_time": time // array.itemsize, f"{name}_row": row // array.itemsize}


def in_order(names: Sequence[str], words: dict[str, Any]) -> list[int]:
    """Words in the order of names: numbers, and the addresses of arrays, which is 0 for None."""
    given = [words[name] for name in names]
    return [word if isinstance(word, int) else 0 if word is None else word.ctypes.data for word in given]


def set_times(names: Sequence[str], words: list[int], start: int, times: int) -> None:
    """Write which times are meant into words that are in the order of names."""
    words[names.index("start")], words[names.index("times")] = start, times


def _padded(array: Array, axis: int, multiple: int) -> Array:
    """The array with zeros behind an axis, up to a multiple of a size."""
    lacks = -array.shape[axis] % multiple
    if not lacks:
        return array
    shape = list(array.shape)
    shape[axis] = lacks
    return np.concatenate([array, np.zeros(shape, array.dtype)], axis)
