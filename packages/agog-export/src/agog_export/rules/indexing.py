"""Indexing: rules of gathering, scattering and segments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_export.sizes import Number, Size
from agog_export.writer import Operand, Writer

__all__ = [
    "add_along",
    "dynamic_partition",
    "dynamic_stitch",
    "gather",
    "gather_nd",
    "scatter_nd",
    "take_along",
    "tensor_scatter_update",
    "unsorted_segment_max",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sum",
]


def add_along(op: Writer, values: Operand, positions: Operand, *, size: int) -> Any:
    zeros = op.zeros([*values.shape[:-1], size], values.dtype)
    return op.ScatterElements(zeros, op.cast(positions, np.int64), values, axis=-1, reduction="add")


def dynamic_partition(op: Writer, data: Operand, partitions: Operand, *, num_partitions: int) -> list[Any]:
    inner = data.shape[partitions.rank :]
    rows = op.Reshape(data, [_count(partitions.shape), *inner], allowzero=1)
    numbers = op.Reshape(partitions, [_count(partitions.shape)], allowzero=1)
    return [op.Compress(rows, op.Equal(numbers, number), axis=0) for number in range(num_partitions)]


def dynamic_stitch(op: Writer, indices: Operand, data: Operand) -> Any:
    """The last row of each position, found by a maximum; zeros where there is none."""
    if 0 in indices.shape:
        return op.zeros([0, *data.shape[1:]], data.dtype)
    positions = op.cast(indices, np.int64)
    count = op.Add(op.ReduceMax(positions, keepdims=1), np.int64(1))
    rows = op.Range(np.int64(0), op.Squeeze(op.sizes([indices.shape[0]]), [0]), np.int64(1))
    last = op.ScatterElements(op.Expand(np.array([-1]), count), positions, rows, axis=0, reduction="max")
    found = op.Gather(data, op.Max(last, np.int64(0)), axis=0)
    is_there = op.Reshape(op.GreaterOrEqual(last, np.int64(0)), [-1, *(1 for _ in data.shape[1:])])
    if data.dtype == np.dtype(bool):
        return op.And(found, is_there)
    return op.Where(is_there, found, np.array(0, data.dtype))


def _count(shape: Sequence[Number]) -> Number:
    """How many elements there are; with one unknown size, what is left."""
    return -1 if any(isinstance(size, Size) for size in shape) else math.prod(size.__index__() for size in shape)


def gather(op: Writer, params: Operand, indices: Operand, *, axis: int) -> Any:
    return op.Gather(params, indices, axis=axis)


def gather_nd(op: Writer, params: Operand, indices: Operand) -> Any:
    """GatherND takes no indices without coordinates, which stand for the whole."""
    if indices.shape[-1] == 0:
        return op.Expand(params, [*indices.shape[:-1], *params.shape])
    return op.GatherND(params, op.cast(indices, np.int64))


def scatter_nd(op: Writer, indices: Operand, updates: Operand, *, shape: Sequence[Number]) -> Any:
    zeros = op.zeros(shape, updates.dtype)
    return op.ScatterND(zeros, op.cast(indices, np.int64), updates, reduction="add")


def take_along(op: Writer, values: Operand, positions: Operand) -> Any:
    return op.GatherElements(values, op.cast(positions, np.int64), axis=-1)


def tensor_scatter_update(op: Writer, tensor: Operand, indices: Operand, updates: Operand) -> Any:
    return op.ScatterND(tensor, op.cast(indices, np.int64), updates)


def _segments(reduction: str, initial: Callable[[np.dtype[Any]], Any]) -> Callable[..., Any]:
    def rule(op: Writer, data: Operand, segment_ids: Operand, *, num_segments: int) -> Any:
        """A segment more takes what has a negative number, which ONNX would count from the end."""
        inner = data.shape[segment_ids.rank :]
        ids = op.cast(segment_ids, np.int64)
        ids = op.Where(op.Less(ids, np.int64(0)), np.int64(num_segments), ids)
        start = op.zeros([num_segments + 1, *inner], data.dtype, initial(data.dtype))
        found = op.ScatterND(start, op.Unsqueeze(ids, [segment_ids.rank]), data, reduction=reduction)
        return op.Slice(found, [0], [num_segments], [0])

    return rule


def _lowest(dtype: np.dtype[Any]) -> Any:
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min


def _highest(dtype: np.dtype[Any]) -> Any:
    return np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max


unsorted_segment_max = _segments("max", _lowest)
unsorted_segment_min = _segments("min", _highest)
unsorted_segment_prod = _segments("mul", lambda dtype: 1)
unsorted_segment_sum = _segments("add", lambda dtype: 0)
