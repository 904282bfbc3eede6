"""Sorting: rules of order, search and unique values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_export.writer import Operand, Writer

__all__ = [
    "argsort",
    "in_top_k",
    "invert_permutation",
    "nth_element",
    "searchsorted",
    "setdiff1d",
    "sort",
    "top_k",
    "unique_with_counts",
    "unravel_index",
]


def sort(op: Writer, values: Operand, *, descending: bool) -> Any:
    return _sorted(op, values, descending)[0]


def argsort(op: Writer, values: Operand, *, descending: bool) -> Any:
    return op.cast(_sorted(op, values, descending)[1], op.out.dtype)


def _sorted(op: Writer, values: Operand, descending: bool) -> Any:
    return op.TopK(values, [values.shape[-1]], outputs=2, sorted=1, largest=descending)


def in_top_k(op: Writer, predictions: Operand, targets: Operand, *, k: int) -> Any:
    """Whether fewer than k others are larger."""
    target = op.GatherElements(predictions, op.Unsqueeze(op.cast(targets, np.int64), [1]), axis=1)
    larger = op.ReduceSum(op.cast(op.Greater(predictions, target), np.int64), [1], keepdims=0)
    return op.Less(larger, np.int64(k))


def invert_permutation(op: Writer, x: Operand) -> Any:
    places = op.Range(np.int64(0), op.Squeeze(op.sizes(x.shape), [0]), np.int64(1))
    return op.cast(op.ScatterElements(places, op.cast(x, np.int64), places, axis=0), op.out.dtype)


def searchsorted(op: Writer, sorted_sequence: Operand, values: Operand, *, side: str, dtype: Any) -> Any:
    """How many elements come before each value."""
    elements = op.Unsqueeze(sorted_sequence, [sorted_sequence.rank - 1])
    compare = op.Less if side == "left" else op.LessOrEqual
    is_before = op.cast(compare(elements, op.Unsqueeze(values, [values.rank])), op.out.dtype)
    return op.ReduceSum(is_before, [values.rank], keepdims=0)


def setdiff1d(op: Writer, x: Operand, y: Operand, *, dtype: Any) -> list[Any]:
    equals = op.cast(op.Equal(op.Unsqueeze(x, [1]), op.Unsqueeze(y, [0])), np.int32)
    is_apart = op.Equal(op.ReduceSum(equals, [1], keepdims=0), 0)
    places = op.Squeeze(op.NonZero(is_apart), [0])
    return [op.Gather(x, places, axis=0), op.cast(places, op.outputs[1].dtype)]


def nth_element(op: Writer, input: Operand, *, n: int) -> Any:
    return op.Gather(_sorted(op, input, False)[0], np.int64(n), axis=-1)


def top_k(op: Writer, input: Operand, *, k: int) -> list[Any]:
    values, places = op.TopK(input, [k], outputs=2, sorted=1)
    return [values, op.cast(places, op.outputs[1].dtype)]


def unique_with_counts(op: Writer, x: Operand, *, dtype: Any) -> list[Any]:
    """In the order in which they first occur; runtimes have the operator for integers of 64 bits."""
    wide = x if x.is_floating else op.cast(x, np.int64)
    values, _, places, counts = op.Unique(wide, outputs=4, sorted=0)
    places.dtype = counts.dtype = np.dtype(np.int64)
    return [op.cast(values, x.dtype), *(op.cast(each, op.outputs[1].dtype) for each in (places, counts))]


def unravel_index(op: Writer, indices: Operand, *, dims: Sequence[int]) -> Any:
    if not dims:
        return op.zeros([0, *indices.shape], indices.dtype)
    parts = [
        op.Mod(op.Div(indices, max(math.prod(dims[axis + 1 :]), 1)), max(size, 1)) for axis, size in enumerate(dims)
    ]
    return op.Concat(*(op.Unsqueeze(part, [0]) for part in parts), axis=0)
