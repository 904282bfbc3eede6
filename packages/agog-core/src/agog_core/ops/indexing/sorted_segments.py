"""Sorted segments: reductions of neighbouring rows with equal numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core.calls.docstrings import documented
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import ones_like, reshape, zeros_like
from agog_core.ops.indexing.gathering import gather, index_tensor
from agog_core.ops.indexing.segments import (
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from agog_core.ops.math.logic import equal, where
from agog_core.tensors.convert import convert_to_tensor, decided
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = [
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "sparse_segment_mean",
    "sparse_segment_sqrt_n",
    "sparse_segment_sum",
]

_SECTIONS = """
    Args:
        data: a tensor of {kind}, of shape ``(n, ...)``.
        segment_ids: n numbers, int32 or int64, not negative and in increasing order; they may repeat.

    Returns:
        A tensor of shape ``(last number + 1, ...)``, {empty} for a number that no row carries.

    Raises:
        InvalidArgumentError: the numbers are negative or out of order, or the shapes do not fit.
"""

_SPARSE = """
    Args:
        data: a tensor of floats, of shape ``(size, ...)``.
        indices: n positions in ``data``, int32 or int64.
        segment_ids: n numbers, int32 or int64, not negative and in increasing order; they may repeat.
        num_segments: how many numbers there are; None for the last one plus 1.

    Returns:
        A tensor of shape ``(num_segments, ...)``, 0 for a number that no row carries.

    Raises:
        InvalidArgumentError: an index is out of range, or the numbers are negative, too large or out of order.
"""


@documented(_SECTIONS, kind="numbers", empty="0")
def segment_sum(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Add up the neighbouring rows that carry the same number.

    >>> print(segment_sum([1, 2, 4], [0, 0, 1]))
    tf.Tensor([3 4], shape=(2,), dtype=int32)
    """
    return unsorted_segment_sum(*_checked("segment_sum", data, segment_ids))


@documented(_SECTIONS, kind="numbers", empty="1")
def segment_prod(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Multiply the neighbouring rows that carry the same number.

    >>> print(segment_prod([3, 2, 4], [0, 0, 1]))
    tf.Tensor([6 4], shape=(2,), dtype=int32)
    """
    return unsorted_segment_prod(*_checked("segment_prod", data, segment_ids))


@documented(_SECTIONS, kind="real numbers", empty="0")
def segment_max(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Take the maximum of the neighbouring rows that carry the same number, elementwise.

    >>> print(segment_max([3, 2, 4], [0, 0, 1]))
    tf.Tensor([3 4], shape=(2,), dtype=int32)
    """
    x, ids, count = _checked("segment_max", data, segment_ids)
    return _zero_where_empty(unsorted_segment_max(x, ids, count), ids)


@documented(_SECTIONS, kind="real numbers", empty="0")
def segment_min(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Take the minimum of the neighbouring rows that carry the same number, elementwise.

    >>> print(segment_min([3, 2, 4], [0, 0, 1]))
    tf.Tensor([2 4], shape=(2,), dtype=int32)
    """
    x, ids, count = _checked("segment_min", data, segment_ids)
    return _zero_where_empty(unsorted_segment_min(x, ids, count), ids)


@documented(_SECTIONS, kind="numbers", empty="0")
def segment_mean(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Take the mean of the neighbouring rows that carry the same number. Means of integers are cut off towards zero.

    >>> print(segment_mean([1.0, 2.0, 4.0], [0, 0, 1]))
    tf.Tensor([1.5 4. ], shape=(2,), dtype=float32)
    """
    return unsorted_segment_mean(*_checked("segment_mean", data, segment_ids))


@documented(_SPARSE)
def sparse_segment_sum(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, name: str | None = None, num_segments: Any = None
) -> Tensor:
    """Add up rows of a tensor, by segments.

    >>> print(sparse_segment_sum([1.0, 2.0, 4.0], [0, 2, 2], [0, 0, 1]))
    tf.Tensor([5. 4.], shape=(2,), dtype=float32)
    """
    return _sparse("sparse_segment_sum", unsorted_segment_sum, data, indices, segment_ids, num_segments)


@documented(_SPARSE)
def sparse_segment_mean(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, name: str | None = None, num_segments: Any = None
) -> Tensor:
    """Take the mean of rows of a tensor, by segments.

    >>> print(sparse_segment_mean([1.0, 2.0, 4.0], [0, 2, 2], [0, 0, 1]))
    tf.Tensor([2.5 4. ], shape=(2,), dtype=float32)
    """
    return _sparse("sparse_segment_mean", unsorted_segment_mean, data, indices, segment_ids, num_segments)


@documented(_SPARSE)
def sparse_segment_sqrt_n(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, name: str | None = None, num_segments: Any = None
) -> Tensor:
    """Add up rows of a tensor, and divide by the square root of how many they are, by segments.

    >>> print(sparse_segment_sqrt_n([1.0, 3.0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 1]))
    tf.Tensor([3. 3.], shape=(2,), dtype=float32)
    """
    return _sparse("sparse_segment_sqrt_n", unsorted_segment_sqrt_n, data, indices, segment_ids, num_segments)


def _sparse(
    op: str,
    reduce: Callable[[Tensor, Tensor, int], Tensor],
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: Any,
) -> Tensor:
    x, ids, count = _checked(op, gather(data, index_tensor(op, "indices", indices)), segment_ids)
    return reduce(x, ids, count if num_segments is None else int(convert_to_tensor(num_segments)))


def _checked(op: str, data: TensorLike, segment_ids: TensorLike) -> tuple[Tensor, Tensor, int]:
    """The rows, their numbers, and how many segments there are."""
    x, ids = convert_to_tensor(data), index_tensor(op, "segment_ids", segment_ids)
    if len(ids._shape) != 1 or x._shape[:1] != ids._shape:
        raise InvalidArgumentError(
            f"{op}: segment_ids must have one number for each row of data; got shape {ids._shape} for data of shape "
            f"{x._shape}."
        )
    wrong, count = decided(_checked_numbers, ids)
    if wrong:
        raise InvalidArgumentError(f"{op}: segment ids {wrong}")
    return x, ids, count


def _checked_numbers(numbers: np.ndarray[Any, Any]) -> tuple[str, int]:
    """What is wrong with the numbers of segments, and how many segments there are."""
    if numbers.size and numbers[0] < 0:
        return f"must be >= 0; got {numbers[0]}.", 0
    falls = np.flatnonzero(numbers[1:] < numbers[:-1])
    if falls.size:
        before, after = numbers[falls[0] : falls[0] + 2]
        return (
            f"are not increasing: {after} follows {before} at position {falls[0] + 1}. Sort the "
            "rows, or use the unsorted_segment ops."
        ), 0
    return "", int(numbers[-1]) + 1 if numbers.size else 0


def _zero_where_empty(out: Tensor, ids: Tensor) -> Tensor:
    if not (count := out._shape[0]):
        return out
    if decided(lambda numbers: np.count_nonzero(numbers[1:] != numbers[:-1]) + 1 == count, ids):
        return out
    is_empty = equal(unsorted_segment_sum(ones_like(ids), ids, count), 0)
    return where(reshape(is_empty, (-1, *(1,) * (len(out._shape) - 1))), zeros_like(out), out)
