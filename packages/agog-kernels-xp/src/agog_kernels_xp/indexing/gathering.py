"""Gathering: parts of arrays, by their positions."""

from __future__ import annotations

import math
from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.accumulation import check_positions, row_numbers


def gather(xp: Any, params: Array, indices: Array, *, axis: int) -> Array:
    """Slices along an axis."""
    size = params.shape[axis]
    check_positions(xp, "gather", "indices", indices, size, f"params has shape {params.shape}, and the axis is {axis}")
    # A list of positions, because a single one would give a scalar in place of an array.
    rows = xp.take(params, indices.reshape(-1), axis)
    return rows.reshape((*params.shape[:axis], *indices.shape, *params.shape[axis + 1 :]))


def gather_nd(xp: Any, params: Array, indices: Array) -> Array:
    """Elements or slices at positions along several axes."""
    depth = indices.shape[-1]
    rows = row_numbers(xp, "gather_nd", indices, params.shape, "params of shape")
    joined = params.reshape((math.prod(params.shape[:depth]), *params.shape[depth:]))
    return xp.take(joined, rows, 0).reshape((*indices.shape[:-1], *params.shape[depth:]))
