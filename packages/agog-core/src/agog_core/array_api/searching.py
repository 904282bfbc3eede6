"""Searching: the standard's functions for search, sorting and sets.

https://data-apis.org/array-api/2025.12/API_specification/searching_functions.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from agog_core.array_api.promotion import promoted, scope, truth
from agog_core.dtypes import bool_
from agog_core.ops import sorting
from agog_core.ops.array import cast, expand_dims, imag, real, reshape, unstack, zeros_like
from agog_core.ops.array.creation import range as _range
from agog_core.ops.indexing import gather, unsorted_segment_min
from agog_core.ops.math import logic
from agog_core.ops.reduce import extrema, moments
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = [
    "argmax",
    "argmin",
    "argsort",
    "count_nonzero",
    "isin",
    "nonzero",
    "searchsorted",
    "sort",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "where",
]

Axes = int | tuple[int, ...] | None


def _position(op: Callable[..., Tensor], x: TensorLike, axis: int | None, keepdims: bool) -> Tensor:
    tensor = convert_to_tensor(x)
    if axis is None:
        return reshape(op(reshape(tensor, (-1,)), 0), (1,) * len(tensor._shape) if keepdims else ())
    found = op(tensor, axis)
    return expand_dims(found, axis) if keepdims else found


def argmax(x: TensorLike, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position, of int64, of the largest element, the first one of several."""
    return _position(extrema.argmax, x, axis, keepdims)


def argmin(x: TensorLike, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position, of int64, of the smallest element, the first one of several."""
    return _position(extrema.argmin, x, axis, keepdims)


def count_nonzero(x: TensorLike, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """How many elements are not zero, as int64."""
    return moments.count_nonzero(truth(x), axis, keepdims)


def nonzero(x: TensorLike, /) -> tuple[Tensor, ...]:
    """The positions of the elements that are not zero: for each axis a vector of int64."""
    tensor = truth(x)
    if not tensor._shape:
        raise ValueError("nonzero: the array must have at least one axis; got one without any.")
    return tuple(unstack(logic.where(tensor), num=len(tensor._shape), axis=1))


def where(condition: TensorLike, x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Elements of one array where a condition holds, and of another elsewhere, in their common dtype."""
    first, second = promoted(x1, x2)
    choice = convert_to_tensor(condition)
    # Our op takes a condition of rank 1 for one about rows.
    missing = max(len(first._shape), len(second._shape)) - len(choice._shape)
    if len(choice._shape) == 1 and missing > 0:
        choice = reshape(choice, (1,) * missing + choice._shape)
    return logic.where(choice, first, second)


def searchsorted(x1: TensorLike, x2: TensorLike, /, *, side: str = "left", sorter: TensorLike = None) -> Tensor:
    """Insertion points of elements in a sorted vector: positions of int64."""
    sequence, wanted = promoted(x1, x2)
    if sorter is not None:
        sequence = gather(sequence, cast(sorter, "int64"))
    found = sorting.searchsorted(sequence, reshape(wanted, (-1,)), side=side, out_type="int64")
    return reshape(found, wanted._shape)


def sort(x: TensorLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements in order; equal ones keep theirs, whatever `stable` says."""
    return sorting.sort(x, axis, "DESCENDING" if descending else "ASCENDING")


def argsort(x: TensorLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The positions, of int64, that put elements in order; equal ones keep theirs, whatever `stable` says."""
    found = sorting.argsort(x, axis, "DESCENDING" if descending else "ASCENDING", stable=True)
    return cast(found, "int64")


class UniqueAll(NamedTuple):
    """The result of `unique_all`."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """The result of `unique_counts`."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The result of `unique_inverse`."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: TensorLike, /) -> UniqueAll:
    """The distinct elements, their first positions, the number of each element, and their counts; each NaN differs from
    all others.
    """
    tensor = convert_to_tensor(x)
    flat = reshape(tensor, (-1,))
    keys, inverse, counts = sorting.unique_with_counts(_ordered_keys(flat), "int64")
    with scope(tensor.device):
        first = unsorted_segment_min(_range(flat._shape[0], dtype="int64"), inverse, keys._shape[0])
    return UniqueAll(gather(flat, first), first, reshape(inverse, tensor._shape), counts)


def _ordered_keys(x: Tensor) -> Tensor:
    """A vector as it is; for complex numbers, which have no order, integers with the same equalities."""
    if not x.dtype.is_complex:
        return x
    rows, columns = (sorting.unique(part, "int64").idx for part in (real(x), imag(x)))
    return rows * x._shape[0] + columns


def unique_counts(x: TensorLike, /) -> UniqueCounts:
    """The different elements, and how often each is there."""
    every = unique_all(x)
    return UniqueCounts(every.values, every.counts)


def unique_inverse(x: TensorLike, /) -> UniqueInverse:
    """The different elements, and which one each element is."""
    every = unique_all(x)
    return UniqueInverse(every.values, every.inverse_indices)


def unique_values(x: TensorLike, /) -> Tensor:
    """The different elements."""
    return unique_all(x).values


def isin(x1: TensorLike, x2: TensorLike, /, *, invert: bool = False) -> Tensor:
    """Which elements of one array are in another one; NaN is in none."""
    first, second = promoted(x1, x2)
    if not second.size:
        found = zeros_like(first, bool_)
    else:
        kind = "uint8" if second.dtype.is_bool else second.dtype
        ordered = sorting.sort(cast(reshape(second, (-1,)), kind))
        wanted = cast(reshape(first, (-1,)), kind)
        last = ordered._shape[0] - 1
        place = sorting.searchsorted(ordered, wanted, out_type="int64")
        place = logic.where(logic.less(place, last), place, zeros_like(place) + last)
        found = reshape(logic.equal(gather(ordered, place), wanted), first._shape)
    return logic.logical_not(found) if invert else found
