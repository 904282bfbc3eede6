"""Norm: the norms of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

from agog_core.ops.array import conj, reshape, squeeze, transpose
from agog_core.ops.linalg.spectra import singular_values
from agog_core.ops.math import abs, sqrt
from agog_core.ops.reduce import reduce_max, reduce_sum
from agog_core.shapes import normalize_axes
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["norm"]

_EUCLIDEAN = ("fro", "euclidean", 2)
_OF_VECTORS = ("euclidean", 1, 2, math.inf)
_OF_MATRICES = ("euclidean", "fro", 1, 2, math.inf)


def norm(
    tensor: TensorLike,
    ord: str | float = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Norms of vectors or matrices.

    Args:
        tensor: a tensor of floats or complex numbers.
        ord: which norm. Of vectors: ``"euclidean"`` (or 2), infinity for the largest absolute value, or any positive p
            for the root of order p of the sum of the absolute values' powers. Of matrices: ``"fro"`` or ``"euclidean"``
            for the root of the sum of squares, 1 for the largest sum of a column's absolute values, infinity for that
            of a row, 2 for the largest singular value.
        axis: an integer for norms of vectors along that axis; a pair of integers for norms of matrices, whose rows are
            counted by the first axis and columns by the second; None for the norm of one vector of all elements.
        keepdims: whether the reduced axes stay, with size 1. Older name: ``keep_dims``.

    Returns:
        The norms, without the reduced axes. For ``"fro"``, ``"euclidean"`` and 2 of vectors the dtype is the input's,
        else the real dtype that goes with it.

    Raises:
        ValueError: ``ord`` or ``axis`` is none of those, or both ``keepdims`` and ``keep_dims`` are given.
        InvalidArgumentError: ``axis`` is out of range.

    >>> print(norm([3.0, 4.0]))
    tf.Tensor(5.0, shape=(), dtype=float32)
    """
    if keepdims is not None and keep_dims is not None:
        raise ValueError("norm: give only one of keepdims and keep_dims.")
    is_of_matrices = isinstance(axis, (tuple, list)) and len(axis) == 2
    _check_arguments(ord, axis, is_of_matrices)
    x = convert_to_tensor(tensor)
    axes = None if axis is None else normalize_axes("norm", axis, len(x._shape))
    if is_of_matrices and ord == 2:
        result = _largest_singular_value(x, axis[0] % len(x._shape), axis[1] % len(x._shape))
    elif ord in _EUCLIDEAN:
        result = sqrt(reduce_sum(x * conj(x), axes, keepdims=True))
    elif is_of_matrices:
        summed, compared = axis if ord == 1 else reversed(axis)
        result = reduce_max(reduce_sum(abs(x), summed, keepdims=True), compared, keepdims=True)
    elif ord == 1:
        result = reduce_sum(abs(x), axes, keepdims=True)
    elif ord == math.inf:
        result = reduce_max(abs(x), axes, keepdims=True)
    else:
        power = float(ord)
        result = reduce_sum(abs(x) ** power, axes, keepdims=True) ** (1.0 / power)
    return result if keepdims or keep_dims else squeeze(result, axes)


def _check_arguments(ord: Any, axis: Any, is_of_matrices: bool) -> None:
    is_axis_valid = (
        axis[0] != axis[1] and all(type(a) is int for a in axis)
        if is_of_matrices
        else axis is None or isinstance(axis, int)
    )
    if not is_axis_valid:
        raise ValueError(f"norm: axis must be None, an integer, or a pair of two different integers; got {axis!r}.")
    if is_of_matrices:
        if ord not in _OF_MATRICES:
            raise ValueError(f"norm: ord of matrices must be one of {_OF_MATRICES}; got {ord!r}.")
    elif ord not in _OF_VECTORS and (isinstance(ord, (str, complex)) or not ord > 0):
        raise ValueError(f"norm: ord of vectors must be one of {_OF_VECTORS} or a positive number; got {ord!r}.")


def _largest_singular_value(x: Tensor, rows: int, columns: int) -> Tensor:
    others = [axis for axis, _ in enumerate(x._shape) if axis not in (rows, columns)]
    largest = reduce_max(singular_values(transpose(x, (*others, rows, columns))), -1)
    return reshape(largest, [1 if axis in (rows, columns) else size for axis, size in enumerate(x._shape)])
