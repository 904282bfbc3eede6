"""Framing: signals in overlapping pieces."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def frame(xp: Any, x: Array, *, length: int, step: int) -> Array:
    """Windows that slide over the last axis by a step."""
    count = max(0, 1 + (x.shape[-1] - length) // step)
    shape = (*x.shape[:-1], count, length)
    if not count or not x.size:
        return xp.empty(shape, x.dtype)
    *others, stride = x.strides
    return xp.lib.stride_tricks.as_strided(x, shape, (*others, step * stride, stride)).copy()


def overlap_and_add(xp: Any, x: Array, *, step: int) -> Array:
    """Sum of the frames where they began, by pieces of a step's length: one piece of every frame at a time."""
    *batch, count, length = x.shape
    size = (count - 1) * step + length if count else 0
    pieces = -(-length // step)
    is_half = x.dtype.itemsize == 2 and x.dtype.kind not in "iu"
    out = xp.zeros((*batch, count + pieces, step), "float32" if is_half else x.dtype)
    for piece in range(pieces):
        part = x[..., piece * step : (piece + 1) * step]
        out[..., piece : piece + count, : part.shape[-1]] += part
    return out.reshape(*batch, (count + pieces) * step)[..., :size].astype(x.dtype)
