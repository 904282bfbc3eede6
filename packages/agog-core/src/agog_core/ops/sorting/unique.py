"""Unique: distinct elements."""

from __future__ import annotations

from typing import Any

from agog_core import dtypes
from agog_core.calls.call import call_several
from agog_core.dispatch.op import define
from agog_core.dtypes import ORDERED, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.named_tuple import Named
from agog_core.shapes import Shape, TensorShape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["setdiff1d", "unique", "unique_with_counts"]

_COMPARABLE = ORDERED | {dtypes.bool_, dtypes.string}


class Unique(Named):
    """The result of `unique`: the different elements, and which of them each element is."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(Named):
    """The result of `unique_with_counts`: the different elements, which of them each element is, and how many are."""

    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]  # TensorFlow has given it the name of a method of tuples


def unique(x: TensorLike, out_idx: Any = dtypes.int32, name: str | None = None) -> Unique:
    """The different elements of a vector, in the order in which they first occur.

    Args:
        x: a vector of real numbers, bools or strings.
        out_idx: the dtype of ``idx``: int32 or int64.

    Returns:
        ``y``, the different elements, and ``idx``, of the shape of ``x``, with ``y[idx[i]] == x[i]``. Every NaN differs
        from all others.

    Raises:
        InvalidArgumentError: the input is no vector.

    >>> y, idx = unique([3, 1, 3])
    >>> y.numpy().tolist(), idx.numpy().tolist()
    ([3, 1], [0, 1, 0])
    """
    return Unique(*unique_with_counts(x, out_idx)[:2])


def unique_with_counts(x: TensorLike, out_idx: Any = dtypes.int32, name: str | None = None) -> UniqueWithCounts:
    """The different elements of a vector, in the order in which they first occur, and how often each occurs.

    Args:
        x: a vector of real numbers, bools or strings.
        out_idx: the dtype of ``idx`` and ``count``: int32 or int64.

    Returns:
        ``y``, the different elements; ``idx``, of the shape of ``x``, with ``y[idx[i]] == x[i]``; and ``count``, of the
        shape of ``y``. Every NaN differs from all others.

    Raises:
        InvalidArgumentError: the input is no vector.

    >>> y, idx, count = unique_with_counts([3, 1, 3])
    >>> y.numpy().tolist(), idx.numpy().tolist(), count.numpy().tolist()
    ([3, 1], [0, 1, 0], [2, 1])
    """
    kind = as_dtype(out_idx).name
    return UniqueWithCounts(*call_several(_unique_with_counts, convert_to_tensor(x), dtype=kind))


def _unique_shape(x: Shape, dtype: str) -> list[Shape | TensorShape]:
    if len(x) != 1:
        raise InvalidArgumentError(f"unique_with_counts: x must be a vector; got shape {x}.")
    return [TensorShape([None]), x, TensorShape([None])]


_unique_with_counts = define(
    unique_with_counts,
    shape=_unique_shape,
    dtype=lambda given, dtype: [given, as_dtype(dtype), as_dtype(dtype)],
    dtypes=_COMPARABLE,
    host_reads=["x"],
)


class ListDiff(Named):
    """The result of `setdiff1d`: the elements that are left, and where they were."""

    out: Tensor
    idx: Tensor


def setdiff1d(x: TensorLike, y: TensorLike, index_dtype: Any = dtypes.int32, name: str | None = None) -> ListDiff:
    """The elements of one vector that are not in another.

    Args:
        x: a vector of real numbers, bools or strings.
        y: a vector of the same dtype.
        index_dtype: the dtype of ``idx``: int32 or int64.

    Returns:
        ``out``, the elements of ``x`` that are not in ``y``, in their order and as often as they are there; and
        ``idx``, their positions in ``x``.

    Raises:
        InvalidArgumentError: an input is no vector, or the dtypes differ.

    >>> out, idx = setdiff1d([1, 2, 3, 2], [1, 4])
    >>> out.numpy().tolist(), idx.numpy().tolist()
    ([2, 3, 2], [1, 2, 3])
    """
    first = convert_to_tensor(x)
    second = convert_to_tensor(y, preferred_dtype=first.dtype)
    return ListDiff(*call_several(_setdiff1d, first, second, dtype=as_dtype(index_dtype).name))


def _difference_shape(x: Shape, y: Shape, dtype: str) -> list[TensorShape]:
    if len(x) != 1 or len(y) != 1:
        raise InvalidArgumentError(f"setdiff1d: x and y must be vectors; got shapes {x} and {y}.")
    return [TensorShape([None]), TensorShape([None])]


_setdiff1d = define(
    setdiff1d,
    shape=_difference_shape,
    dtype=lambda given, dtype: [given, as_dtype(dtype)],
    dtypes=_COMPARABLE,
    host_reads=["x", "y"],
)
