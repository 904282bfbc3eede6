"""Take along: elements along the last axis, by their positions, and back."""

from __future__ import annotations

import math
from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.accumulation import accumulate


def take_along(xp: Any, values: Array, positions: Array) -> Array:
    """Elements of each row by their positions."""
    return xp.take_along_axis(values, positions, -1)


def add_along(xp: Any, values: Array, positions: Array, *, size: int) -> Array:
    """Zeros, to which the elements of each row are added at their positions."""
    count = math.prod(values.shape[:-1])
    is_half = values.dtype.itemsize == 2 and values.dtype.kind not in "iu"
    total = xp.zeros(count * size, "float32" if is_half else values.dtype)
    starts = size * xp.arange(count).reshape(*values.shape[:-1], 1)
    places = (positions + starts).reshape(-1)
    accumulate(xp, "add", total, places, values.reshape(-1).astype(total.dtype, copy=False))
    return total.astype(values.dtype, copy=False).reshape(*values.shape[:-1], size)
