"""Statistical: the standard's reductions, cumulative sums, and differences.

https://data-apis.org/array-api/2025.12/API_specification/statistical_functions.html
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from agog_core import dtypes
from agog_core.array_api.manipulation import concat
from agog_core.array_api.promotion import astype, scope, truth
from agog_core.dtypes import DType, as_dtype
from agog_core.ops.array import fill, identity
from agog_core.ops.array.slicing import slice_along
from agog_core.ops.math import not_equal, sqrt, square, subtract
from agog_core.ops.reduce import extrema, reduction, scans
from agog_core.shapes import normalize_axes, normalize_axis
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["all", "any", "cumulative_prod", "cumulative_sum", "diff", "max", "mean", "min", "prod", "std", "sum", "var"]

Axes = int | tuple[int, ...] | None


def _accumulated(x: Tensor, dtype: Any) -> Tensor:
    """An array in the dtype that sums of it have: small integers become the default ones."""
    return astype(x, as_dtype(dtype) if dtype is not None else _wide(x.dtype), copy=False)


def _wide(kind: DType) -> DType:
    if not kind.is_integer:
        return kind
    default = dtypes.uint32 if kind.is_unsigned else dtypes.int32
    return builtins.max(default, kind, key=lambda each: each.size)


def sum(x: TensorLike, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The sum of elements, in the dtype of `x`; integers of less than 32 bits become int32 or uint32."""
    return reduction.reduce_sum(_accumulated(convert_to_tensor(x), dtype), axis, keepdims)


def prod(x: TensorLike, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The product of elements, in the dtype that `sum` gives them."""
    return reduction.reduce_prod(_accumulated(convert_to_tensor(x), dtype), axis, keepdims)


def mean(x: TensorLike, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The arithmetic mean of floats or complex numbers."""
    return reduction.reduce_mean(x, axis, keepdims)


def var(x: TensorLike, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The variance of elements; NaN where their count is no more than the correction."""
    tensor = convert_to_tensor(x)
    count = 1
    for each in normalize_axes("var", axis, len(tensor._shape)):
        count *= tensor._shape[each]
    distance = tensor - reduction.reduce_mean(tensor, axis, True)
    squares = reduction.reduce_sum(square(distance), axis, keepdims)
    return squares * (1 / (count - correction) if count > correction else float("nan"))


def std(x: TensorLike, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The standard deviation of elements; NaN where their count is no more than the correction."""
    return sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def max(x: TensorLike, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The largest element."""
    return extrema.reduce_max(x, axis, keepdims)


def min(x: TensorLike, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The smallest element."""
    return extrema.reduce_min(x, axis, keepdims)


def all(x: TensorLike, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether all elements are true, or not zero."""
    return reduction.reduce_all(truth(x), axis, keepdims)


def any(x: TensorLike, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether an element is true, or not zero."""
    return reduction.reduce_any(truth(x), axis, keepdims)


def _cumulative(
    x: TensorLike, axis: int | None, dtype: Any, include_initial: bool, scan: Callable[..., Tensor], first: int
) -> Tensor:
    tensor = _accumulated(convert_to_tensor(x), dtype)
    along = normalize_axis("cumulative", 0 if axis is None else axis, len(tensor._shape))
    scanned = scan(tensor, along)
    if not include_initial:
        return scanned
    shape = (*tensor._shape[:along], 1, *tensor._shape[along + 1 :])
    with scope(tensor.device):
        start = astype(fill(shape, first), tensor.dtype)
    return concat([start, scanned], axis=along)


def cumulative_sum(
    x: TensorLike, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """The sums of all elements up to each one, in the dtype that `sum` gives them; axis None is for vectors."""
    return _cumulative(x, axis, dtype, include_initial, scans.cumsum, 0)


def cumulative_prod(
    x: TensorLike, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """The products of all elements up to each one, in the dtype that `sum` gives them; axis None is for vectors."""
    return _cumulative(x, axis, dtype, include_initial, scans.cumprod, 1)


def diff(
    x: TensorLike, /, *, axis: int = -1, n: int = 1, prepend: TensorLike = None, append: TensorLike = None
) -> Tensor:
    """The differences of neighbours along an axis; of bools, whether neighbours differ."""
    joined = [part for part in (prepend, x, append) if part is not None]
    tensor = concat(joined, axis=axis) if len(joined) > 1 else identity(x)
    along = normalize_axis("diff", axis, len(tensor._shape))
    for _ in range(builtins.min(n, tensor._shape[along])):
        length = tensor._shape[along] - 1
        later, earlier = slice_along(tensor, along, 1, length), slice_along(tensor, along, 0, length)
        tensor = (not_equal if tensor.dtype.is_bool else subtract)(later, earlier)
    return tensor
