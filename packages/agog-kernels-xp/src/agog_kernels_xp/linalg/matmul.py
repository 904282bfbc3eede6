"""Matmul: products of matrices."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def matmul(xp: Any, a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    """Product of matrices. A transposed view costs nothing: the BLAS library reads it as it lies."""
    if a.ndim == 2 and b.ndim == 2:  # the method has half the overhead of xp.matmul
        return (a.T if transpose_a else a).dot(b.T if transpose_b else b)
    out = xp.matmul(a.swapaxes(-1, -2) if transpose_a else a, b.swapaxes(-1, -2) if transpose_b else b)
    return out.astype(a.dtype, copy=False)  # NumPy computes batches of bfloat16 in float32
