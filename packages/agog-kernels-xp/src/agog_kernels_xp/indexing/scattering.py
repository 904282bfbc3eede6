"""Scattering: parts put at positions. `scatter_variable` updates its first array in place."""

from __future__ import annotations

import math
from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.accumulation import accumulate, row_numbers

_TARGETS = {
    "scatter_nd": "shape",
    "scatter_variable": "a variable of shape",
    "tensor_scatter_update": "a tensor of shape",
}


def scatter_nd(xp: Any, indices: Array, updates: Array, *, shape: tuple[int, ...]) -> Array:
    """Sums of updates at positions in zeros. Sums of half precision are in float32, so that they are rounded once."""
    is_half = updates.dtype.itemsize == 2 and updates.dtype.kind not in "iu"
    whole = xp.zeros(shape, "float32" if is_half else updates.dtype)
    _combine(xp, "scatter_nd", "add", whole, indices, updates.astype(whole.dtype, copy=False))
    return whole.astype(updates.dtype, copy=False)


def scatter_variable(xp: Any, variable: Array, indices: Array, updates: Array, *, operation: str) -> None:
    """Rows of a variable, replaced by or combined with updates."""
    _combine(xp, "scatter_variable", operation, variable, indices, updates)


def tensor_scatter_update(xp: Any, tensor: Array, indices: Array, updates: Array) -> Array:
    """A copy of an array, with some of its parts replaced."""
    whole = xp.array(tensor, order="C")
    _combine(xp, "tensor_scatter_update", "update", whole, indices, updates)
    return whole


def _combine(xp: Any, op: str, operation: str, whole: Array, indices: Array, updates: Array) -> None:
    depth = indices.shape[-1]
    rows = row_numbers(xp, op, indices, whole.shape, _TARGETS[op])
    target = whole.reshape(math.prod(whole.shape[:depth]), *whole.shape[depth:])
    values = xp.broadcast_to(updates, (*indices.shape[:-1], *whole.shape[depth:])).reshape(
        len(rows), *whole.shape[depth:]
    )
    if operation == "update":
        target[rows] = values
    else:
        accumulate(xp, operation, target, rows, values)
