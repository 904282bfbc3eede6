"""Diagonals of matrices, and matrices made of them.

The diagonal of a contiguous matrix of n columns is every (n + 1)-th of its elements: a slice with a step.
"""

from __future__ import annotations

import math
from typing import Any

from agog_core import dtypes
from agog_core.calls.broadcasting import broadcast_to, static_shape
from agog_core.calls.call import create
from agog_core.dispatch.op import define
from agog_core.dtypes import NUMERIC_OR_BOOL, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import expand_dims, range, reshape, zeros
from agog_core.ops.array.slicing import cut, strided_slice_grad
from agog_core.ops.math.logic import where
from agog_core.shapes import Shape
from agog_core.tensors.convert import convert_to_tensor, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["diag", "diag_part", "eye", "matrix_band_part", "matrix_diag", "matrix_diag_part", "matrix_set_diag"]


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Make a matrix, or a batch of them, that is one on the diagonal and zero elsewhere.

    Args:
        num_rows: the number of rows.
        num_columns: the number of columns; that of the rows by default.
        batch_shape: the shape of the batch; none by default.
        dtype: the dtype, of numbers or bool.

    Returns:
        A tensor of shape (*batch_shape, num_rows, num_columns).

    Raises:
        InvalidArgumentError: the matrix is to hold strings.
        ValueError: a size is negative.

    >>> print(eye(2))
    tf.Tensor(
    [[1. 0.]
     [0. 1.]], shape=(2, 2), dtype=float32)
    """
    rows = int(host_value(num_rows))
    (rows, columns) = static_shape((rows, rows if num_columns is None else int(host_value(num_columns))))
    matrix = create(_eye, as_dtype(dtype), rows=rows, columns=columns)
    return matrix if batch_shape is None else broadcast_to(matrix, (*static_shape(batch_shape), rows, columns))


def _eye_shape(rows: int, columns: int) -> Shape:
    return rows, columns


_eye = define(eye, shape=_eye_shape, dtypes=NUMERIC_OR_BOOL)


def matrix_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """Make square matrices that have vectors on their diagonals and are zero elsewhere.

    Args:
        diagonal: vectors of shape (..., n), of numbers or bools.

    Returns:
        A tensor of shape (..., n, n).

    Raises:
        InvalidArgumentError: the input is a scalar.

    >>> print(matrix_diag([1, 2]))
    tf.Tensor(
    [[1 0]
     [0 2]], shape=(2, 2), dtype=int32)
    """
    x = convert_to_tensor(diagonal)
    if not x._shape:
        raise InvalidArgumentError("matrix_diag: diagonal must be a vector or a batch of them; got a scalar.")
    length = x._shape[-1]
    return _on_diagonal(x, length, length)


def _on_diagonal(x: Tensor, rows: int, columns: int) -> Tensor:
    """Zeros with vectors on the diagonals of matrices of any size."""
    batch = x._shape[:-1]
    stop = min(x._shape[-1] * (columns + 1), rows * columns)
    key = (*((0, size, 1) for size in batch), (0, stop, columns + 1))
    return reshape(strided_slice_grad(x, (*batch, rows * columns), key), (*batch, rows, columns))


def matrix_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """The diagonals of matrices.

    Args:
        input: matrices of shape (..., m, n).

    Returns:
        Vectors of shape (..., min(m, n)).

    Raises:
        InvalidArgumentError: the rank is less than 2.

    >>> print(matrix_diag_part([[1, 2, 3], [4, 5, 6]]))
    tf.Tensor([1 5], shape=(2,), dtype=int32)
    """
    x = _matrices("matrix_diag_part", input)
    *batch, rows, columns = x._shape
    flat = reshape(x, (*batch, rows * columns))
    return cut(flat, (..., slice(0, min(rows, columns) * (columns + 1), columns + 1)))


def _matrices(op: str, input: TensorLike) -> Tensor:
    x = convert_to_tensor(input)
    if len(x._shape) < 2:
        raise InvalidArgumentError(f"{op}: input must be a matrix or a batch of them; got shape {x._shape}.")
    return x


def matrix_set_diag(input: TensorLike, diagonal: TensorLike, name: str | None = None) -> Tensor:
    """Replace the diagonals of matrices.

    Args:
        input: matrices of shape (..., m, n), of numbers or bools.
        diagonal: vectors of shape (..., min(m, n)), of the same dtype.

    Returns:
        A tensor of the input's shape.

    Raises:
        InvalidArgumentError: the shapes or the dtypes do not fit.

    >>> print(matrix_set_diag([[1, 2], [3, 4]], [7, 8]))
    tf.Tensor(
    [[7 2]
     [3 8]], shape=(2, 2), dtype=int32)
    """
    x, values = _matrices("matrix_set_diag", input), convert_to_tensor(diagonal)
    *batch, rows, columns = x._shape
    if values._shape != (*batch, min(rows, columns)):
        raise InvalidArgumentError(
            f"matrix_set_diag: diagonal must have shape {(*batch, min(rows, columns))} for an input of shape "
            f"{x._shape}; got shape {values._shape}."
        )
    return where(eye(rows, columns, dtype=dtypes.bool_), _on_diagonal(values, rows, columns), x)


def matrix_band_part(input: TensorLike, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Keep a band around the diagonals of matrices, and set everything else to zero.

    Args:
        input: matrices of shape (..., m, n), of numbers or bools.
        num_lower: how many diagonals below the main one to keep; a negative number for all.
        num_upper: how many diagonals above the main one to keep; a negative number for all.

    Returns:
        A tensor of the input's shape.

    Raises:
        InvalidArgumentError: the rank is less than 2, or a number is larger than the matrix.

    >>> print(matrix_band_part([[1, 2], [3, 4]], 0, -1))
    tf.Tensor(
    [[1 2]
     [0 4]], shape=(2, 2), dtype=int32)
    """
    x = _matrices("matrix_band_part", input)
    lower, upper = int(host_value(num_lower)), int(host_value(num_upper))
    *_, rows, columns = x._shape
    for name_of, number, size in (("num_lower", lower, rows), ("num_upper", upper, columns)):
        if number > size:
            raise InvalidArgumentError(
                f"matrix_band_part: {name_of} is {number}; it must be negative or at most {size} for an input of shape "
                f"{x._shape}."
            )
    row, column = expand_dims(range(rows), 1), range(columns)
    bounds = [column >= row - lower] if lower >= 0 else []
    bounds += [column <= row + upper] if upper >= 0 else []
    for kept in bounds:
        x = where(kept, x, zeros((), x.dtype))
    return x


def diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """Make a tensor of rank 2k that has a tensor of rank k on its diagonal and is zero elsewhere.

    Args:
        diagonal: a tensor of rank k > 0, of numbers or bools.

    Returns:
        A tensor whose shape is the input's twice: its element at (i, j, i, j) is the input's at (i, j).

    Raises:
        InvalidArgumentError: the input is a scalar.

    >>> print(diag([1, 2]))
    tf.Tensor(
    [[1 0]
     [0 2]], shape=(2, 2), dtype=int32)
    """
    x = convert_to_tensor(diagonal)
    if not x._shape:
        raise InvalidArgumentError("diag: diagonal must be of rank 1 at least; got a scalar.")
    return reshape(matrix_diag(reshape(x, [math.prod(x._shape)])), (*x._shape, *x._shape))


def diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """The diagonal of a tensor of rank 2k, a tensor of rank k.

    Args:
        input: a tensor whose shape is one shape twice.

    Returns:
        A tensor of that one shape: its element at (i, j) is the input's at (i, j, i, j).

    Raises:
        InvalidArgumentError: the shape is not one shape twice.

    >>> print(diag_part([[1, 2], [3, 4]]))
    tf.Tensor([1 4], shape=(2,), dtype=int32)
    """
    x = convert_to_tensor(input)
    half = x._shape[: len(x._shape) // 2]
    if not half or x._shape != half * 2:
        raise InvalidArgumentError(
            f"diag_part: the shape of the input must be one shape twice, such as (2, 3, 2, 3); got {x._shape}."
        )
    count = math.prod(half)
    return reshape(matrix_diag_part(reshape(x, (count, count))), half)
