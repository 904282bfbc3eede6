"""Segments: reductions of rows with equal numbers."""

from __future__ import annotations

from typing import Any

from agog_core.plugin import as_dtype
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.accumulation import accumulate, check_positions


def unsorted_segment_sum(xp: Any, data: Array, segment_ids: Array, *, num_segments: int) -> Array:
    """Sums; 0 for a segment without rows."""
    return _reduced(xp, "unsorted_segment_sum", "add", 0, data, segment_ids, num_segments)


def unsorted_segment_prod(xp: Any, data: Array, segment_ids: Array, *, num_segments: int) -> Array:
    """Products; 1 for a segment without rows."""
    return _reduced(xp, "unsorted_segment_prod", "multiply", 1, data, segment_ids, num_segments)


def unsorted_segment_max(xp: Any, data: Array, segment_ids: Array, *, num_segments: int) -> Array:
    """Maxima; the lowest number for a segment without rows."""
    lowest = as_dtype(data.dtype).min
    return _reduced(xp, "unsorted_segment_max", "maximum", lowest, data, segment_ids, num_segments)


def unsorted_segment_min(xp: Any, data: Array, segment_ids: Array, *, num_segments: int) -> Array:
    """Minima; the highest number for a segment without rows."""
    highest = as_dtype(data.dtype).max
    return _reduced(xp, "unsorted_segment_min", "minimum", highest, data, segment_ids, num_segments)


def _reduced(xp: Any, op: str, operation: str, identity: Any, data: Array, ids: Array, count: int) -> Array:
    """Rows combined by number; those of negative number are left out. Half precision is rounded once, at the end."""
    is_half = data.dtype.itemsize == 2 and data.dtype.kind not in "iu"
    rows, values = ids.reshape(-1), data.reshape(ids.size, *data.shape[ids.ndim :])
    if rows.size and int(rows.min()) < 0:
        named = rows >= 0
        rows, values = rows[named], values[named]
    if rows.size:
        check_positions(xp, op, "segment_ids", xp.maximum(ids, 0), count, f"num_segments is {count}")
    result = xp.full((count, *values.shape[1:]), identity, "float32" if is_half else data.dtype)
    accumulate(xp, operation, result, rows.astype("int64", copy=False), values.astype(result.dtype, copy=False))
    return result.astype(data.dtype, copy=False)
