"""Extrema: the largest and smallest elements along axes, and their positions."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.parts.extremum import extremum
from agog_kernels_xp.parts.masks import masked

Array = Any


def reduce_max(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Maximum."""
    return extremum(xp, "maximum", x, axes, keepdims)


def reduce_min(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Minimum."""
    return extremum(xp, "minimum", x, axes, keepdims)


def reduce_extremum_grad(
    xp: Any, gradients: Array, input_tensor: Array, output: Array, *, axes: tuple[int, ...]
) -> Array:
    """The gradient where the extremum is, shared where there are several."""
    kept = [1 if axis in axes else size for axis, size in enumerate(input_tensor.shape)]
    is_extreme = input_tensor == output.reshape(kept)
    counts = xp.add.reduce(is_extreme, axes, "int64", None, True)
    wide = gradients.astype("float32") if gradients.dtype.itemsize == 2 else gradients  # which holds large counts
    shares = wide.reshape(kept) / counts.astype(wide.dtype)
    return masked(xp, shares.astype(gradients.dtype, copy=False), is_extreme)


def argmax(xp: Any, input: Array, *, axis: int, dtype: Any) -> Array:
    """Position of the first maximum."""
    return xp.argmax(input, axis=axis).astype(dtype)


def argmin(xp: Any, input: Array, *, axis: int, dtype: Any) -> Array:
    """Position of the first minimum."""
    return xp.argmin(input, axis=axis).astype(dtype)
