"""Moments: means, variances and counts, composed of reductions."""

from __future__ import annotations

import math
from typing import Any

from agog_core import dtypes
from agog_core.calls.docstrings import documented_like
from agog_core.dtypes import as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, reshape, zeros_like
from agog_core.ops.math import equal, lgamma, not_equal, realdiv, sqrt, square
from agog_core.ops.reduce.reduction import reduce_mean, reduce_sum
from agog_core.shapes import normalize_axes, reduced_shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["count_nonzero", "lbeta"]


def count_nonzero(
    input_tensor: TensorLike,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Count the elements that are not zero, along axes.

    Args:
        input_tensor: a tensor of numbers, bools (False is zero) or strings (the empty one is zero).
        axis: an axis or several; None for all. Its older name is ``reduction_indices``.
        keepdims: whether reduced axes stay, with size 1. Its older name is ``keep_dims``.
        dtype: the dtype of the counts.

    Returns:
        The counts.

    Raises:
        InvalidArgumentError: an axis is out of range.

    >>> print(count_nonzero([[0, 1, 0], [1, 1, 0]], 1))
    tf.Tensor([1 2], shape=(2,), dtype=int64)
    """
    x = convert_to_tensor(input_tensor)
    if x.dtype is dtypes.string:
        x = not_equal(x, "")
    elif x.dtype is not dtypes.bool_:
        x = not_equal(x, zeros_like(x))
    return reduce_sum(cast(x, as_dtype(dtype)), axis, keepdims, None, reduction_indices, keep_dims)


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """The share of the elements that are zero.

    Args:
        value: a tensor of numbers.

    Returns:
        A float32 scalar; NaN for no elements.

    >>> print(zero_fraction([0, 1, 0, 2]))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """
    x = convert_to_tensor(value)
    return reduce_mean(cast(equal(x, zeros_like(x)), dtypes.float32))


def reduce_variance(
    input_tensor: TensorLike, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Variance over axes: the mean of the squared differences from the mean.

    Args:
        input_tensor: a tensor of floats.
        axis: an axis or several; None for all.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        The variances; NaN for no elements.

    Raises:
        InvalidArgumentError: an axis is out of range.

    >>> print(reduce_variance([1.0, 2.0, 3.0, 4.0]))
    tf.Tensor(1.25, shape=(), dtype=float32)
    """
    x = convert_to_tensor(input_tensor)
    return reduce_mean(square(x - reduce_mean(x, axis, keepdims=True)), axis, keepdims)


@documented_like(reduce_variance)
def reduce_std(input_tensor: TensorLike, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """Standard deviation over axes: the root of `reduce_variance`.

    Returns:
        The standard deviations; NaN for no elements. The gradient is NaN where a deviation is 0.

    >>> print(reduce_std([1.0, 3.0]))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    return sqrt(reduce_variance(input_tensor, axis, keepdims))


@documented_like(reduce_variance)
def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Euclidean norm over axes: the root of the sum of squares.

    Returns:
        The norms; 0 for no elements. The gradient is NaN where a norm is 0.

    >>> print(reduce_euclidean_norm([3.0, 4.0]))
    tf.Tensor(5.0, shape=(), dtype=float32)
    """
    return sqrt(reduce_sum(square(convert_to_tensor(input_tensor)), axis, keepdims))


def _stay(op: str, keepdims: bool | None, keep_dims: bool | None) -> bool:
    """Whether reduced axes stay, by the argument's name or by its older one."""
    if keepdims is not None and keep_dims is not None:
        raise ValueError(f"{op}: give only one of keepdims and keep_dims.")
    return bool(keepdims or keep_dims)


def moments(
    x: TensorLike,
    axes: Any,
    shift: TensorLike = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance over axes.

    Both have derivatives of any order. Half precision is computed in float32 and rounded at the end.

    Args:
        x: a tensor of floats.
        axes: an axis or several.
        keepdims: whether reduced axes stay, with size 1. Its older name is ``keep_dims``.

    Returns:
        The pair (mean, variance).

    Raises:
        ValueError: both ``keepdims`` and ``keep_dims`` are given.
        InvalidArgumentError: an axis is out of range.

    >>> mean, variance = moments([[1.0, 2.0], [3.0, 6.0]], [0])
    >>> print(mean, variance)
    tf.Tensor([2. 4.], shape=(2,), dtype=float32) tf.Tensor([1. 4.], shape=(2,), dtype=float32)
    """
    stay = _stay("moments", keepdims, keep_dims)
    given = convert_to_tensor(x)
    wide = cast(given, dtypes.float32) if given.dtype.size == 2 else given
    mean = reduce_mean(wide, axes, keepdims=True)
    variance = reduce_mean(square(wide - mean), axes, keepdims=stay)
    if not stay:
        mean = reshape(mean, variance._shape)
    return cast(mean, given.dtype), cast(variance, given.dtype)


def weighted_moments(
    x: TensorLike,
    axes: Any,
    frequency_weights: TensorLike,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance over axes, where each element counts as often as its weight says.

    Half precision is computed in float32 and rounded at the end.

    Args:
        x: a tensor of floats.
        axes: an axis or several.
        frequency_weights: the weights, not negative; a tensor of a shape that broadcasts with ``x``'s.
        keepdims: whether reduced axes stay, with size 1. Its older name is ``keep_dims``.

    Returns:
        The pair (mean, variance); NaN where all weights are 0.

    Raises:
        ValueError: both ``keepdims`` and ``keep_dims`` are given.
        InvalidArgumentError: an axis is out of range, or the shapes do not broadcast.

    >>> mean, variance = weighted_moments([1.0, 5.0], [0], [3.0, 1.0])
    >>> print(mean, variance)
    tf.Tensor(2.0, shape=(), dtype=float32) tf.Tensor(3.0, shape=(), dtype=float32)
    """
    stay = _stay("weighted_moments", keepdims, keep_dims)
    given = convert_to_tensor(x)
    weights = convert_to_tensor(frequency_weights, preferred_dtype=given.dtype)
    wide = cast(given, dtypes.float32) if given.dtype.size == 2 else given
    weights = cast(weights, wide.dtype)
    weighted = weights * wide
    weights = weights + zeros_like(weighted)  # of the broadcast shape, so that the sum counts all
    total = reduce_sum(weights, axes, keepdims=True)
    mean = reduce_sum(weighted, axes, keepdims=True) / total
    squares = reduce_sum(weights * square(wide - mean), axes, keepdims=True)
    variance = squares / total
    if not stay:
        where = normalize_axes("weighted_moments", axes, len(weighted._shape))
        mean, variance = (reshape(y, reduced_shape(weighted._shape, where, False)) for y in (mean, variance))
    return cast(mean, given.dtype), cast(variance, given.dtype)


def sufficient_statistics(
    x: TensorLike,
    axes: Any,
    shift: TensorLike = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """What `normalize_moments` computes mean and variance from: a count, a sum, and a sum of squares.

    Args:
        x: a tensor of floats.
        axes: an axis or several.
        shift: a value near the mean, subtracted first to keep more digits; or None.
        keepdims: whether reduced axes stay, with size 1. Its older name is ``keep_dims``.

    Returns:
        The count of elements that are reduced (a scalar of ``x``'s dtype), the sum, the sum of squares, and the shift
        or None.

    Raises:
        ValueError: both ``keepdims`` and ``keep_dims`` are given.
        InvalidArgumentError: an axis is out of range.

    >>> count, total, squares, shift = sufficient_statistics([1.0, 2.0, 3.0], [0])
    >>> print(float(count), float(total), float(squares), shift)
    3.0 6.0 14.0 None
    """
    stay = _stay("sufficient_statistics", keepdims, keep_dims)
    tensor = convert_to_tensor(x)
    where = normalize_axes("sufficient_statistics", axes, len(tensor._shape))
    size = math.prod(tensor._shape[axis] for axis in where)
    count = convert_to_tensor(float(size), tensor.dtype)
    given = None if shift is None else convert_to_tensor(shift, preferred_dtype=tensor.dtype)
    shifted = tensor if given is None else tensor - given
    return count, reduce_sum(shifted, where, stay), reduce_sum(square(shifted), where, stay), given


def normalize_moments(
    counts: TensorLike,
    mean_ss: TensorLike,
    variance_ss: TensorLike,
    shift: TensorLike = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance of what `sufficient_statistics` returns.

    Args:
        counts: the count of elements.
        mean_ss: the sum, shifted where there is a shift.
        variance_ss: the sum of squares, shifted where there is a shift.
        shift: the shift, or None.

    Returns:
        The pair (mean, variance).

    >>> mean, variance = normalize_moments(3.0, 6.0, 14.0)
    >>> print(round(float(mean), 4), round(float(variance), 4))
    2.0 0.6667
    """
    shifted_mean = realdiv(mean_ss, counts)
    variance = realdiv(variance_ss, counts) - square(shifted_mean)
    return shifted_mean if shift is None else shifted_mean + shift, variance


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the beta function, along the last axis.

    Args:
        x: a tensor of floats, of rank 1 or more.

    Returns:
        ``sum(lgamma(x)) - lgamma(sum(x))``, without the last axis.

    Raises:
        InvalidArgumentError: the tensor has rank 0.

    >>> print(lbeta([1.0, 1.0]))
    tf.Tensor(0.0, shape=(), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    if not tensor._shape:
        raise InvalidArgumentError("lbeta: x must have rank 1 or more; got a tensor of rank 0.")
    return reduce_sum(lgamma(tensor), axis=-1) - lgamma(reduce_sum(tensor, axis=-1))
