"""Histogram: how often numbers occur, or lie in a bin."""

from __future__ import annotations

from typing import Any

from agog_core import dtypes
from agog_core.calls.call import call
from agog_core.dispatch.op import Op
from agog_core.dtypes import as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, ones, reshape, squeeze
from agog_core.ops.math import clip_by_value, floor
from agog_core.shapes import Shape
from agog_core.tensors.convert import convert_to_tensor, decided, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["bincount", "confusion_matrix", "histogram_fixed_width", "histogram_fixed_width_bins"]

_COUNTS = frozenset({dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64})


def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: Any = dtypes.int32,
) -> Tensor:
    """Count how often each integer occurs, or sum the weights of its occurrences; it has no gradient.

    Args:
        arr: a tensor of integers that are not negative, of any shape.
        weights: a tensor of the same shape, of int32, int64, float32 or float64, to sum instead of counting.
        minlength: how many counts there are at least.
        maxlength: how many there are at most; larger integers are left out.
        dtype: the dtype of the counts, where there are no weights.

    Returns:
        A tensor of shape ``(n,)``, where n - 1 is the largest integer, of ``dtype`` or the weights' dtype.

    Raises:
        InvalidArgumentError: an integer is negative, or the weights' shape is another.

    >>> print(bincount([1, 1, 3]))
    tf.Tensor([0 2 0 1], shape=(4,), dtype=int32)
    """
    numbers = cast(arr, dtypes.int32)
    least = 0 if minlength is None else max(int(host_value(minlength)), 0)
    most = None if maxlength is None else int(host_value(maxlength))
    if most is not None and most == least:  # what is there decides nothing, and a device need not be waited for
        size = most
    else:
        size = max(decided(lambda host: int(host.max(initial=-1)) + 1, numbers), least)
        size = size if most is None else min(size, most)
    counted = ones(numbers._shape, dtype) if weights is None else convert_to_tensor(weights)
    return call(_bincount, numbers, counted, size=size)


def _bincount_shape(arr: Shape, weights: Shape, size: int) -> Shape:
    if arr != weights:
        raise InvalidArgumentError(f"bincount: weights must be of arr's shape {arr}; got {weights}.")
    return (size,)


_bincount = Op(
    "bincount",
    bincount,
    inputs=["arr", "weights"],
    shape=_bincount_shape,
    dtypes=_COUNTS,
    alike=["weights"],
    may_fail=True,
)


def histogram_fixed_width_bins(
    values: TensorLike, value_range: TensorLike, nbins: int = 100, dtype: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """Which of some bins of one width each value lies in; it has no gradient.

    Args:
        values: a tensor of real numbers.
        value_range: a pair, of the values' dtype: where the first bin begins and the last one ends.
        nbins: the number of bins.
        dtype: the result's dtype.

    Returns:
        The bins, a tensor of ``dtype`` and the values' shape; values outside count in the first or the last one.

    >>> print(histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5))
    tf.Tensor([0 0 1 2 4 4], shape=(6,), dtype=int32)
    """
    x = convert_to_tensor(values)
    ends = convert_to_tensor(value_range, x.dtype)
    scaled = (x - ends[0]) / (ends[1] - ends[0])
    return cast(clip_by_value(floor(scaled * nbins), 0, nbins - 1), dtype)


def histogram_fixed_width(
    values: TensorLike, value_range: TensorLike, nbins: int = 100, dtype: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """Count the values in each of some bins of one width; it has no gradient.

    Args:
        values: a tensor of real numbers.
        value_range: a pair, of the values' dtype: where the first bin begins and the last one ends.
        nbins: the number of bins.
        dtype: the dtype of the counts.

    Returns:
        The counts, a tensor of shape ``(nbins,)``; values outside count in the first or the last bin.

    >>> print(histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5))
    tf.Tensor([2 1 1 0 2], shape=(5,), dtype=int32)
    """
    bins = histogram_fixed_width_bins(values, value_range, nbins)
    return bincount(bins, minlength=nbins, maxlength=nbins, dtype=dtype)


def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    weights: TensorLike | None = None,
) -> Tensor:
    """Count for each pair of classes how often one was predicted where the other was right; it has no gradient.

    Args:
        labels: the right classes, a tensor of integers of shape ``(n,)``.
        predictions: the predicted classes, of the same shape; one more axis of size 1 on either is dropped.
        num_classes: the number of classes; by default one more than the largest class.
        dtype: the dtype of the counts.
        weights: what each pair counts, a tensor of shape ``(n,)``; by default 1.

    Returns:
        The matrix, of shape ``(num_classes, num_classes)``: rows are labels, columns predictions.

    Raises:
        InvalidArgumentError: a class is negative or too large, or the shapes differ.

    >>> print(confusion_matrix([1, 2, 4], [2, 2, 4], num_classes=5))
    tf.Tensor(
    [[0 0 0 0 0]
     [0 0 1 0 0]
     [0 0 1 0 0]
     [0 0 0 0 0]
     [0 0 0 0 1]], shape=(5, 5), dtype=int32)
    """
    rows, columns = convert_to_tensor(labels), convert_to_tensor(predictions)
    if len(rows._shape) == len(columns._shape) + 1:
        rows = squeeze(rows, -1)
    elif len(columns._shape) == len(rows._shape) + 1:
        columns = squeeze(columns, -1)
    if rows._shape != columns._shape:
        raise InvalidArgumentError(
            f"confusion_matrix: labels and predictions must be of one shape; got {rows._shape} and {columns._shape}."
        )
    if num_classes is None:
        count = decided(lambda *hosts: max(int(host.max(initial=-1)) for host in hosts) + 1, rows, columns)
    else:
        count = int(host_value(num_classes))
    for which, x in (("labels", rows), ("predictions", columns)):
        outside = decided(
            lambda host: (host.min(), host.max()) if host.size and not (host.min() >= 0 and host.max() < count) else (),
            x,
        )
        if outside:
            raise InvalidArgumentError(
                f"confusion_matrix: {which} must lie in [0, {count}); they lie in [{outside[0]}, {outside[1]}]."
            )
    wanted = as_dtype(dtype)
    pairs = cast(rows, dtypes.int32) * count + cast(columns, dtypes.int32)
    weighed = None if weights is None else cast(weights, wanted)
    counts = bincount(pairs, weighed, minlength=count * count, dtype=wanted)
    return reshape(counts, (count, count))
