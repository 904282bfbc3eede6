"""Batching: TensorFlow's transformations for methods of datasets."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from agog_core import Tensor, TensorShape
from agog_data import arguments
from agog_data.dataset import Dataset
from agog_data.stages.sparse_batching import SparseBatch

Transformation = Callable[[Dataset], Dataset]


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """Map on several threads, then batch: the same as ``map(map_func, num_parallel_calls).batch(batch_size)``.

    Args:
        map_func: takes the element, a tuple as several arguments; returns tensors in any structure.
        batch_size: how many elements are joined.
        num_parallel_batches: how many batches are in the making at once; there are never more threads than processors.
            None for one, unless ``num_parallel_calls`` is given.
        drop_remainder: whether a last batch with fewer elements is left out.
        num_parallel_calls: how many threads call the function, in place of ``num_parallel_batches``.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: both numbers are given.
        InvalidArgumentError: a number is below 1.

    >>> for batch in Dataset.range(5).apply(map_and_batch(lambda x: x * x, 3)):
    ...     print(batch.numpy())
    [0 1 4]
    [ 9 16]
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError("map_and_batch: give num_parallel_batches or num_parallel_calls, not both.")
    size = arguments.positive("map_and_batch", "batch_size", batch_size)
    if num_parallel_calls is None:
        batches = 1 if num_parallel_batches is None else num_parallel_batches
        calls = size * arguments.positive("map_and_batch", "num_parallel_batches", batches)
        calls = min(calls, os.cpu_count() or 1)
    else:
        calls = arguments.positive("map_and_batch", "num_parallel_calls", num_parallel_calls)
    return lambda dataset: dataset.map(map_func, calls).batch(size, drop_remainder)


def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """Join elements, without a last batch that has fewer: the same as ``batch(batch_size, drop_remainder=True)``.

    Args:
        batch_size: how many elements are joined.

    Returns:
        A function for `Dataset.apply`.

    >>> [batch.numpy().tolist() for batch in Dataset.range(5).apply(batch_and_drop_remainder(2))]
    [[0, 1], [2, 3]]
    """
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size: Any, padded_shapes: Any, padding_values: Any = None) -> Transformation:
    """Pad and join elements, without a last batch that has fewer: `Dataset.padded_batch` with ``drop_remainder=True``.

    Args:
        batch_size: how many elements are joined.
        padded_shapes: in the structure of an element, the shape to which each component is padded; None or -1 for an
            axis that is as long as the longest of the batch.
        padding_values: in the structure of an element, the scalars to pad with; None for zero or the empty string.

    Returns:
        A function for `Dataset.apply`.

    >>> dataset = Dataset.from_tensor_slices([[1, 2], [3, 4], [5, 6]])
    >>> [batch.numpy().tolist() for batch in dataset.apply(padded_batch_and_drop_remainder(2, [3]))]
    [[[1, 2, 0], [3, 4, 0]]]
    """
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """Join tensors of different sizes into sparse ones, instead of padding them.

    Args:
        batch_size: how many elements are joined.
        row_shape: the shape that all elements lie in: a `TensorShape` or a list of sizes; None or -1 for a size that is
            the largest of each batch.

    Returns:
        A function for `Dataset.apply`. Its elements are `SparseTensor`s of shapes (batch_size, *row_shape), which hold
        all values of the tensors, zeros too. Iterating raises `DataLossError` if a tensor is larger than
        ``row_shape``, `InvalidArgumentError` if it has another rank.

    Raises:
        InvalidArgumentError: ``batch_size`` is below 1.

    >>> import agog_core as ag
    >>> rows = Dataset.from_tensor_slices([1, 3]).map(lambda n: ag.fill([int(n)], n))
    >>> (batch,) = rows.apply(dense_to_sparse_batch(2, [4]))
    >>> batch.indices.numpy().tolist(), batch.values.numpy().tolist(), batch.shape
    ([[0, 0], [1, 0], [1, 1], [1, 2]], [1, 3, 3, 3], TensorShape([2, 4]))
    """
    size = arguments.positive("dense_to_sparse_batch", "batch_size", batch_size)
    listed = row_shape.numpy().tolist() if isinstance(row_shape, Tensor) else row_shape
    if isinstance(listed, (list, tuple)):
        listed = [None if each == -1 else each for each in listed]
    shape = TensorShape(listed).as_list()
    return lambda dataset: dataset._then(SparseBatch(dataset._stage, size, shape))
