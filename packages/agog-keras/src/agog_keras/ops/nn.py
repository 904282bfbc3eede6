"""Nn: functions of ``tf.keras.ops.nn``, with Keras's arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike, convert_to_tensor
from agog_core.calls.docstrings import documented_like
from agog_core.calls.elementwise import operands
from agog_core.ops.conv.arguments import as_before, channels_last, check_rank, form_of
from agog_core.ops.conv.convolution_ops import general_convolution
from agog_core.ops.conv.convolutions import strides_and_rates
from agog_core.ops.conv.pools import pool
from agog_core.ops.sorting.sorting import in_top_k as core_in_top_k
from agog_core.tensors.convert import fixed, whole
from agog_layers.losses.formulas import binary_entropy, categorical_entropy

__all__ = [
    "average_pool",
    "binary_crossentropy",
    "categorical_crossentropy",
    "conv",
    "in_top_k",
    "max_pool",
    "multi_hot",
    "normalize",
    "rms_normalization",
    "scatter",
    "segment_max",
    "segment_sum",
    "slice_update",
    "sparse_categorical_crossentropy",
]

_LEAST = 1e-7


def binary_crossentropy(target: TensorLike, output: TensorLike, from_logits: bool = False) -> Tensor:
    """The cross entropy of yes and no, of each element.

    Args:
        target: probabilities.
        output: probabilities, or logits.
        from_logits: whether they are logits.

    Returns:
        A tensor of the same shape.

    >>> print(binary_crossentropy([1.0], [0.5]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    x = convert_to_tensor(output)
    return binary_entropy(ag.cast(target, x.dtype), x, from_logits)


def categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """The cross entropy of distributions over classes.

    Args:
        target: probabilities of classes.
        output: numbers in proportion to probabilities, or logits.
        from_logits: whether they are logits.
        axis: the axis of the classes.

    Returns:
        A tensor without that axis.

    >>> print(categorical_crossentropy([[0.0, 1.0]], [[0.5, 0.5]]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    x = convert_to_tensor(output)
    return categorical_entropy(ag.cast(target, x.dtype), x, from_logits, axis)


@documented_like(categorical_crossentropy)
def sparse_categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """The cross entropy of class numbers and distributions over classes. See `categorical_crossentropy`.

    Args:
        target: class numbers.
    """
    x, classes = convert_to_tensor(output), convert_to_tensor(target)
    if len(classes._shape) == len(x._shape) and classes._shape[axis] == 1:
        classes = ag.squeeze(classes, [axis])
    return categorical_crossentropy(
        ag.one_hot(ag.cast(classes, "int64"), x._shape[axis], axis=axis), x, from_logits, axis
    )


def _sizes(value: int | Sequence[int], count: int) -> list[int]:
    return [value] * count if isinstance(value, int) else list(value)


def _pool(kind: str, inputs: TensorLike, pool_size: Any, strides: Any, padding: str, data_format: str | None) -> Tensor:
    x = convert_to_tensor(inputs)
    count = len(x._shape) - 2
    first = data_format == "channels_first"
    last = ag.transpose(x, [0, *range(2, count + 2), 1]) if first else x
    size = _sizes(pool_size, count)
    found = pool(last, size, kind, padding.upper(), strides=_sizes(strides or size, count))
    return ag.transpose(found, [0, count + 1, *range(1, count + 1)]) if first else found


def max_pool(
    inputs: TensorLike,
    pool_size: int | Sequence[int],
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """The largest of the neighbours of each place.

    Args:
        inputs: a tensor of shape (batch, ..., channels).
        pool_size: how many neighbours, along all axes or each.
        strides: how far the places lie apart; None for ``pool_size``.
        padding: ``"valid"`` or ``"same"``.
        data_format: ``"channels_last"`` or ``"channels_first"``.

    Returns:
        A tensor.

    >>> max_pool(ag.ones([1, 4, 4, 1]), 2).shape
    TensorShape([1, 2, 2, 1])
    """
    return _pool("MAX", inputs, pool_size, strides, padding, data_format)


def average_pool(
    inputs: TensorLike,
    pool_size: int | Sequence[int],
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """The mean of the neighbours of each place. See `max_pool`.

    Args:
        inputs: a tensor of shape (batch, ..., channels).
        Other arguments: see `max_pool`.

    Returns:
        A tensor.
    """
    return _pool("AVG", inputs, pool_size, strides, padding, data_format)


def conv(
    inputs: TensorLike,
    kernel: TensorLike,
    strides: int | Sequence[int] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
) -> Tensor:
    """Convolution.

    Args:
        inputs: a tensor of shape (batch, ..., channels).
        kernel: the filters, of shape (..., channels, filters); with fewer channels than the inputs', each group of
            filters sees its share of these.
        strides: how far the places lie apart.
        padding: ``"valid"`` or ``"same"``.
        data_format: ``"channels_last"`` or ``"channels_first"``.
        dilation_rate: how far the filters' elements lie apart.

    Returns:
        A tensor.

    >>> conv(ag.ones([1, 4, 4, 1]), ag.ones([2, 2, 1, 3])).shape
    TensorShape([1, 3, 3, 3])
    """
    x, filters = operands("conv", ("inputs", "kernel"), inputs, kernel)
    count = len(x._shape) - 2
    check_rank("conv", "kernel", filters, count + 2, "window, channels, filters")
    first = data_format == "channels_first"
    last = channels_last(x, first)
    steps, rates = strides_and_rates("conv", _sizes(strides, count), _sizes(dilation_rate, count), count)
    form = form_of("conv", last._shape[1:-1], filters._shape[:-2], steps, padding.upper(), rates, False)
    groups = max(1, last._shape[-1] // max(1, filters._shape[-2]))
    return as_before(general_convolution(last, filters, *form, groups), first)


def in_top_k(targets: TensorLike, predictions: TensorLike, k: int) -> Tensor:
    """Whether class numbers are among the likeliest classes.

    Args:
        targets: class numbers, of shape (batch,).
        predictions: scores, of shape (batch, classes).
        k: how many classes count.

    Returns:
        A tensor of bools of shape (batch,).

    >>> in_top_k([1, 0], [[0.2, 0.8], [0.1, 0.9]], 1).numpy().tolist()
    [True, False]
    """
    return core_in_top_k(predictions, targets, k)


def multi_hot(inputs: TensorLike, num_classes: int, axis: int = -1, dtype: Any = "float32") -> Tensor:
    """A one for each class that a row has.

    Args:
        inputs: class numbers, of shape (..., n).
        num_classes: the number of classes.
        axis: where the classes go.
        dtype: the dtype.

    Returns:
        A tensor.

    >>> multi_hot([0, 2], 3).numpy().tolist()
    [1.0, 0.0, 1.0]
    """
    numbers = convert_to_tensor(inputs)
    reduced = 1 if len(numbers._shape) > 1 else 0
    return ag.cast(ag.reduce_max(ag.one_hot(ag.cast(numbers, "int64"), num_classes, axis=axis), reduced), dtype)


def normalize(x: TensorLike, axis: int = -1, order: int = 2, epsilon: float | None = None) -> Tensor:
    """Divide by the norm along an axis.

    Args:
        x: a tensor of floats.
        axis: the axis.
        order: which norm.
        epsilon: the least that the norm counts as; None for 1e-7.

    Returns:
        A tensor of the same shape.

    >>> print(normalize([3.0, 4.0]))
    tf.Tensor([0.6 0.8], shape=(2,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    size = ag.norm(tensor, ord=order, axis=axis, keepdims=True)
    return tensor / ag.maximum(size, _LEAST if epsilon is None else epsilon)


def rms_normalization(
    x: TensorLike, scale: TensorLike = 1.0, axis: int | Sequence[int] = -1, epsilon: float | None = None
) -> Tensor:
    """Divide by the root of the mean square along axes.

    Args:
        x: a tensor of floats.
        scale: what the result is multiplied by.
        axis: the axes.
        epsilon: what is added to the mean square; None for 1e-7.

    Returns:
        A tensor of the same shape.

    >>> rms_normalization([3.0, 3.0]).numpy().round(3).tolist()
    [1.0, 1.0]
    """
    tensor = convert_to_tensor(x)
    mean = ag.reduce_mean(ag.square(tensor), axis, True)
    return ag.multiply(tensor * ag.rsqrt(mean + (_LEAST if epsilon is None else epsilon)), scale)


def scatter(indices: TensorLike, values: TensorLike, shape: Sequence[int]) -> Tensor:
    """Put values into zeros, and add up what comes to one place.

    Args:
        indices: the places, of shape (n, rank).
        values: the values.
        shape: the shape of the result.

    Returns:
        A tensor.

    >>> scatter([[0], [2]], [1.0, 5.0], [3]).numpy().tolist()
    [1.0, 0.0, 5.0]
    """
    return ag.scatter_nd(indices, values, list(shape))


def slice_update(inputs: TensorLike, start_indices: Sequence[int], updates: TensorLike) -> Tensor:
    """Put a block into a tensor.

    Args:
        inputs: the tensor.
        start_indices: where the block begins.
        updates: the block.

    Returns:
        A tensor of the same shape.

    >>> slice_update([1, 2, 3, 4], [1], [8, 9]).numpy().tolist()
    [1, 8, 9, 4]
    """
    tensor = convert_to_tensor(inputs)
    block = convert_to_tensor(updates, tensor.dtype)
    starts = [int(start) for start in fixed(convert_to_tensor(start_indices))]
    sizes = zip(starts, block._shape, tensor._shape, strict=True)
    margins = [[start, whole - start - size] for start, size, whole in sizes]
    inside = ag.pad(ag.ones(block._shape, "bool"), margins)
    return ag.where(inside, ag.pad(block, margins), tensor)


def segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: int | None = None, sorted: bool = False
) -> Any:
    """The sums of the rows of each segment.

    Args:
        data: rows.
        segment_ids: the segment of each row.
        num_segments: how many segments there are; None for those that are named.

    Returns:
        A tensor with a row for each segment.

    >>> segment_sum([1.0, 2.0, 4.0], [0, 1, 0]).numpy().tolist()
    [5.0, 2.0]
    """
    return ag.unsorted_segment_sum(data, segment_ids, _segments(segment_ids, num_segments))


@documented_like(segment_sum)
def segment_max(
    data: TensorLike, segment_ids: TensorLike, num_segments: int | None = None, sorted: bool = False
) -> Any:
    """The largest of the rows of each segment. See `segment_sum`.

    Returns:
        A tensor with a row for each segment: for one without rows minus infinity, or the dtype's least integer.
    """
    rows, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    count = _segments(ids, num_segments)
    found = ag.unsorted_segment_max(rows, ids, count)
    if not rows.dtype.is_floating:
        return found
    is_empty = ag.equal(ag.unsorted_segment_sum(ag.ones_like(ids), ids, count), 0)
    lowest = ag.fill(found._shape, ag.cast(-math.inf, rows.dtype))
    return ag.where(ag.reshape(is_empty, [count] + [1] * (found.ndim - 1)), lowest, found)


def _segments(segment_ids: TensorLike, count: int | None) -> int:
    return whole(ag.reduce_max(segment_ids)) + 1 if count is None else count
