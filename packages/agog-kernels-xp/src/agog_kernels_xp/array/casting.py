"""Casting: other dtypes for the same values, or for the same bytes."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def cast(xp: Any, x: Array, *, dtype: Any) -> Array:
    """Conversion to a dtype; of complex numbers the real part becomes a real number, either part makes a bool true."""
    if x.dtype.kind == "c" and xp.dtype(dtype).kind not in "cb":
        x = x.real
    return x.astype(dtype)


def bitcast(xp: Any, x: Array, *, dtype: Any, shape: tuple[int, ...]) -> Array:
    """The same bytes as elements of another dtype."""
    return xp.ascontiguousarray(x).reshape(-1).view(dtype).reshape(shape)
