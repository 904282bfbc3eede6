"""Arrays: NumPy's functions in ``tf.keras.ops``, with NumPy's arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike, convert_to_tensor
from agog_core.calls.docstrings import documented_like

__all__ = [
    "append",
    "cbrt",
    "deg2rad",
    "diag",
    "diagonal",
    "dot",
    "exp2",
    "fliplr",
    "flipud",
    "full_like",
    "hstack",
    "inner",
    "outer",
    "rad2deg",
    "ravel",
    "swapaxes",
    "tri",
    "vdot",
    "vstack",
]


def ravel(x: TensorLike) -> Tensor:
    """All elements in a row.

    Args:
        x: a tensor.

    Returns:
        A tensor of rank 1.

    >>> ravel([[1, 2], [3, 4]]).numpy().tolist()
    [1, 2, 3, 4]
    """
    return ag.reshape(x, [-1])


def append(x1: TensorLike, x2: TensorLike, axis: int | None = None) -> Tensor:
    """Put one tensor behind another.

    Args:
        x1: the first tensor.
        x2: the second one.
        axis: the axis; None to put their elements into a row.

    Returns:
        A tensor.

    >>> append([1], [2, 3]).numpy().tolist()
    [1, 2, 3]
    """
    return ag.concat([ravel(x1), ravel(x2)], 0) if axis is None else ag.concat([x1, x2], axis)


def hstack(xs: Sequence[TensorLike]) -> Tensor:
    """Put tensors side by side: along the second axis, or the only one.

    Args:
        xs: the tensors.

    Returns:
        A tensor.

    >>> hstack([[1], [2, 3]]).numpy().tolist()
    [1, 2, 3]
    """
    tensors = [_of_rank(x, 1) for x in xs]
    return ag.concat(tensors, 0 if len(tensors[0]._shape) == 1 else 1)


@documented_like(hstack)
def vstack(xs: Sequence[TensorLike]) -> Tensor:
    """Put tensors below one another: along the first axis, vectors as rows.

    >>> vstack([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 2], [3, 4]]
    """
    return ag.concat([_of_rank(x, 2) for x in xs], 0)


def _of_rank(x: TensorLike, rank: int) -> Tensor:
    """A tensor with axes of size 1 in front where it has too few."""
    tensor = convert_to_tensor(x)
    return ag.reshape(tensor, [1] * max(0, rank - len(tensor._shape)) + list(tensor._shape))


def swapaxes(x: TensorLike, axis1: int, axis2: int) -> Tensor:
    """Exchange two axes.

    Args:
        x: a tensor.
        axis1: one axis.
        axis2: the other.

    Returns:
        A tensor.

    >>> swapaxes([[1, 2, 3]], 0, 1).shape
    TensorShape([3, 1])
    """
    tensor = convert_to_tensor(x)
    order = list(range(len(tensor._shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return ag.transpose(tensor, order)


def fliplr(x: TensorLike) -> Tensor:
    """Turn the second axis round. See `reverse`.

    Args:
        x: a tensor.

    Returns:
        A tensor of the same shape.
    """
    return ag.reverse(x, [1])


@documented_like(fliplr)
def flipud(x: TensorLike) -> Tensor:
    """Turn the first axis round. See `reverse`."""
    return ag.reverse(x, [0])


def full_like(x: TensorLike, fill_value: TensorLike, dtype: Any = None) -> Tensor:
    """A tensor of another's shape, with one value.

    Args:
        x: the other tensor.
        fill_value: the value.
        dtype: the dtype; None for the other's.

    Returns:
        A tensor.

    >>> full_like([1, 2], 7).numpy().tolist()
    [7, 7]
    """
    tensor = convert_to_tensor(x)
    return ag.fill(tensor._shape, ag.cast(fill_value, dtype or tensor.dtype))


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = "float32") -> Tensor:
    """Ones on a diagonal and below it.

    Args:
        N: the number of rows.
        M: the number of columns; None for as many.
        k: the diagonal; 0 for the main one.
        dtype: the dtype.

    Returns:
        A matrix.

    >>> tri(2).numpy().tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    rows, columns = ag.expand_dims(ag.range(N), 1), ag.range(N if M is None else M)
    return ag.cast(rows + k >= columns, dtype)


def diagonal(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonal of two axes, as the last axis.

    Args:
        x: a tensor.
        offset: which diagonal: above the main one where it is positive.
        axis1: the axis of rows.
        axis2: the axis of columns.

    Returns:
        A tensor.

    >>> diagonal([[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    """
    tensor = convert_to_tensor(x)
    rank = len(tensor._shape)
    others = [n for n in range(rank) if n not in (axis1 % rank, axis2 % rank)]
    matrices = ag.transpose(tensor, [*others, axis1 % rank, axis2 % rank])
    rows, columns = matrices._shape[-2:]
    count = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    first = offset if offset >= 0 else -offset * columns
    flat = ag.reshape(matrices, [*matrices._shape[:-2], rows * columns])
    return ag.gather(flat, [first + n * (columns + 1) for n in range(count)] or ag.zeros([0], "int32"), axis=-1)


def diag(x: TensorLike, k: int = 0) -> Tensor:
    """A matrix with a vector on its diagonal, or the diagonal of a matrix.

    Args:
        x: the vector or matrix.
        k: which diagonal: above the main one where it is positive.

    Returns:
        A matrix or a vector.

    >>> diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    tensor = convert_to_tensor(x)
    if len(tensor._shape) > 1:
        return diagonal(tensor, k)
    above, below = max(0, k), max(0, -k)
    return ag.pad(ag.matrix_diag(tensor), [[below, above], [above, below]])


def dot(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The product over the last axis of the first tensor and the last but one of the second, or its only one.

    Args:
        x1: the first tensor.
        x2: the second one.

    Returns:
        A tensor.

    >>> int(dot([1, 2], [3, 4]))
    11
    """
    a, b = convert_to_tensor(x1), convert_to_tensor(x2)
    if not a._shape or not b._shape:
        return a * b
    return ag.tensordot(a, b, [[-1], [max(0, len(b._shape) - 2)]])


@documented_like(dot)
def inner(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The product over the last axes. See `dot`."""
    a, b = convert_to_tensor(x1), convert_to_tensor(x2)
    return a * b if not a._shape or not b._shape else ag.tensordot(a, b, [[-1], [-1]])


def outer(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The products of all pairs of elements.

    Args:
        x1: the tensor of the rows.
        x2: that of the columns.

    Returns:
        A matrix.

    >>> outer([1, 2], [3, 4]).numpy().tolist()
    [[3, 4], [6, 8]]
    """
    return ag.expand_dims(ravel(x1), 1) * ravel(x2)


def vdot(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The product of all elements, those of the first tensor conjugated. See `dot`.

    Args:
        x1: the first tensor.
        x2: the second one, of as many elements.

    Returns:
        A scalar.
    """
    return ag.reduce_sum(ag.conj(ravel(x1)) * ravel(x2))


def exp2(x: TensorLike) -> Tensor:
    """2 to the power of each element.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.
    """
    return ag.exp(convert_to_tensor(x) * math.log(2))


@documented_like(exp2)
def cbrt(x: TensorLike) -> Tensor:
    """The cube root of each element.

    >>> float(cbrt(-8.0).numpy().round(5))
    -2.0
    """
    tensor = convert_to_tensor(x)
    return ag.sign(tensor) * ag.abs(tensor) ** (1 / 3)


@documented_like(exp2)
def deg2rad(x: TensorLike) -> Tensor:
    """Degrees as radians."""
    return convert_to_tensor(x) * (math.pi / 180)


@documented_like(exp2)
def rad2deg(x: TensorLike) -> Tensor:
    """Radians as degrees."""
    return convert_to_tensor(x) * (180 / math.pi)
