"""Logic: choices between arrays, and where a condition holds."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts import masks

__all__ = ["argwhere", "masked", "where"]


def where(xp: Any, condition: Array, x: Array, y: Array) -> Array:
    """One array where a condition holds, the other elsewhere."""
    return xp.where(condition, x, y)


def argwhere(xp: Any, condition: Array) -> Array:
    """Positions of the elements that are true or not zero."""
    return xp.argwhere(condition).astype("int64", copy=False)


def masked(xp: Any, x: Array, mask: Array) -> Array:
    """Numbers where a mask holds, else 0."""
    return masks.masked(xp, x, mask)
