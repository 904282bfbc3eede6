"""Bitwise: shifts of bits."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def left_shift(xp: Any, x: Array, y: Array) -> Array:
    """Bits moved towards the higher ones."""
    return xp.left_shift(x, _within(xp, y))


def right_shift(xp: Any, x: Array, y: Array) -> Array:
    """Bits moved towards the lower ones."""
    return xp.right_shift(x, _within(xp, y))


def _within(xp: Any, y: Array) -> Array:
    """The distances for which C defines a shift."""
    return xp.clip(y, 0, 8 * y.dtype.itemsize - 1)
