"""Positions: masks, permutations, and positions along axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core import dtypes
from agog_core.calls.broadcasting import static_shape
from agog_core.calls.call import call
from agog_core.dispatch.op import define
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, expand_dims, range
from agog_core.shapes import Shape
from agog_core.tensors.convert import convert_to_tensor, decided, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["invert_permutation", "sequence_mask", "unravel_index"]

_INDICES = frozenset({dtypes.int32, dtypes.int64})


def sequence_mask(
    lengths: TensorLike, maxlen: Any = None, dtype: Any = dtypes.bool_, name: str | None = None
) -> Tensor:
    """Mark the first positions of sequences of various lengths.

    Args:
        lengths: integers of any shape: the lengths.
        maxlen: how many positions a sequence has; the largest length by default.
        dtype: the dtype of the result.

    Returns:
        A tensor of shape (*lengths.shape, maxlen), true (or one) at the first ``lengths`` positions.

    Raises:
        ValueError: ``maxlen`` is not a scalar.

    >>> print(sequence_mask([1, 3]))
    tf.Tensor(
    [[ True False False]
     [ True  True  True]], shape=(2, 3), dtype=bool)
    """
    x = convert_to_tensor(lengths)
    most = np.asarray(decided(lambda host: host.max(initial=0), x)) if maxlen is None else host_value(maxlen)
    if most.ndim:
        raise ValueError(f"sequence_mask: maxlen must be a scalar; got shape {most.shape}.")
    return cast(range(most.item(), dtype=x.dtype) < expand_dims(x, -1), dtype)


def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """Undo a permutation: where in it is each number?

    Args:
        x: a vector that holds each of the numbers from 0 to n - 1 once, int32 or int64.

    Returns:
        The vector ``y`` with ``y[x[i]] == i``, of the same dtype.

    Raises:
        InvalidArgumentError: the input is no permutation.

    >>> print(invert_permutation([2, 0, 1]))
    tf.Tensor([1 2 0], shape=(3,), dtype=int32)
    """
    return call(_invert_permutation, convert_to_tensor(x))


def _permutation_shape(x: Shape) -> Shape:
    if len(x) != 1:
        raise InvalidArgumentError(f"invert_permutation: x must be a vector; got shape {x}.")
    return x


_invert_permutation = define(invert_permutation, shape=_permutation_shape, dtypes=_INDICES, may_fail=True)


def unravel_index(indices: TensorLike, dims: Any, name: str | None = None) -> Tensor:
    """Turn positions in a flat tensor into positions along the axes of a shape.

    Args:
        indices: int32 or int64 positions, of any shape.
        dims: the n sizes of the shape.

    Returns:
        A tensor of shape (n, *indices.shape): the positions along each axis.

    Raises:
        InvalidArgumentError: a position is out of range.

    >>> print(unravel_index([2, 5], [2, 3]))
    tf.Tensor(
    [[0 1]
     [2 2]], shape=(2, 2), dtype=int32)
    """
    return call(_unravel_index, convert_to_tensor(indices), dims=static_shape(dims))


def _unravel_shape(indices: Shape, dims: Shape) -> Shape:
    return (len(dims), *indices)


_unravel_index = define(unravel_index, shape=_unravel_shape, dtypes=_INDICES, may_fail=True)
