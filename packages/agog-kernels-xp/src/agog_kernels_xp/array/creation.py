"""Creation: arrays of given or evenly spaced values."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def fill(xp: Any, *, shape: tuple[int, ...], value: Any, dtype: Any, index: int) -> Array:
    """An array of one value."""
    return xp.full(shape, value, dtype)


def range(xp: Any, *, start: Any, delta: Any, count: int, dtype: Any, index: int) -> Array:
    """Evenly spaced numbers. They are computed in float64 or int64, so that they do not drift."""
    kind = "float64" if isinstance(start, float) or isinstance(delta, float) else "int64"
    return (start + xp.arange(count, dtype=kind) * delta).astype(dtype)


def linspace(xp: Any, *, start: float, stop: float, num: int, dtype: Any, index: int) -> Array:
    """Evenly spaced numbers with both ends, computed in float64."""
    return xp.linspace(start, stop, num, dtype="float64").astype(dtype)


def one_hot(xp: Any, indices: Array, *, depth: int, on_value: Any, off_value: Any, axis: int, dtype: Any) -> Array:
    """Vectors that are on at an index."""
    positions = xp.arange(depth, dtype="int64").reshape(depth, *(1,) * (indices.ndim - axis))
    is_on = xp.expand_dims(indices, axis) == positions
    if on_value == 1 and off_value == 0 and "-" not in str(off_value):  # -0.0 is another number
        return is_on.astype(dtype)
    return xp.where(is_on, xp.full((), on_value, dtype), xp.full((), off_value, dtype))
