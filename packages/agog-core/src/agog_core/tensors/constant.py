"""Constant: a tensor of a value, copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_core.shapes import TensorShape
from agog_core.tensors.convert import convert_to_tensor, from_host
from agog_core.tensors.tensor import Tensor, TensorLike, wrap

__all__ = ["constant"]


def constant(value: TensorLike, dtype: Any = None, shape: Any = None, name: str | None = None) -> Tensor:
    """Make a tensor of a value; the value is copied, so writing to it later changes nothing.

    Python floats become float32, ints int32 (int64 if they do not fit), strings bytes; NumPy arrays keep their
    dtype.

    Args:
        value: a number, a string, a NumPy array, or a nested list of those.
        dtype: the dtype to convert to; of Python floats, an integer one takes a single whole number.
        shape: the shape to fill; a number is repeated, other values need as many elements.

    Returns:
        A new tensor on the current device.

    Raises:
        ValueError: the value is ragged, of mixed types or None, or an integer of it fits no dtype.
        TypeError: the value does not fit the dtype, or has another number of elements than the shape.

    >>> constant([1.0, 2.0])
    <tf.Tensor: id=..., shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    >>> print(constant(7, shape=(2, 2)))
    tf.Tensor(
    [[7 7]
     [7 7]], shape=(2, 2), dtype=int32)
    """
    if type(value) is float and dtype is not None and as_dtype(dtype).is_integer and value.is_integer():
        value = int(value)  # others would lose something
    tensor = convert_to_tensor(value, dtype)
    if type(value) is Tensor:
        tensor = wrap(tensor._array, tensor._table, tensor._shape)
    if shape is None:
        return tensor
    sizes = TensorShape(shape)
    if not sizes.is_fully_defined():
        raise ValueError(f"constant: shape {sizes} must be fully known.")
    host = tensor._host()
    target = tuple(int(size) for size in sizes if size is not None)
    count = int(np.prod(target, dtype=np.int64))
    if host.size == 1 and (count or not host.shape):
        return from_host(np.repeat(host.reshape(-1), count).reshape(target), tensor._table)
    if host.size != count:
        raise TypeError(f"constant: a value with {host.size} elements cannot fill shape {sizes} of {count} elements.")
    return from_host(host.reshape(target), tensor._table)
