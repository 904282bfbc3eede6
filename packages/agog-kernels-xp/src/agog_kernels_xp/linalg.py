"""Linear algebra."""

from __future__ import annotations

from typing import Any

Array = Any


def matmul(xp: Any, a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    """Product of matrices. A transposed view costs nothing: the BLAS library reads it as it lies."""
    return xp.matmul(a.swapaxes(-1, -2) if transpose_a else a, b.swapaxes(-1, -2) if transpose_b else b)
