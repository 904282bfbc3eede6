"""Norms of vectors and matrices, and ranks and inverses by singular values."""

from __future__ import annotations

import builtins
import math
from typing import Any

from agog_core.array_api.linalg.decompositions import svd, svdvals
from agog_core.array_api.manipulation import concat
from agog_core.array_api.promotion import finfo
from agog_core.dtypes import int64
from agog_core.ops.array import cast, expand_dims, reshape, zeros_like
from agog_core.ops.linalg.matmul import adjoint
from agog_core.ops.math import abs, div_no_nan, not_equal, sqrt, square, where
from agog_core.ops.reduce import extrema, reduction
from agog_core.shapes import normalize_axes
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["matrix_norm", "matrix_rank", "pinv", "vector_norm"]

Axes = int | tuple[int, ...] | None


def matrix_rank(x: TensorLike, /, *, rtol: TensorLike = None) -> Tensor:
    """How many singular values of matrices are above `rtol` times the largest one, as int64; by default `rtol` is
    max(m, n) times the dtype's precision.
    """
    values, cutoff = _cutoff(convert_to_tensor(x), svdvals(x), rtol)
    return reduction.reduce_sum(cast(values > cutoff, int64), -1)


def _cutoff(x: Tensor, values: Tensor, rtol: TensorLike) -> tuple[Tensor, Tensor]:
    """The singular values, and which one is the last that counts."""
    if rtol is None:
        rtol = builtins.max(*x._shape[-2:]) * finfo(x.dtype).eps
    part = cast(convert_to_tensor(rtol), values.dtype)
    # There may be no singular values at all, and none is negative.
    zero = zeros_like(reduction.reduce_sum(values, -1, True))
    largest = extrema.reduce_max(concat([values, zero], axis=-1), -1, True)
    return values, largest * expand_dims(part, -1)


def pinv(x: TensorLike, /, *, rtol: TensorLike = None) -> Tensor:
    """Pseudo-inverses of matrices: singular values up to `rtol` times the largest one count as zero; by default as in
    `matrix_rank`.
    """
    tensor = convert_to_tensor(x)
    left, values, right = svd(tensor, full_matrices=False)
    values, cutoff = _cutoff(tensor, values, rtol)
    kept = where(values > cutoff, values, zeros_like(values))
    inverse = expand_dims(cast(div_no_nan(cast(not_equal(kept, 0), values.dtype), kept), tensor.dtype), -2)
    return (adjoint(right) * inverse) @ adjoint(left)


def matrix_norm(x: TensorLike, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """Norms of matrices: "fro"; "nuc", the sum of singular values; 2 and -2, the largest and the smallest one; 1, -1,
    inf and -inf, of sums of absolute values of columns and of rows.
    """
    tensor = convert_to_tensor(x)
    if ord == "fro":
        return sqrt(reduction.reduce_sum(square(abs(tensor)), (-2, -1), keepdims))
    if ord == "nuc":
        found = reduction.reduce_sum(svdvals(tensor), -1)
    elif ord in (2, -2):
        found = (extrema.reduce_max if ord > 0 else extrema.reduce_min)(svdvals(tensor), -1)
    elif ord in (1, -1, math.inf, -math.inf):
        sums = reduction.reduce_sum(abs(tensor), -2 if builtins.abs(ord) == 1 else -1)
        found = (extrema.reduce_max if ord > 0 else extrema.reduce_min)(sums, -1)
    else:
        raise ValueError(f"matrix_norm: ord is {ord!r}; use 'fro', 'nuc', 1, -1, 2, -2, inf or -inf.")
    return reshape(found, (*found._shape, 1, 1)) if keepdims else found


def vector_norm(x: TensorLike, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """Norms of vectors of any order; 0 counts the elements that are not zero."""
    size = abs(convert_to_tensor(x))
    axes = normalize_axes("vector_norm", axis, len(size._shape))
    if builtins.abs(ord) == math.inf:
        return (extrema.reduce_max if ord > 0 else extrema.reduce_min)(size, axes, keepdims)
    if ord == 0:
        return reduction.reduce_sum(cast(not_equal(size, 0), size.dtype), axes, keepdims)
    if ord == 1:
        return reduction.reduce_sum(size, axes, keepdims)
    if ord == 2:
        return sqrt(reduction.reduce_sum(square(size), axes, keepdims))
    return reduction.reduce_sum(size ** float(ord), axes, keepdims) ** (1 / ord)
