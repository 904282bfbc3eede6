"""Joining: arrays side by side, and cut into pieces."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def concat(xp: Any, *values: Array, axis: int) -> Array:
    """Arrays side by side."""
    return xp.concatenate(values, axis)


def split(xp: Any, x: Array, *, sizes: tuple[int, ...], axis: int) -> tuple[Array, ...]:
    """Pieces along an axis."""
    pieces, start = [], 0
    before = (slice(None),) * axis
    for size in sizes:
        pieces.append(x[(*before, slice(start, start + size))])
        start += size
    return tuple(pieces)
