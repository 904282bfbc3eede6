"""Creation: tensors of one value, of evenly spaced numbers, and one-hot vectors."""

from __future__ import annotations

import math
from typing import Any

from agog_core import dtypes
from agog_core.calls.broadcasting import broadcast_to, static_shape
from agog_core.calls.call import call, create
from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING, ORDERED, as_dtype, float32
from agog_core.errors import InvalidArgumentError
from agog_core.shapes import Shape, normalize_axis
from agog_core.tensors.convert import convert_to_tensor, host_value, whole
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["fill", "linspace", "one_hot", "ones", "ones_like", "range", "zeros", "zeros_like"]


def fill(dims: Any, value: TensorLike, name: str | None = None) -> Tensor:
    """Make a tensor that holds one value everywhere.

    Args:
        dims: the shape.
        value: a scalar of any dtype.

    Returns:
        A tensor of that shape and the value's dtype. Where the value is a tensor, gradients flow to it.

    Raises:
        InvalidArgumentError: the value is not a scalar, or ``dims`` is no shape.

    >>> print(fill((2,), 7))
    tf.Tensor([7 7], shape=(2,), dtype=int32)
    """
    if type(value) is Tensor or hasattr(type(value), "__tensor__"):
        if shape := convert_to_tensor(value)._shape:
            raise InvalidArgumentError(f"fill: value must be a scalar; got shape {shape}.")
        return broadcast_to(value, _fill_shape(dims))
    scalar = host_value(value)
    if scalar.shape:
        raise InvalidArgumentError(f"fill: value must be a scalar; got shape {scalar.shape}.")
    return create(_fill, as_dtype(scalar.dtype), shape=_fill_shape(dims), value=scalar.item())


def _fill_shape(dims: Any) -> Shape:
    try:
        return static_shape(dims)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"fill: dims must be a shape; got {dims!r}. {error}") from None


def _number(op: str, value: int, dtype: dtypes.DType) -> Any:
    """Zero or one in a dtype; the zero of strings is the empty one."""
    if dtype is not dtypes.string:
        return value
    if value:
        raise TypeError(f"{op}: strings have no {value}; use tf.fill for a tensor of one string.")
    return b""


_fill = Op("fill", fill, inputs=[], shape=lambda shape, value: shape)


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Make a tensor of zeros.

    Args:
        shape: the shape.
        dtype: the dtype.

    Returns:
        A tensor of that shape and dtype; False for bools, empty strings for strings.

    >>> print(zeros([2]))
    tf.Tensor([0. 0.], shape=(2,), dtype=float32)
    """
    kind = _dtype("zeros", shape, dtype)
    return create(_fill, kind, shape=static_shape(shape), value=_number("zeros", 0, kind))


@documented_like(zeros)
def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Make a tensor of ones.

    Returns:
        A tensor of that shape and dtype; True for bools.

    Raises:
        TypeError: the dtype is string.

    >>> print(ones([2]))
    tf.Tensor([1. 1.], shape=(2,), dtype=float32)
    """
    kind = _dtype("ones", shape, dtype)
    return create(_fill, kind, shape=static_shape(shape), value=_number("ones", 1, kind))


def _dtype(function: str, shape: Any, dtype: Any) -> dtypes.DType:
    if type(dtype) is int:  # NumPy's programmers know better, PyTorch's do not
        raise TypeError(
            f"{function}: dtype must be a dtype; got {dtype}. The shape is one argument: "
            f"tf.{function}([{shape}, {dtype}])."
        )
    return as_dtype(dtype)


def zeros_like(tensor: TensorLike, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Make a tensor of zeros like another one.

    Args:
        tensor: a tensor.
        dtype: the dtype; None for the tensor's.

    Returns:
        A tensor of the same shape, on the same device.

    >>> print(zeros_like([1.0, 2.0]))
    tf.Tensor([0. 0.], shape=(2,), dtype=float32)
    """
    return fill_like(convert_to_tensor(tensor), 0, dtype)


@documented_like(zeros_like)
def ones_like(tensor: TensorLike, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Make a tensor of ones like another one.

    >>> print(ones_like([1.0, 2.0]))
    tf.Tensor([1. 1.], shape=(2,), dtype=float32)
    """
    return fill_like(convert_to_tensor(tensor), 1, dtype)


def fill_like(tensor: Tensor, value: int, dtype: Any = None) -> Tensor:
    """Make a tensor that holds one value everywhere, of another's shape and on its device; of its dtype for None.

    >>> print(fill_like(zeros([2]), 7))
    tf.Tensor([7. 7.], shape=(2,), dtype=float32)
    """
    kind = tensor._table.dtype if dtype is None else as_dtype(dtype)
    number = _number("ones_like", value, kind)
    return create(_fill, kind, device=tensor._table.device, shape=tensor._shape, value=number)


def range(
    start: TensorLike, limit: TensorLike = None, delta: TensorLike = 1, dtype: Any = None, name: str | None = "range"
) -> Tensor:
    """Make a tensor of evenly spaced numbers.

    Args:
        start: the first number; when ``limit`` is None, the limit, and the first number is 0.
        limit: the end, which is not included.
        delta: the distance between two numbers.
        dtype: the dtype; None for int32 when all arguments are integers, else float32.

    Returns:
        A tensor of rank 1.

    Raises:
        InvalidArgumentError: ``delta`` is zero, or an argument is not a scalar.

    >>> print(range(3), range(1.0, 2.0, 0.5))
    tf.Tensor([0 1 2], shape=(3,), dtype=int32) tf.Tensor([1.  1.5], shape=(2,), dtype=float32)
    """
    if limit is None:
        start, limit = 0, start
    given = [host_value(value) for value in (start, limit, delta)]
    if any(value.shape for value in given):
        raise InvalidArgumentError(
            f"range: start, limit and delta must be scalars; got shapes {', '.join(str(v.shape) for v in given)}."
        )
    # What NumPy holds of a Python float is rounded to float32 already.
    exact = [value if isinstance(value, (int, float)) else None for value in (start, limit, delta)]
    first, last, step = (
        host.item() if dtype is None or number is None else number for host, number in zip(given, exact, strict=True)
    )
    if step == 0:
        raise InvalidArgumentError("range: delta must not be zero.")
    if dtype is None:
        kinds = [as_dtype(value.dtype) for value in given]
        dtype = max([kind for kind in kinds if kind.is_floating] or kinds, key=lambda kind: kind.size)
    count = max(0, math.ceil((last - first) / step))
    return create(_range, as_dtype(dtype), start=first, delta=step, count=count)


_range = Op("range", range, inputs=[], shape=lambda start, delta, count: (count,), dtypes=ORDERED)


def linspace(start: TensorLike, stop: TensorLike, num: Any, name: str | None = None) -> Tensor:
    """Make a tensor of evenly spaced numbers from one to another, both included.

    Args:
        start: the first number.
        stop: the last number.
        num: how many numbers, at least 1; 1 gives only the first.

    Returns:
        A tensor of rank 1, of the dtype of the floats; of float32 where both are integers.

    Raises:
        InvalidArgumentError: ``num`` is less than 1, or a number is not a scalar.

    >>> print(linspace(0, 1.0, 5))
    tf.Tensor([0.   0.25 0.5  0.75 1.  ], shape=(5,), dtype=float32)
    """
    given, count = [host_value(value) for value in (start, stop)], int(host_value(num))
    if any(value.shape for value in given):
        raise InvalidArgumentError(
            f"linspace: start and stop must be scalars; got shapes {given[0].shape} and {given[1].shape}."
        )
    if count < 1:
        raise InvalidArgumentError(f"linspace: num must be at least 1; got {count}.")
    kinds = [as_dtype(value.dtype) for value in given]
    if all(kind.is_integer for kind in kinds):
        kinds = [float32]
    kind = max([kind for kind in kinds if kind.is_floating] or kinds, key=lambda kind: kind.size)
    return create(_linspace, kind, start=float(given[0]), stop=float(given[1]), num=count)


_linspace = Op("linspace", linspace, inputs=[], shape=lambda start, stop, num: (num,), dtypes=FLOATING)


def one_hot(
    indices: TensorLike,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """Turn indices into vectors that are "on" at the index and "off" elsewhere.

    Args:
        indices: a tensor of integers; an index outside [0, depth) gives a vector that is off everywhere.
        depth: the length of the vectors.
        on_value: the value at the index; 1 by default.
        off_value: the value elsewhere; 0 by default.
        axis: the new axis; the last by default.
        dtype: the dtype of the result; float32 by default.

    Returns:
        A tensor with one more axis, of size ``depth``.

    Raises:
        InvalidArgumentError: the indices are not integers, or the axis is out of range.
        TypeError: a value has another dtype, or the dtype is string, and a value is missing.

    >>> print(one_hot([0, 2], 3))
    tf.Tensor(
    [[1. 0. 0.]
     [0. 0. 1.]], shape=(2, 3), dtype=float32)
    """
    x = convert_to_tensor(indices)
    where = normalize_axis("one_hot", -1 if axis is None else axis, len(x._shape) + 1)
    on, off = (host_value(default if v is None else v) for v, default in ((on_value, 1), (off_value, 0)))
    given = next((host.dtype for v, host in ((on_value, on), (off_value, off)) if v is not None), dtypes.float32)
    kind = as_dtype(given if dtype is None else dtype)
    for which, value in (("on_value", on_value), ("off_value", off_value)):
        if hasattr(value, "dtype") and as_dtype(value.dtype) is not kind:
            raise TypeError(
                f"one_hot: {which} has dtype {as_dtype(value.dtype).name}, and the result dtype {kind.name}; cast it."
            )
    if kind is dtypes.string and (on_value is None or off_value is None):
        raise TypeError("one_hot: strings have no one and no zero; give on_value and off_value.")
    return call(_one_hot, x, depth=whole(depth), on_value=on.item(), off_value=off.item(), axis=where, dtype=kind.name)


_one_hot = define(
    one_hot,
    shape=lambda indices, depth, axis, **_: (*indices[:axis], depth, *indices[axis:]),
    dtype=lambda given, dtype, **_: as_dtype(dtype),
    dtypes=dtypes.INTEGERS,
)
