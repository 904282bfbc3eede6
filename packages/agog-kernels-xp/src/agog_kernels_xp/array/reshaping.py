"""Reshaping: the same elements in another shape, or with their axes in another order."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def broadcast_to(xp: Any, x: Array, *, shape: tuple[int, ...]) -> Array:
    """Repetition along axes of size 1 and new axes."""
    return xp.broadcast_to(x, shape).copy()


def reshape(xp: Any, x: Array, *, shape: tuple[int, ...]) -> Array:
    """The same elements in another shape."""
    return x.reshape(shape)


def transpose(xp: Any, x: Array, *, perm: tuple[int, ...]) -> Array:
    """The axes in another order."""
    return x.transpose(perm)
