"""Creation: the standard's functions to make arrays.

https://data-apis.org/array-api/2025.12/API_specification/creation_functions.html
"""

from __future__ import annotations

import builtins
import math
from typing import Any

from agog_core import dtypes
from agog_core.array_api.promotion import astype, on_device, scope
from agog_core.calls.call import create
from agog_core.dtypes import DType, as_dtype
from agog_core.ops.array import cast, identity, reshape, tiling
from agog_core.ops.array import creation as ops
from agog_core.ops.array.complex import complex as _complex
from agog_core.ops.math.logic import equal as _equal
from agog_core.ops.math.logic import where
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]

Shape = int | tuple[int, ...]


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(shape) if hasattr(shape, "__iter__") else (int(shape),)


def asarray(obj: Any, /, *, dtype: Any = None, device: str | None = None, copy: bool | None = None) -> Tensor:
    """A value as an array. Python floats become float32, ints int32 and complex numbers complex64; only our own arrays
    are not copied, so `copy=False` raises ValueError for all others, and where the dtype or the device changes.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    with scope(device):
        tensor = obj if isinstance(obj, Tensor) else _converted(obj, wanted)
    result = on_device(tensor if wanted is None else astype(tensor, wanted, copy=False), device)
    if copy is False and result is not obj:
        raise ValueError(
            f"asarray: a {type(obj).__name__} of dtype {tensor.dtype.name} needs a copy to become an array of dtype "
            f"{result.dtype.name} on {result.device}; got copy=False."
        )
    return identity(result) if copy and result is obj else result


def _converted(obj: Any, wanted: DType | None) -> Tensor:
    try:
        tensor = convert_to_tensor(obj, wanted)
    except (TypeError, ValueError):
        tensor = convert_to_tensor(_without_bools(obj) if isinstance(obj, (list, tuple)) else obj)
    is_python = not hasattr(obj, "dtype") and not hasattr(type(obj), "__tensor__")
    if wanted is None and is_python and tensor.dtype is dtypes.complex128:
        return cast(tensor, dtypes.complex64)
    return tensor


def _without_bools(obj: Any) -> Any:
    """Nested sequences that mix bools with numbers, with 0 and 1 for them."""
    if isinstance(obj, (list, tuple)):
        return [_without_bools(part) for part in obj]
    return int(obj) if isinstance(obj, bool) else obj


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any = None, device: str | None = None
) -> Tensor:
    """Evenly spaced numbers: int32 by default where all three are integers (int64 where they need it), else float32."""
    first, last = (0, start) if stop is None else (start, stop)
    is_whole = builtins.all(isinstance(number, int) for number in (first, last, step))
    count = -((first - last) // step) if is_whole else math.ceil((last - first) / step)
    kind = as_dtype(dtype) if dtype is not None else _default_integer(first, last) if is_whole else dtypes.float32
    with scope(device):
        return create(ops._range, kind, start=first, delta=step, count=builtins.max(0, int(count)))


def _default_integer(*numbers: float) -> DType:
    fits = builtins.all(dtypes.int32.min <= number <= dtypes.int32.max for number in numbers)
    return dtypes.int32 if fits else dtypes.int64


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: str | None = None,
    endpoint: bool = True,
) -> Tensor:
    """A given count of evenly spaced numbers: float32 by default, complex64 where an end is complex."""
    is_complex = isinstance(start, complex) or isinstance(stop, complex)
    kind = as_dtype(dtype or (dtypes.complex64 if is_complex else dtypes.float32))
    first, last = complex(start), complex(stop)
    count = num if endpoint else num + 1
    with scope(device):
        if count < 1:
            return ops.zeros((0,), kind)
        real = _spaced(first.real, last.real, count, kind)[:num]
        return _complex(real, _spaced(first.imag, last.imag, count, kind)[:num]) if kind.is_complex else real


def _spaced(start: float, stop: float, count: int, kind: DType) -> Tensor:
    return create(ops._linspace, kind.real_dtype, start=start, stop=stop, num=count)


def full(shape: Shape, fill_value: Any, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """An array of one value, by default in the dtype that `asarray` gives it."""
    with scope(device):
        return ops.fill(_sizes(shape), asarray(fill_value, dtype=dtype))


def zeros(shape: Shape, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """An array of zeros, float32 by default."""
    with scope(device):
        return ops.zeros(_sizes(shape), dtype or dtypes.float32)


def ones(shape: Shape, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """An array of ones, float32 by default."""
    with scope(device):
        return ops.ones(_sizes(shape), dtype or dtypes.float32)


def empty(shape: Shape, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """An array of zeros: one of any values would be of no use, since arrays never change."""
    return zeros(shape, dtype=dtype, device=device)


def full_like(x: TensorLike, /, fill_value: Any, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """An array of one value, with the shape, dtype and device of another."""
    tensor = convert_to_tensor(x)
    return full(tensor._shape, fill_value, dtype=dtype or tensor.dtype, device=device or tensor.device)


def zeros_like(x: TensorLike, /, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """An array of zeros, with the shape, dtype and device of another."""
    return on_device(ops.zeros_like(x, dtype), device)


def ones_like(x: TensorLike, /, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """An array of ones, with the shape, dtype and device of another."""
    return on_device(ops.ones_like(x, dtype), device)


def empty_like(x: TensorLike, /, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """An array of zeros, as `empty` is, with the shape, dtype and device of another."""
    return zeros_like(x, dtype=dtype, device=device)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: str | None = None
) -> Tensor:
    """A matrix of ones on diagonal `k` (positive ones are above the main one), zeros elsewhere; float32 by default."""
    with scope(device):
        rows, columns = _positions(n_rows, n_rows if n_cols is None else n_cols)
        return cast(_equal(rows + _within(k, rows, columns), columns), dtype or dtypes.float32)


def _positions(rows: int, columns: int) -> tuple[Tensor, Tensor]:
    """The numbers of rows, as a column, and of columns."""
    return reshape(ops.range(rows, dtype="int64"), (rows, 1)), ops.range(columns, dtype="int64")


def _within(k: int, rows: Tensor, columns: Tensor) -> int:
    """The number of a diagonal; that of the first one outside for any that is further away."""
    return builtins.max(-rows.size, builtins.min(k, columns.size))


def _triangle(x: TensorLike, k: int, lower: bool) -> Tensor:
    tensor = convert_to_tensor(x)
    with scope(tensor.device):
        rows, columns = _positions(*tensor._shape[-2:])
        diagonal = rows + _within(k, rows, columns)
        inside = columns <= diagonal if lower else diagonal <= columns
    return where(inside, tensor, ops.zeros_like(tensor))


def tril(x: TensorLike, /, *, k: int = 0) -> Tensor:
    """The lower triangles of matrices of shape (..., m, n): zeros above diagonal `k`."""
    return _triangle(x, k, True)


def triu(x: TensorLike, /, *, k: int = 0) -> Tensor:
    """The upper triangles of matrices of shape (..., m, n): zeros below diagonal `k`."""
    return _triangle(x, k, False)


def meshgrid(*arrays: TensorLike, indexing: str = "xy") -> tuple[Tensor, ...]:
    """The coordinates along each axis of a grid, repeated for all of its points; the vectors must be of one dtype."""
    return tuple(tiling.meshgrid(*arrays, indexing=indexing)) if arrays else ()
