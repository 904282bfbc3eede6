"""Padding: arrays made larger at their edges."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def pad(xp: Any, x: Array, *, paddings: tuple[tuple[int, int], ...], value: Any) -> Array:
    """One value around an array."""
    sizes = tuple(before + size + after for size, (before, after) in zip(x.shape, paddings, strict=True))
    whole = xp.full(sizes, value, x.dtype)
    whole[tuple(slice(before, before + size) for size, (before, _) in zip(x.shape, paddings, strict=True))] = x
    return whole
