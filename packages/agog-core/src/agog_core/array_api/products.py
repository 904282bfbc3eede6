"""Products: the standard's products of vectors and matrices.

https://data-apis.org/array-api/2025.12/API_specification/linear_algebra_functions.html
"""

from __future__ import annotations

from typing import Any

from agog_core.array_api.manipulation import broadcast_shapes, moveaxis
from agog_core.array_api.promotion import promoted
from agog_core.calls.broadcasting import broadcast_to
from agog_core.ops import linalg as ops
from agog_core.ops.array import conj, expand_dims, squeeze
from agog_core.ops.reduce import reduction
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matmul(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Products of matrices; a vector counts as a row on the left and as a column on the right."""
    first, second = promoted(x1, x2)
    if not first._shape or not second._shape:
        raise ValueError(
            f"matmul: both arrays must have at least one axis; got shapes {first._shape} and {second._shape}."
        )
    left = expand_dims(first, 0) if len(first._shape) == 1 else first
    right = expand_dims(second, 1) if len(second._shape) == 1 else second
    left, right = same_batch(left, right)
    product = ops.matmul(left, right)
    if len(first._shape) == 1:
        product = squeeze(product, -2)
    return squeeze(product, -1) if len(second._shape) == 1 else product


def same_batch(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Matrices of shapes (..., m, n), repeated to their common leading axes."""
    batch = broadcast_shapes(x._shape[:-2], y._shape[:-2])
    return broadcast_to(x, (*batch, *x._shape[-2:])), broadcast_to(y, (*batch, *y._shape[-2:]))


def matrix_transpose(x: TensorLike, /) -> Tensor:
    """Matrices of shape (..., m, n) with rows and columns exchanged."""
    return ops.matrix_transpose(x)


def tensordot(x1: TensorLike, x2: TensorLike, /, *, axes: Any = 2) -> Tensor:
    """Products of two arrays, summed over some axes of both."""
    first, second = promoted(x1, x2)
    return ops.tensordot(first, second, axes)


def vecdot(x1: TensorLike, x2: TensorLike, /, *, axis: int = -1) -> Tensor:
    """Scalar products along an axis, with the conjugates of the first array."""
    first, second = (moveaxis(each, axis, -1) for each in promoted(x1, x2))
    if first._shape[-1] != second._shape[-1]:
        raise ValueError(
            f"vecdot: axis {axis} has {first._shape[-1]} elements in x1 and {second._shape[-1]} in x2; they must agree."
        )
    return reduction.reduce_sum(conj(first) * second, -1)
