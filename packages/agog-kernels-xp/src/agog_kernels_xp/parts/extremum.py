"""Extremum: the largest or smallest elements along axes."""

from __future__ import annotations

from typing import Any

Array = Any


def extremum(xp: Any, name: str, x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Reduce by ``maximum`` or ``minimum``: NumPy's own `reduce` has least around it, and CuPy's refuses these two."""
    if xp.__name__ == "numpy":
        return getattr(xp, name).reduce(x, axes, None, None, keepdims)
    return (xp.max if name == "maximum" else xp.min)(x, axis=axes, keepdims=keepdims)
