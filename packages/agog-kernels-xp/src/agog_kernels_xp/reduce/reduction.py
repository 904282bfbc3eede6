"""Reduction over axes, by the functions' own ``reduce``: less goes on around it than in ``sum`` and ``max``."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array


def reduce_sum(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Sum, in the input's dtype."""
    if x.size > _FEW:
        return _long_sum(xp, x, axes, keepdims).astype(x.dtype, copy=False)
    if x.dtype.itemsize != 2 or x.dtype.kind in "iu":
        return xp.add.reduce(x, axes, x.dtype, None, keepdims)
    return _wide(xp.add, x, axes, keepdims).astype(x.dtype)


# Fewer elements are added at once.
_FEW = 2048


def _long_sum(xp: Any, x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Sum; over leading axes in as many groups of rows as a group has. One row after the other, long columns of floats
    lose digits, and short rows take several times as long.
    """
    kind, count = x.dtype.kind, _count(x.shape, axes)
    if kind in "iu" or count <= 256 or len(axes) == x.ndim or axes != tuple(range(len(axes))):
        return _wide(xp.add, x, axes, keepdims)
    rows, size = x.reshape(count, -1), math.isqrt(count)
    dtype, whole = "float32" if x.dtype.itemsize == 2 else x.dtype, count - count % size
    groups = xp.add.reduce(rows[:whole].reshape(size, -1), 0, dtype).reshape(-1, rows.shape[1])
    total = xp.add.reduce(groups, 0, dtype) + xp.add.reduce(rows[whole:], 0, dtype)
    return total.reshape((1,) * (len(axes) if keepdims else 0) + x.shape[len(axes) :])


def _wide(function: Any, x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Reduction of half precision in float32, so that it is rounded once; of anything else in its own dtype."""
    is_half = x.dtype.itemsize == 2 and x.dtype.kind not in "iu"
    return function.reduce(x, axes, "float32" if is_half else x.dtype, None, keepdims)


def reduce_mean(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Mean, in the input's dtype; that of integers is cut off towards zero."""
    count = _count(x.shape, axes)
    if x.dtype.kind not in "iu":
        total = _long_sum(xp, x, axes, keepdims) if x.size > _FEW else _wide(xp.add, x, axes, keepdims)
        mean = total / total.dtype.type(count)
        return mean if mean.dtype is x.dtype else mean.astype(x.dtype)
    if not count:
        raise InvalidArgumentError(
            f"reduce_mean: integers of shape {x.shape} have no mean over no elements (axes {axes})."
        )
    total = xp.sum(x, axis=axes, keepdims=keepdims)
    return (xp.sign(total) * (xp.absolute(total) // count)).astype(x.dtype)


@lru_cache(maxsize=4096)
def _count(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    return math.prod([shape[axis] for axis in axes])


def reduce_sum_grad(
    xp: Any, gradients: Array, *, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool
) -> Array:
    """Repetition along the reduced axes."""
    out = xp.empty(shape, gradients.dtype)
    out[...] = gradients if keepdims else _kept(gradients, shape, axes)
    return out


def reduce_mean_grad(
    xp: Any, gradients: Array, *, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool
) -> Array:
    """Repetition along the reduced axes, divided by the number of elements there."""
    out = xp.empty(shape, gradients.dtype)
    wide = gradients.astype("float32") if gradients.dtype.itemsize == 2 else gradients  # which holds large counts
    shares = wide / wide.dtype.type(_count(shape, axes))
    out[...] = shares if keepdims else _kept(shares, shape, axes)
    return out


def _kept(x: Array, shape: tuple[int, ...], axes: tuple[int, ...]) -> Array:
    """What was reduced, with its axes in place."""
    return x.reshape([1 if axis in axes else size for axis, size in enumerate(shape)]) if x.ndim else x


def reduce_prod(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Product, in the input's dtype."""
    return _wide(xp.multiply, x, axes, keepdims).astype(x.dtype, copy=False)


def reduce_logsumexp(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Logarithm of the sum of exponentials; the maximum is taken off first where it is finite."""
    wide = x.astype("float32") if x.dtype.itemsize == 2 else x
    if not _count(x.shape, axes):
        return xp.log(xp.add.reduce(wide, axes, wide.dtype, None, keepdims)).astype(x.dtype)
    highest = xp.max(wide, axis=axes, keepdims=True)
    offset = xp.where(xp.isfinite(highest), highest, xp.zeros_like(highest))
    sums = xp.log(xp.add.reduce(xp.exp(wide - offset), axes, wide.dtype, None, True)) + offset
    return (sums if keepdims else sums.reshape(_left(x.shape, axes))).astype(x.dtype, copy=False)


def _left(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([size for axis, size in enumerate(shape) if axis not in axes])


def reduce_all(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Whether all are true."""
    return xp.all(x, axis=axes, keepdims=keepdims)


def reduce_any(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Whether any is true."""
    return xp.any(x, axis=axes, keepdims=keepdims)


def sum_to(xp: Any, x: Array, *, shape: tuple[int, ...]) -> Array:
    """Sum over the axes along which a shape would be repeated."""
    axes, width = _repeated(x.shape, shape)
    if width and x.dtype.kind == "f" and x.dtype.itemsize > 2:
        return _sum_of_short_rows(xp, x.reshape(-1, width)).reshape(shape)
    total = _long_sum(xp, x, axes, True) if x.size > _FEW else _wide(xp.add, x, axes, True)
    return total.astype(x.dtype, copy=False).reshape(shape)


@lru_cache(maxsize=4096)
def _repeated(sizes: tuple[int, ...], shape: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """The axes along which a shape would be repeated, and the width of rows that are short and many, else 0."""
    leading = len(sizes) - len(shape)
    inner = tuple(axis for axis, size in enumerate(shape, leading) if size == 1 and sizes[axis] != 1)
    width = math.prod(shape)
    is_short = 1 < width <= 64 and math.prod(sizes) > 256 * width and not inner
    return (*range(leading), *inner), width if is_short else 0


def _sum_of_short_rows(xp: Any, rows: Array) -> Array:
    """Products with ones, which add up short rows several times as fast; in groups, and groups of these, so that they
    lose no digits.
    """
    group = 128
    whole = len(rows) - len(rows) % group
    ones = xp.ones(group, rows.dtype)
    rest = ones[: len(rows) - whole].dot(rows[whole:])
    if not whole:
        return rest
    return _sum_of_short_rows(xp, xp.matmul(ones, rows[:whole].reshape(-1, group, rows.shape[1]))) + rest
