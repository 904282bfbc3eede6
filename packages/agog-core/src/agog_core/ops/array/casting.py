"""Casting: changes of dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core import dtypes
from agog_core.calls.call import call
from agog_core.dispatch.devices.lookup import scopes
from agog_core.dispatch.kernels.failure import note_failure
from agog_core.dispatch.kernels.resolution import run_next
from agog_core.dispatch.op import define
from agog_core.dtypes import NUMERIC, NUMERIC_OR_BOOL, DType, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.convert import convert_to_tensor, from_host
from agog_core.tensors.sparse_tensor import SparseTensor
from agog_core.tensors.tensor import Tensor, TensorLike, wrap

__all__ = [
    "bitcast",
    "cast",
    "to_bfloat16",
    "to_complex64",
    "to_complex128",
    "to_double",
    "to_float",
    "to_int32",
    "to_int64",
]


def cast(x: TensorLike, dtype: Any, name: str | None = None) -> Tensor:
    """Convert a tensor to a dtype; floats are cut off towards zero when they become integers, and of complex
    numbers the real part is left when they become others.

    Casts from and to the dtypes ``float8_e4m3fn`` and ``float8_e5m2``, which no other op takes, have no gradient.

    Args:
        x: a tensor of numbers or bools, or a sparse one.
        dtype: the dtype to convert to.

    Returns:
        A tensor of that dtype, sparse where the input is; the input itself when it has it already.

    >>> print(cast([1.8, -1.8], "int32"))
    tf.Tensor([ 1 -1], shape=(2,), dtype=int32)
    """
    if type(x) is not Tensor:
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, cast(x.values, dtype), x.dense_shape)  # type: ignore[return-value]
        x = convert_to_tensor(x)
    tensor: Tensor = x
    wanted = dtype if type(dtype) is DType else as_dtype(dtype)
    table = tensor._table
    given = table.dtype
    if given is wanted:
        return tensor
    if wanted.is_float8 or given.is_float8:
        return _cast_float8(tensor, wanted)
    kernel = table.kernels.get("cast")
    if kernel and not scopes and tensor._watch is None:  # the way of `call`, shorter: pipelines cast each element
        try:
            array = kernel(tensor._array, dtype=wanted.name)
        except Exception as error:
            note_failure(error, _cast, table, (tensor._array,))
            raise
        result = table.device.table(wanted)
        if type(array) is not result.array_type:
            if array is NotImplemented:
                array = run_next(_cast, table, (tensor._array,), {"dtype": wanted.name})
            else:
                array = table.adopt("cast", array)
        return wrap(array, result, tensor._shape)
    return call(_cast, tensor, dtype=wanted.name)


def _cast_float8(x: Tensor, wanted: DType) -> Tensor:
    """On the host: these dtypes are for what is kept, and few libraries of arrays have them."""
    host = x._host()
    if x.dtype.is_complex:
        host = host.real
    elif not x.dtype.is_float8 and not x.dtype.is_floating:
        host = host.astype(np.float32)
    return from_host(host.astype(wanted.numpy_dtype, order="C"), x._table.device.table(wanted))


_cast = define(
    cast,
    shape=lambda x, dtype: x,
    dtype=lambda given, dtype: as_dtype(dtype),
    dtypes=NUMERIC_OR_BOOL,
    vjp={"x": lambda g, x_dtype: cast(g, x_dtype)},
    elementwise=True,
)


def to_float(x: TensorLike, name: str | None = None) -> Tensor:
    """Convert a tensor to float32; see `cast`."""
    return cast(x, dtypes.float32)


def to_int32(x: TensorLike, name: str | None = None) -> Tensor:
    """Convert a tensor to int32; see `cast`."""
    return cast(x, dtypes.int32)


def to_int64(x: TensorLike, name: str | None = None) -> Tensor:
    """Convert a tensor to int64; see `cast`."""
    return cast(x, dtypes.int64)


def to_double(x: TensorLike, name: str | None = None) -> Tensor:
    """Convert a tensor to float64; see `cast`."""
    return cast(x, dtypes.float64)


def to_bfloat16(x: TensorLike, name: str | None = None) -> Tensor:
    """Convert a tensor to bfloat16; see `cast`."""
    return cast(x, dtypes.bfloat16)


def to_complex64(x: TensorLike, name: str | None = None) -> Tensor:
    """Convert a tensor to complex64; see `cast`."""
    return cast(x, dtypes.complex64)


def to_complex128(x: TensorLike, name: str | None = None) -> Tensor:
    """Convert a tensor to complex128; see `cast`."""
    return cast(x, dtypes.complex128)


def bitcast(input: TensorLike, type: Any, name: str | None = None) -> Tensor:
    """Read the bytes of a tensor as elements of another dtype.

    Args:
        input: a tensor of numbers.
        type: the dtype to read them as.

    Returns:
        A tensor of that dtype: of the same shape where the elements are of the same size; with one more axis, of the
        parts of an element, where they are smaller; without the last axis, of such parts, where they are larger.

    Raises:
        InvalidArgumentError: the last axis does not hold the parts of one larger element.

    >>> print(bitcast([1.0], "int32"))
    tf.Tensor([1065353216], shape=(1,), dtype=int32)
    """
    x, wanted = convert_to_tensor(input), as_dtype(type)
    if wanted not in NUMERIC:
        raise InvalidArgumentError(f"bitcast: type must be a dtype of numbers; got {wanted.name}.")
    shape = x._shape
    if wanted.size < x.dtype.size:
        shape = (*shape, x.dtype.size // wanted.size)
    elif wanted.size > x.dtype.size:
        parts = wanted.size // x.dtype.size
        if shape[-1:] != (parts,):
            raise InvalidArgumentError(
                f"bitcast: {parts} elements of {x.dtype.name} make one of {wanted.name}, so the last axis must have "
                f"size {parts}; got shape {shape}."
            )
        shape = shape[:-1]
    return call(_bitcast, x, dtype=wanted.name, shape=shape)


_bitcast = define(
    bitcast,
    shape=lambda x, dtype, shape: shape,
    dtype=lambda given, dtype, shape: as_dtype(dtype),
    dtypes=NUMERIC,
    views=True,
)
