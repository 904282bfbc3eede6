"""Changes of dtype."""

from __future__ import annotations

from typing import Any

from agog_core import dtypes
from agog_core.call import call
from agog_core.convert import convert_to_tensor
from agog_core.dtypes import NUMERIC_OR_BOOL, DType, as_dtype
from agog_core.op import Op
from agog_core.shapes import Shape
from agog_core.tensor import Tensor, TensorLike


def cast(x: TensorLike, dtype: Any, name: str | None = None) -> Tensor:
    """Convert a tensor to a dtype; floats are cut off towards zero when they become integers.

    Args:
        x: a tensor of numbers or bools.
        dtype: the dtype to convert to.
        name: not used; kept for compatibility.

    Returns:
        A tensor of that dtype; the input itself when it has it already.

    >>> print(cast([1.8, -1.8], "int32"))
    tf.Tensor([ 1 -1], shape=(2,), dtype=int32)
    """
    tensor = convert_to_tensor(x)
    wanted = as_dtype(dtype)
    if tensor._table.dtype is wanted:
        return tensor
    return call(_cast, tensor, dtype=wanted.name)


def _cast_shape(x: Shape, dtype: str) -> Shape:
    return x


def _cast_dtype(given: DType, dtype: str) -> DType:
    return as_dtype(dtype)


_cast = Op(
    "cast",
    cast,
    inputs=["x"],
    shape=_cast_shape,
    dtype=_cast_dtype,
    dtypes=NUMERIC_OR_BOOL,
    vjp={"x": lambda g, x_dtype: cast(g, x_dtype)},
)


def to_float(x: TensorLike, name: str | None = None) -> Tensor:
    """Convert a tensor to float32.

    Args:
        x: a tensor of numbers or bools.
        name: not used; kept for compatibility.

    Returns:
        A float32 tensor.

    >>> print(to_float(1))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    return cast(x, dtypes.float32)


def to_int32(x: TensorLike, name: str | None = None) -> Tensor:
    """Convert a tensor to int32.

    Args:
        x: a tensor of numbers or bools.
        name: not used; kept for compatibility.

    Returns:
        An int32 tensor.

    >>> print(to_int32(1.5))
    tf.Tensor(1, shape=(), dtype=int32)
    """
    return cast(x, dtypes.int32)


def to_int64(x: TensorLike, name: str | None = None) -> Tensor:
    """Convert a tensor to int64.

    Args:
        x: a tensor of numbers or bools.
        name: not used; kept for compatibility.

    Returns:
        An int64 tensor.

    >>> print(to_int64(1.5))
    tf.Tensor(1, shape=(), dtype=int64)
    """
    return cast(x, dtypes.int64)
