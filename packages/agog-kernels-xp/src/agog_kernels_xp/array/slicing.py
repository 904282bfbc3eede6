"""Slicing: parts of arrays, and the way back."""

from __future__ import annotations

import math
from typing import Any

from agog_kernels_xp.arrays import Array


def strided_slice(xp: Any, x: Array, *, key: tuple[Any, ...]) -> Array:
    """Part of an array."""
    return x[_indices(key)]


def strided_slice_grad(xp: Any, g: Array, *, shape: tuple[int, ...], key: tuple[Any, ...]) -> Array:
    """Zeros with an array at the place of a slice."""
    whole = xp.zeros(shape, g.dtype)
    if math.prod(g.shape):
        whole[_indices(key)] = g
    return whole


def _indices(key: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*(slice(*entry) if isinstance(entry, tuple) else entry for entry in key), ...)
