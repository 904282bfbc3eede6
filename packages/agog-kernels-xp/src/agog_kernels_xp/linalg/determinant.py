"""Determinant: its value, or its sign and logarithm."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from agog_kernels_xp.arrays import Array


def matrix_determinant(xp: Any, x: Array) -> Array:
    """Determinant by LU factorization; infinite, without a warning, where it overflows."""
    with xp.errstate(over="ignore") if hasattr(xp, "errstate") else nullcontext():  # CuPy never warns
        return xp.linalg.det(x)


def log_matrix_determinant(xp: Any, x: Array) -> tuple[Array, Array]:
    """Sign and logarithm of the absolute value of the determinant, both in the input's dtype."""
    sign, logarithm = xp.linalg.slogdet(x)
    return xp.asarray(sign, x.dtype), xp.asarray(logarithm, x.dtype)
