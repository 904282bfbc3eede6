"""Promotion: the common dtype of arrays, and the properties of dtypes.

The rules are https://data-apis.org/array-api/2025.12/API_specification/type_promotion.html, with float16 and bfloat16
beside the standard's dtypes. What those rules leave undefined raises TypeError.
"""

from __future__ import annotations

import builtins
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

from agog_core import dtypes
from agog_core.dispatch.devices.lookup import device as device_scope
from agog_core.dispatch.devices.lookup import get_device
from agog_core.dtypes import ALL, DType, as_dtype
from agog_core.ops.array import bitcast, cast, identity
from agog_core.ops.math.logic import not_equal
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor
from agog_core.tensors.operand import operand
from agog_core.tensors.placement import copy_to_device

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

Scalar = bool | int | float | complex
SCALARS = (bool, int, float, complex)

_KINDS: dict[str, frozenset[DType]] = {
    "bool": frozenset({dtypes.bool_}),
    "signed integer": frozenset(kind for kind in ALL if kind.is_integer and not kind.is_unsigned),
    "unsigned integer": frozenset(kind for kind in ALL if kind.is_unsigned),
    "integral": dtypes.INTEGERS,
    "real floating": dtypes.FLOATING,
    "complex floating": frozenset(kind for kind in ALL if kind.is_complex),
    "numeric": dtypes.NUMERIC,
}


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The common dtype of arrays, dtypes and Python scalars.

    TypeError if the standard defines none, ValueError if there are only scalars.

    >>> result_type(dtypes.int8, dtypes.uint8), result_type(dtypes.float32, 1)
    (tf.int16, tf.float32)
    """
    known = [_dtype_of(value) for value in arrays_and_dtypes if type(value) not in SCALARS]
    if not known:
        raise ValueError(f"result_type needs at least one array or dtype; got {arrays_and_dtypes}.")
    kind = reduce(_promote, known)
    for scalar in (type(value).__name__ for value in arrays_and_dtypes if type(value) in SCALARS):
        kind = _with_scalar(kind, scalar)
    return kind


def _dtype_of(value: Any) -> DType:
    if type(value) is DType:
        return value
    is_array = hasattr(value, "dtype") and not isinstance(value, type)
    return convert_to_tensor(value).dtype if is_array else as_dtype(value)


@lru_cache(maxsize=1024)
def _promote(first: DType, second: DType) -> DType:
    if first is second:
        return first
    if first.is_integer and second.is_integer:
        found = _common_integer(first, second)
    elif first.is_differentiable and second.is_differentiable:
        found = _common_float(first, second)
    else:
        found = None
    if found is None:
        raise TypeError(
            f"The array API standard gives {first.name} and {second.name} no common dtype; convert one with astype."
        )
    return found


def _common_integer(first: DType, second: DType) -> DType | None:
    if first.is_unsigned == second.is_unsigned:
        return max(first, second, key=lambda kind: kind.size)
    unsigned, signed = (first, second) if first.is_unsigned else (second, first)
    size = max(signed.size, 2 * unsigned.size)
    return as_dtype(f"int{8 * size}") if size <= 8 else None


def _common_float(first: DType, second: DType) -> DType:
    parts = {first.real_dtype, second.real_dtype}
    half = parts == {dtypes.float16, dtypes.bfloat16}
    real = dtypes.float32 if half else max(parts, key=lambda kind: kind.size)
    if not first.is_complex and not second.is_complex:
        return real
    return dtypes.complex128 if real is dtypes.float64 else dtypes.complex64


@lru_cache(maxsize=1024)
def _with_scalar(kind: DType, scalar: str) -> DType:
    if scalar == "complex" and kind.is_floating:
        return _common_float(kind, dtypes.complex64)
    fits = {
        "bool": kind.is_bool,
        "int": kind.is_integer or kind.is_differentiable,
        "float": kind.is_differentiable,
        "complex": kind.is_complex,
    }
    if not fits[scalar]:
        raise TypeError(
            f"The array API standard gives {kind.name} and a Python {scalar} no common dtype; convert the "
            "array with astype."
        )
    return kind


def promoted(*values: TensorLike) -> list[Tensor]:
    """Arrays and scalars as tensors of the common dtype that `result_type` says; those of scalars may be shared, so
    they must not be handed to anybody.
    """
    arrays = [value if type(value) in SCALARS else convert_to_tensor(value) for value in values]
    kind = result_type(*arrays)
    tables = (array._table for array in arrays if type(array) is Tensor)
    table = next(tables).device.table(kind)
    return [
        cast(array, kind) if type(array) is Tensor else operand("result_type", array, table, "x", "y")
        for array in arrays
    ]


def truth(x: TensorLike) -> Tensor:
    """Which elements are not zero."""
    tensor = convert_to_tensor(x)
    return tensor if tensor.dtype.is_bool else not_equal(tensor, 0)


def bits_of(x: Tensor) -> Tensor:
    """The bits of real floats, as signed integers of the same size that share their memory."""
    return bitcast(x, f"int{8 * x.dtype.size}")


def scope(device: str | None) -> AbstractContextManager[None]:
    """A context for what makes new arrays on a device; None is for where they would be made anyhow."""
    return nullcontext() if device is None else device_scope(device)


def on_device(x: Tensor, device: str | None) -> Tensor:
    """An array on a device, or the array itself where it is there already; None is for where it is."""
    return x if device is None or get_device(device) is x._table.device else copy_to_device(x, get_device(device))


def astype(x: TensorLike, dtype: Any, /, *, copy: bool = True, device: str | None = None) -> Tensor:
    """An array converted to a dtype; from complex to real it raises TypeError. Memory is shared where nothing changes,
    also with `copy=True`: nobody writes it.
    """
    tensor, wanted = convert_to_tensor(x), as_dtype(dtype)
    if tensor.dtype.is_complex and not wanted.is_complex:
        raise TypeError(
            f"astype: {tensor.dtype.name} would lose its imaginary part as {wanted.name}; take real(x) first."
        )
    if tensor.dtype is wanted and device is None:
        return identity(tensor) if copy else tensor
    return on_device(truth(tensor) if wanted.is_bool else cast(tensor, wanted), device)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether a dtype is promoted to another one beside it: every value of the first has one in the second."""
    try:
        return result_type(from_, to) is as_dtype(to)
    except TypeError:
        return False


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is another, is of a kind such as "real floating", or is one of a tuple of those."""
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"isdtype: kind is {kind!r}; the kinds are {', '.join(_KINDS)}.")
        return as_dtype(dtype) in _KINDS[kind]
    return as_dtype(dtype) is as_dtype(kind)


@dataclass(frozen=True)
class FloatInfo:
    """The limits of a dtype of floats; of complex numbers, those of their parts.

    Args:
        bits: bits of an element.
        eps: the distance of 1 to the next larger number.
        max: the largest finite number.
        min: the lowest finite number.
        smallest_normal: the smallest positive number of full precision.
        dtype: the dtype of the numbers.
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True)
class IntegerInfo:
    """The limits of a dtype of integers.

    Args:
        bits: bits of an element.
        max: the largest integer.
        min: the lowest integer.
        dtype: the dtype.
    """

    bits: int
    max: int
    min: int
    dtype: DType


# Bits of the fraction, and the exponent of the smallest normal number.
_FLOAT_FORMATS = {"float16": (10, -14), "bfloat16": (7, -126), "float32": (23, -126), "float64": (52, -1022)}


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a dtype of floats; of complex numbers those of their parts; ValueError for any other."""
    kind = _dtype_of(type)
    if not kind.is_differentiable:
        raise ValueError(f"finfo is for dtypes of floats and complex numbers; got {kind.name}. Use iinfo for integers.")
    real = kind.real_dtype
    fraction, exponent = _FLOAT_FORMATS[real.name]
    return FloatInfo(8 * kind.size, 2.0**-fraction, float(real.max), float(real.min), 2.0**exponent, real)


def iinfo(type: Any, /) -> IntegerInfo:
    """The limits of a dtype of integers; ValueError for any other."""
    kind = _dtype_of(type)
    if not kind.is_integer:
        raise ValueError(f"iinfo is for dtypes of integers; got {kind.name}. Use finfo for floats.")
    return IntegerInfo(8 * kind.size, int(kind.max), int(kind.min), kind)
