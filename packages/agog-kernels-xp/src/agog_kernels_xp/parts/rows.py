"""Rows: exponentials and sums along one axis, for softmax, its losses and normalizations.

NumPy reduces along a last axis row by row, at a cost per row that is far more than that of a few numbers. For CuPy a
reduction is a kernel like others.
"""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array

# Measured with NumPy on rows of float32.
_SHORT = 32  # up to here a copy in the other order and a reduction of whole rows take less time
_VERY_SHORT = 16  # up to here a product with a square of ones takes less time than sums that are broadcast later
_FEW = 4096  # up to here one more look at all elements costs little

_TAME = 64.0**2  # a sum of squares


def wide(x: Array) -> Array:
    """The array itself, or half precision as float32, so that results are rounded once."""
    return x.astype("float32") if x.dtype.itemsize == 2 else x


def is_tame(xp: Any, x: Array) -> bool:
    """Whether a small array surely has no element beyond 64: its exponentials neither overflow nor vanish."""
    # A device would have to be waited for.
    return xp.__name__ == "numpy" and x.size <= _FEW and bool(xp.vdot(x, x) < _TAME)


def exponentials(xp: Any, x: Array, axis: int) -> Array:
    """Exponentials, each times a number for its row that keeps them from overflowing."""
    if (
        xp.__name__ == "numpy" and x.size <= _FEW and xp.vdot(x, x) < _TAME
    ):  # `is_tame`, written out: each call counts here
        return xp.exp(x)
    return xp.exp(x - maximum(xp, x, axis))


def maximum(xp: Any, x: Array, axis: int) -> Array:
    """The maxima along an axis, which stays; minus infinity where there is no element."""
    if xp.__name__ == "numpy":
        if axis == x.ndim - 1 and x.shape[axis] <= _SHORT < x.size:
            x = x.astype(x.dtype, order="F")
        return xp.maximum.reduce(x, axis=axis, keepdims=True, initial=-xp.inf)
    if not x.shape[axis]:
        return xp.full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), -xp.inf, x.dtype)
    return xp.max(x, axis=axis, keepdims=True)


def row_totals(xp: Any, x: Array) -> Array:
    """The sums of a matrix's rows: a product with ones, for which the BLAS library has a function."""
    return x.dot(_ones(xp, x, x.shape[1])) if xp.__name__ != "cupy" else x.sum(axis=1)


def total(xp: Any, x: Array, axis: int) -> Array:
    """The sums along an axis, which stays."""
    if axis != x.ndim - 1 or not x.size or xp.__name__ == "cupy":
        return xp.add.reduce(x, axis=axis, keepdims=True)
    return row_totals(xp, x.reshape(-1, x.shape[axis])).reshape(*x.shape[:axis], 1)


def repeated_total(xp: Any, x: Array, axis: int) -> Array:
    """A new array that broadcasts to the sums along an axis, each in the places of all its terms."""
    size = x.shape[axis]
    if axis != x.ndim - 1 or size > _VERY_SHORT or not x.size or xp.__name__ == "cupy":
        return total(xp, x, axis)
    ones = _ones(xp, x, size, size)
    return x.dot(ones) if x.ndim == 2 else x.reshape(-1, size).dot(ones).reshape(x.shape)


def is_very_short(xp: Any, x: Array) -> bool:
    """Whether a matrix's rows are so short that products with small matrices take the least time."""
    return xp.__name__ != "cupy" and bool(0 < x.shape[1] <= _VERY_SHORT)


def repeated(xp: Any, x: Array, size: int) -> Array:
    """A vector as the columns of a matrix, by a product: what broadcasts takes longer row by row."""
    return x[:, None].dot(_ones(xp, x, 1, size))


def identity(xp: Any, like: Array, size: int) -> Array:
    """The identity matrix where another array is; nobody may write it."""
    key = size, like.dtype, like.device
    try:
        return _known[key]
    except KeyError:
        _known[key] = eye = xp.eye(size, dtype=like.dtype)
        return eye


_known: dict[Any, Array] = {}  # to make ones takes as long as to multiply by them


def _ones(xp: Any, like: Array, *shape: int) -> Array:
    """Ones where another array is; nobody may write them."""
    key = shape, like.dtype, like.device
    try:
        return _known[key]
    except KeyError:
        ones = xp.ones(shape, like.dtype)
        if ones.size <= _VERY_SHORT**2:
            _known[key] = ones
        return ones
