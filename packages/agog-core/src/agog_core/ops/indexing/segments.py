"""Segments: reductions of rows with equal numbers, in any order; `sorted_segments` needs them sorted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.calls.call import call
from agog_core.calls.docstrings import documented
from agog_core.dispatch.edge import Vjp
from agog_core.dispatch.op import Op
from agog_core.dtypes import NUMERIC, ORDERED, DType
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, ones_like, reshape, zeros, zeros_like
from agog_core.ops.indexing.gathering import gather, index_tensor
from agog_core.ops.math import maximum, sqrt
from agog_core.ops.math.logic import equal, masked, where
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = [
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
]

_SECTIONS = """
    Args:
        data: a tensor of {kind}, of shape ``segment_ids.shape + rest``.
        segment_ids: each row's number, int32 or int64, below ``num_segments``; rows of negative number are left out.
        num_segments: how many numbers there are.

    Returns:
        A tensor of shape ``(num_segments,) + rest``, {empty} for a number that no row carries.

    Raises:
        InvalidArgumentError: a number is too large, or the shapes do not fit.
"""


@documented(_SECTIONS, kind="numbers", empty="0")
def unsorted_segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None
) -> Tensor:
    """Add up the rows that carry the same number.

    >>> print(unsorted_segment_sum([1, 2, 4], [1, 0, 1], 3))
    tf.Tensor([2 5 0], shape=(3,), dtype=int32)
    """
    return _segments(_unsorted_segment_sum, data, segment_ids, num_segments)


@documented(_SECTIONS, kind="numbers", empty="1")
def unsorted_segment_prod(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None
) -> Tensor:
    """Multiply the rows that carry the same number.

    >>> print(unsorted_segment_prod([3, 2, 4], [1, 0, 1], 3))
    tf.Tensor([ 2 12  1], shape=(3,), dtype=int32)
    """
    return _segments(_unsorted_segment_prod, data, segment_ids, num_segments)


@documented(_SECTIONS, kind="real numbers", empty="the dtype's lowest number")
def unsorted_segment_max(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None
) -> Tensor:
    """Take the maximum of the rows that carry the same number, elementwise.

    >>> print(unsorted_segment_max([3, 2, 4], [1, 0, 1], 2))
    tf.Tensor([2 4], shape=(2,), dtype=int32)
    """
    return _segments(_unsorted_segment_max, data, segment_ids, num_segments)


@documented(_SECTIONS, kind="real numbers", empty="the dtype's highest number")
def unsorted_segment_min(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None
) -> Tensor:
    """Take the minimum of the rows that carry the same number, elementwise.

    >>> print(unsorted_segment_min([3, 2, 4], [1, 0, 1], 2))
    tf.Tensor([2 3], shape=(2,), dtype=int32)
    """
    return _segments(_unsorted_segment_min, data, segment_ids, num_segments)


@documented(_SECTIONS, kind="numbers", empty="0")
def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None
) -> Tensor:
    """Take the mean of the rows that carry the same number. Means of integers are cut off towards zero.

    >>> print(unsorted_segment_mean([1.0, 2.0, 4.0], [1, 0, 1], 2))
    tf.Tensor([2.  2.5], shape=(2,), dtype=float32)
    """
    total, counts = sums_and_counts(data, segment_ids, num_segments)
    return cast(total / counts, total.dtype)


@documented(_SECTIONS, kind="floats", empty="0")
def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None
) -> Tensor:
    """Add up the rows that carry the same number, and divide by the square root of how many they are.

    >>> print(unsorted_segment_sqrt_n([1.0, 1.0, 1.0, 1.0], [0, 0, 0, 0], 1))
    tf.Tensor([2.], shape=(1,), dtype=float32)
    """
    total, counts = sums_and_counts(data, segment_ids, num_segments)
    return total / sqrt(counts)


def sums_and_counts(data: TensorLike, segment_ids: TensorLike, num_segments: Any) -> tuple[Tensor, Tensor]:
    """The sums of the rows with equal numbers, and their counts (1 instead of 0), in a shape that broadcasts with the
    sums'. Arguments: see `unsorted_segment_sum`.

    >>> total, counts = sums_and_counts([1.0, 2.0, 4.0], [1, 0, 1], 2)
    >>> print(total, counts)
    tf.Tensor([2. 5.], shape=(2,), dtype=float32) tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(data)
    total = unsorted_segment_sum(x, segment_ids, num_segments)
    ids = convert_to_tensor(segment_ids)
    counts = maximum(unsorted_segment_sum(ones_like(ids, dtype=x.dtype.real_dtype), ids, num_segments), 1)
    spread = reshape(counts, (*counts._shape, *(1,) * (len(total._shape) - 1)))
    return total, cast(spread, x.dtype)


def _segments(op: Op, data: TensorLike, segment_ids: TensorLike, num_segments: Any) -> Tensor:
    ids = index_tensor(op.name, "segment_ids", segment_ids)
    count = num_segments if num_segments.__class__ is int else int(convert_to_tensor(num_segments))
    if count < 0:
        raise InvalidArgumentError(f"{op.name}: num_segments must not be negative; got {count}.")
    return call(op, convert_to_tensor(data), ids, num_segments=count)


def _shape_rule(name: str) -> Any:
    def shape(data: Shape, segment_ids: Shape, num_segments: int) -> Shape:
        rank = len(segment_ids)
        if data[:rank] != segment_ids:
            raise InvalidArgumentError(
                f"{name}: data of shape {data} must begin with the shape of segment_ids, which is {segment_ids}."
            )
        return (num_segments, *data[rank:])

    return shape


def _rows(values: Tensor, ids: Tensor) -> Tensor:
    """Each row's segment's value; 0 for rows of negative number."""
    if not values._shape[0]:
        return zeros((*ids._shape, *values._shape[1:]), values.dtype)
    rows = gather(values, maximum(ids, 0))
    is_named = reshape(ids >= 0, (*ids._shape, *(1,) * (len(values._shape) - 1)))
    return where(is_named, rows, zeros_like(rows))


def _prod_vjp(g: Tensor, data: Tensor, segment_ids: Tensor, num_segments: int) -> Tensor:
    """The product of the others in the segment: of its numbers other than zero, times that of the other zeros, which is
    1 without them, the other zero itself where there is one, and 0 to second order where there are more.
    """
    is_zero = equal(data, 0)
    ones = ones_like(data)
    nonzero, only_zeros = where(is_zero, ones, data), where(is_zero, data, zeros_like(data))
    product = unsorted_segment_prod(nonzero, segment_ids, num_segments)
    mark = cast(is_zero, data.dtype.real_dtype)
    zeros_elsewhere = _rows(unsorted_segment_sum(mark, segment_ids, num_segments), segment_ids) - mark
    other_zero = _rows(unsorted_segment_sum(only_zeros, segment_ids, num_segments), segment_ids) - only_zeros
    of_zeros = where(
        equal(zeros_elsewhere, 0), ones, where(equal(zeros_elsewhere, 1), other_zero, zeros_like(other_zero))
    )
    others = _rows(product, segment_ids) / nonzero * of_zeros
    return _rows(g, segment_ids) * others


def _extreme_vjp(g: Tensor, data: Tensor, segment_ids: Tensor, out: Tensor, num_segments: int) -> Tensor:
    """The rows that reach the extreme share the gradient equally."""
    is_extreme = equal(data, _rows(out, segment_ids))
    count = unsorted_segment_sum(cast(is_extreme, data.dtype), segment_ids, num_segments)
    return masked(_rows(g / maximum(count, 1), segment_ids), is_extreme)


def _op(function: Callable[..., Tensor], dtypes: frozenset[DType], vjp: Vjp) -> Op:
    name = function.__name__
    return Op(
        name,
        function,
        inputs=["data", "segment_ids"],
        shape=_shape_rule(name),
        alike=["data"],
        dtypes=dtypes,
        vjp={"data": vjp},
        may_fail=True,
    )


_unsorted_segment_sum = _op(unsorted_segment_sum, NUMERIC, lambda g, segment_ids: _rows(g, segment_ids))
_unsorted_segment_prod = _op(unsorted_segment_prod, NUMERIC, _prod_vjp)
_unsorted_segment_max = _op(unsorted_segment_max, ORDERED, _extreme_vjp)
_unsorted_segment_min = _op(unsorted_segment_min, ORDERED, _extreme_vjp)
