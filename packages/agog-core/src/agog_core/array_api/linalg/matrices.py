"""Matrices: products of vectors, diagonals and powers, in the extension for linear algebra only."""

from __future__ import annotations

import builtins
from typing import Any

from agog_core.array_api.manipulation import moveaxis
from agog_core.array_api.promotion import promoted, scope
from agog_core.array_api.statistical import sum as _sum
from agog_core.calls.broadcasting import broadcast_to
from agog_core.ops import linalg as ops
from agog_core.ops.array import expand_dims, stack, unstack
from agog_core.ops.indexing.indexing import getitem
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["cross", "diagonal", "matrix_power", "outer", "trace"]


def outer(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """All products of an element of one vector and one of another, of shape (n, m)."""
    first, second = promoted(x1, x2)
    return expand_dims(first, 1) * second


def cross(x1: TensorLike, x2: TensorLike, /, *, axis: int = -1) -> Tensor:
    """Cross products of vectors of three elements; other counts raise ValueError."""
    first, second = (moveaxis(each, axis, -1) for each in promoted(x1, x2))
    if first._shape[-1] != 3 or second._shape[-1] != 3:
        raise ValueError(
            f"cross: both axes must have 3 elements; got {first._shape[-1]} and {second._shape[-1]} on axis {axis}."
        )
    (a, b, c), (x, y, z) = unstack(first, axis=-1), unstack(second, axis=-1)
    pairs = ((b, z, c, y), (c, x, a, z), (a, y, b, x))
    return moveaxis(stack([p * q - r * s for p, q, r, s in pairs], -1), -1, axis)


def diagonal(x: TensorLike, /, *, offset: int = 0) -> Tensor:
    """Diagonals of matrices of shape (..., m, n); positive offsets are above the main one."""
    tensor = convert_to_tensor(x)
    rows, columns = tensor._shape[-2:]
    start = (builtins.min(builtins.max(-offset, 0), rows), builtins.min(builtins.max(offset, 0), columns))
    return ops.matrix_diag_part(getitem(tensor, (..., slice(start[0], None), slice(start[1], None))))


def trace(x: TensorLike, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """Sums of diagonals of matrices, in the dtype that `sum` gives them."""
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def matrix_power(x: TensorLike, n: int, /) -> Tensor:
    """Matrices multiplied `n` times with themselves; negative `n` is for the inverses."""
    tensor = convert_to_tensor(x)
    factor = ops.matrix_inverse(tensor) if n < 0 else tensor
    with scope(tensor.device):
        result = broadcast_to(ops.eye(tensor._shape[-1], dtype=tensor.dtype), tensor._shape)
    rest = builtins.abs(n)
    while rest:
        result = ops.matmul(result, factor) if rest & 1 else result
        factor = ops.matmul(factor, factor) if rest > 1 else factor
        rest >>= 1
    return result
