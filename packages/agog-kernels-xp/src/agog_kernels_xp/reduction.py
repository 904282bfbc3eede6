"""Reductions over axes, by the functions' own ``reduce``: less goes on around it than in ``sum`` and ``max``."""

from __future__ import annotations

import math
from typing import Any

from agog_core.plugin import InvalidArgumentError

Array = Any


def reduce_sum(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Sum, in the input's dtype."""
    return _sum(xp, x, axes, keepdims).astype(x.dtype, copy=False)


def _sum(xp: Any, x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Sum; that of half precision is in float32, so that it is rounded once."""
    is_half = x.dtype.itemsize == 2 and x.dtype.kind not in "iu"
    return xp.add.reduce(x, axis=axes, keepdims=keepdims, dtype="float32" if is_half else x.dtype)


def reduce_mean(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Mean, in the input's dtype; that of integers is cut off towards zero."""
    count = math.prod(x.shape[axis] for axis in axes)
    if x.dtype.kind not in "iu":
        return xp.true_divide(_sum(xp, x, axes, keepdims), count).astype(x.dtype, copy=False)
    if not count:
        raise InvalidArgumentError(
            f"reduce_mean: integers of shape {x.shape} have no mean over no elements (axes {axes})."
        )
    total = xp.sum(x, axis=axes, keepdims=keepdims)
    return (xp.sign(total) * (xp.absolute(total) // count)).astype(x.dtype)


def reduce_max(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Maximum."""
    return xp.maximum.reduce(x, axis=axes, keepdims=keepdims)


def reduce_min(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Minimum."""
    return xp.minimum.reduce(x, axis=axes, keepdims=keepdims)


def reduce_all(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Whether all are true."""
    return xp.all(x, axis=axes, keepdims=keepdims)


def reduce_any(xp: Any, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Whether any is true."""
    return xp.any(x, axis=axes, keepdims=keepdims)


def argmax(xp: Any, x: Array, *, axis: int, dtype: Any) -> Array:
    """Position of the first maximum."""
    return xp.argmax(x, axis=axis).astype(dtype)


def sum_to(xp: Any, x: Array, *, shape: tuple[int, ...]) -> Array:
    """Sum over the axes along which a shape would be repeated."""
    leading = x.ndim - len(shape)
    repeated = tuple(axis for axis, size in enumerate(shape, leading) if size == 1 and x.shape[axis] != 1)
    return _sum(xp, x, (*range(leading), *repeated), True).astype(x.dtype, copy=False).reshape(shape)
