"""Editing of sequences: edit distances and repetitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agog_core.dtypes import bool_, int32
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, concat, ones
from agog_core.ops.indexing import boolean_mask, scatter_nd
from agog_core.ops.math.logic import not_equal, where
from agog_core.ops.reduce.reduction import reduce_sum
from agog_core.ops.sorting.positions import sequence_mask
from agog_core.tensors import SparseTensor, SparseTensorValue, Tensor, TensorLike, constant
from agog_core.tensors.convert import at_each_run, convert_to_tensor, decided

__all__ = ["edit_distance"]


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance") -> Tensor:
    """The Levenshtein distances of sequences: how many insertions, deletions and substitutions make one of the other.

    Computed on the host, as in R. A. Wagner and M. J. Fischer, "The string-to-string correction problem", JACM 21(1),
    1974. It has no gradient.

    Args:
        hypothesis: a `SparseTensor` whose last axis holds sequences, of any dtype.
        truth: another of the same dtype and rank.
        normalize: whether to divide by the length of the truth; infinite where that is 0 and the hypothesis is not
            empty.

    Returns:
        A float32 tensor, whose shape is the larger of the two without the last axis.

    Raises:
        TypeError: an argument is no `SparseTensor`.
        InvalidArgumentError: the dtypes or the ranks differ.

    >>> hypothesis = SparseTensor([[0, 0], [1, 0]], ["a", "b"], [2, 1])
    >>> truth = SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "c", "b"], [2, 2])
    >>> print(edit_distance(hypothesis, truth))
    tf.Tensor([0.5 0. ], shape=(2,), dtype=float32)
    """
    given, wanted = _sparse("hypothesis", hypothesis), _sparse("truth", truth)
    if given.dtype is not wanted.dtype or len(given.shape) != len(wanted.shape) or not len(given.shape):
        raise InvalidArgumentError(
            f"edit_distance: hypothesis and truth must be of one dtype and rank; got {given.dtype.name} of shape "
            f"{given.shape} and {wanted.dtype.name} of shape {wanted.shape}."
        )
    return at_each_run(lambda one, other: _distances(one, other, normalize), given, wanted)


def _distances(given: SparseTensor, wanted: SparseTensor, normalize: bool) -> Tensor:
    sizes = tuple(np.maximum(given.dense_shape.numpy(), wanted.dense_shape.numpy())[:-1].tolist())
    distances = np.zeros(sizes, np.float32)
    sequences, truths = _sequences(given), _sequences(wanted)
    for place in sequences.keys() | truths.keys():
        expected = truths.get(place, [])
        distance: float = _distance(sequences.get(place, []), expected)
        if normalize and distance:
            distance = distance / len(expected) if expected else math.inf
        distances[place] = distance
    return constant(distances)


def collapse_repeated(labels: TensorLike, seq_length: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Keep one of equal neighbours.

    Args:
        labels: a tensor of numbers of shape (batch, steps).
        seq_length: how many steps of each row count, integers of shape (batch,).

    Returns:
        A tuple: the rows without repetitions, with zeros behind them, of the labels' dtype and of shape (batch, longest
        row); and their lengths, of the dtype of ``seq_length``.

    Raises:
        InvalidArgumentError: shapes do not fit.

    >>> rows, lengths = collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 4, 4]], [5, 3])
    >>> rows.numpy().tolist(), lengths.numpy().tolist()
    ([[1, 2, 1], [3, 0, 0]], [3, 1])
    """
    x, lengths = convert_to_tensor(labels), convert_to_tensor(seq_length)
    if len(x._shape) != 2 or lengths._shape != x._shape[:1]:
        raise InvalidArgumentError(
            "collapse_repeated: labels must be of shape (batch, steps) and seq_length of shape (batch,); got shapes "
            f"{x._shape} and {lengths._shape}."
        )
    first = ones((x._shape[0], min(x._shape[1], 1)), bool_)
    kept = concat([first, not_equal(x[:, 1:], x[:, :-1])], 1) & sequence_mask(lengths, x._shape[1])
    counts = reduce_sum(cast(kept, int32), 1)
    width = decided(lambda host: int(host.max(initial=0)), counts)
    at = where(sequence_mask(counts, width))
    return scatter_nd(at, boolean_mask(x, kept), (x._shape[0], width)), cast(counts, lengths.dtype)


def _sparse(name: str, value: Any) -> SparseTensor:
    if not isinstance(value, (SparseTensor, SparseTensorValue)):
        raise TypeError(f"edit_distance: {name} must be a SparseTensor; got {value!r} of type {type(value).__name__}.")
    return SparseTensor.from_value(value)


def _sequences(sparse: SparseTensor) -> dict[tuple[int, ...], list[Any]]:
    found: dict[tuple[int, ...], list[Any]] = {}
    for (*place, _), value in zip(sparse.indices.numpy().tolist(), sparse.values.numpy().tolist(), strict=True):
        found.setdefault(tuple(place), []).append(value)
    return found


def _distance(first: list[Any], second: list[Any]) -> int:
    row = list(range(len(second) + 1))
    for count, item in enumerate(first, 1):
        diagonal, row[0] = row[0], count
        for column, other in enumerate(second, 1):
            substituted = diagonal + (item != other)
            diagonal = row[column]
            row[column] = min(substituted, diagonal + 1, row[column - 1] + 1)
    return row[-1]
