"""Extrema: the largest and smallest elements along axes, and their positions."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.masks import masked


def reduce_max(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Maximum."""
    if xp.__name__ == "numpy":  # whose `reduce` has least around it, and CuPy's refuses this function
        return xp.maximum.reduce(x, axes, None, None, keepdims)
    return xp.max(x, axis=axes, keepdims=keepdims)


def reduce_min(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Minimum."""
    if xp.__name__ == "numpy":
        return xp.minimum.reduce(x, axes, None, None, keepdims)
    return xp.min(x, axis=axes, keepdims=keepdims)


def reduce_extremum_grad(
    xp: Any, gradients: Array, input_tensor: Array, output: Array, *, axes: tuple[int, ...]
) -> Array:
    """The gradient where the extremum is, shared where there are several."""
    kept = [1 if axis in axes else size for axis, size in enumerate(input_tensor.shape)]
    extremum = output.reshape(kept)
    is_extreme, is_nan = input_tensor == extremum, extremum != extremum
    counts = xp.add.reduce(is_extreme, axes, "int64", None, True)
    wide = gradients.astype("float32") if gradients.dtype.itemsize == 2 else gradients  # which holds large counts
    shares = xp.where(is_nan, xp.nan, wide.reshape(kept) / counts.astype(wide.dtype))  # NaN passes NaN on
    return masked(xp, shares.astype(gradients.dtype, copy=False), is_extreme | is_nan)


def argmax(xp: Any, input: Array, *, axis: int, dtype: Any) -> Array:
    """Position of the first maximum."""
    return xp.argmax(input, axis=axis).astype(dtype)


def argmin(xp: Any, input: Array, *, axis: int, dtype: Any) -> Array:
    """Position of the first minimum."""
    return xp.argmin(input, axis=axis).astype(dtype)
