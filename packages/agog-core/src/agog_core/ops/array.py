"""Making tensors, and changing their shape."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

from agog_core import dtypes
from agog_core.broadcasting import static_shape
from agog_core.call import call, create
from agog_core.convert import constant, convert_to_tensor, host_value
from agog_core.dtypes import NUMERIC_OR_BOOL, ORDERED, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.op import Op
from agog_core.shapes import Shape, normalize_axis
from agog_core.tensor import Tensor, TensorLike, wrap


def fill(dims: Any, value: TensorLike, name: str | None = None) -> Tensor:
    """Make a tensor that holds one value everywhere.

    Args:
        dims: the shape.
        value: a scalar.
        name: not used; kept for compatibility.

    Returns:
        A tensor of that shape and the value's dtype.

    Raises:
        InvalidArgumentError: the value is not a scalar.

    >>> print(fill((2,), 7))
    tf.Tensor([7 7], shape=(2,), dtype=int32)
    """
    scalar = host_value(value)
    if scalar.shape:
        raise InvalidArgumentError(f"fill: value must be a scalar; got shape {scalar.shape}.")
    return _filled(static_shape(dims), scalar.item(), as_dtype(scalar.dtype))


def _filled(shape: Shape, value: Any, dtype: dtypes.DType) -> Tensor:
    return create(_fill, dtype, shape=shape, value=value)  # type: ignore[no-any-return]  # one output


def _fill_shape(shape: Shape, value: Any) -> Shape:
    return shape


_fill = Op("fill", fill, inputs=[], shape=_fill_shape, dtypes=NUMERIC_OR_BOOL)


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Make a tensor of zeros.

    Args:
        shape: the shape.
        dtype: the dtype.
        name: not used; kept for compatibility.

    Returns:
        A tensor of that shape and dtype.

    >>> print(zeros([2]))
    tf.Tensor([0. 0.], shape=(2,), dtype=float32)
    """
    return _filled(static_shape(shape), 0, as_dtype(dtype))


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Make a tensor of ones.

    Args:
        shape: the shape.
        dtype: the dtype.
        name: not used; kept for compatibility.

    Returns:
        A tensor of that shape and dtype.

    >>> print(ones([2]))
    tf.Tensor([1. 1.], shape=(2,), dtype=float32)
    """
    return _filled(static_shape(shape), 1, as_dtype(dtype))


def zeros_like(tensor: TensorLike, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Make a tensor of zeros like another one.

    Args:
        tensor: a tensor.
        dtype: the dtype; None for the tensor's.
        name: not used; kept for compatibility.
        optimize: not used; kept for compatibility.

    Returns:
        A tensor of the same shape, on the same device.

    >>> print(zeros_like([1.0, 2.0]))
    tf.Tensor([0. 0.], shape=(2,), dtype=float32)
    """
    return fill_like(convert_to_tensor(tensor), 0, dtype)


def ones_like(tensor: TensorLike, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Make a tensor of ones like another one.

    Args:
        tensor: a tensor.
        dtype: the dtype; None for the tensor's.
        name: not used; kept for compatibility.
        optimize: not used; kept for compatibility.

    Returns:
        A tensor of the same shape, on the same device.

    >>> print(ones_like([1.0, 2.0]))
    tf.Tensor([1. 1.], shape=(2,), dtype=float32)
    """
    return fill_like(convert_to_tensor(tensor), 1, dtype)


def fill_like(tensor: Tensor, value: int, dtype: Any = None) -> Tensor:
    """Make a tensor that holds one value everywhere, on the device of another one.

    Args:
        tensor: a tensor.
        value: the value.
        dtype: the dtype; None for the tensor's.

    Returns:
        A tensor of the same shape, on the same device.

    >>> print(fill_like(constant([1.0, 2.0]), 7))
    tf.Tensor([7. 7.], shape=(2,), dtype=float32)
    """
    return create(_fill, as_dtype(dtype or tensor.dtype), device=tensor._table.device, shape=tensor._shape, value=value)  # type: ignore[no-any-return]


def range(start: TensorLike, limit: TensorLike = None, delta: TensorLike = 1, dtype: Any = None, name: str | None = "range") -> Tensor:
    """Make a tensor of evenly spaced numbers.

    Args:
        start: the first number; when ``limit`` is None, the limit, and the first number is 0.
        limit: the end, which is not included.
        delta: the distance between two numbers.
        dtype: the dtype; None for int32 when all arguments are integers, else float32.
        name: not used; kept for compatibility.

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
        raise InvalidArgumentError(f"range: start, limit and delta must be scalars; got shapes {', '.join(str(v.shape) for v in given)}.")
    first, last, step = (value.item() for value in given)
    if step == 0:
        raise InvalidArgumentError("range: delta must not be zero.")
    if dtype is None:
        kinds = [as_dtype(value.dtype) for value in given]
        dtype = max([kind for kind in kinds if kind.is_floating] or kinds, key=lambda kind: kind.size)
    count = max(0, math.ceil((last - first) / step))
    return create(_range, as_dtype(dtype), start=first, delta=step, count=count)  # type: ignore[no-any-return]  # one output


def _range_shape(start: float, delta: float, count: int) -> Shape:
    return (count,)


_range = Op("range", range, inputs=[], shape=_range_shape, dtypes=ORDERED)


def identity(input: TensorLike, name: str | None = None) -> Tensor:
    """Return a new tensor of the same value.

    Args:
        input: a tensor.
        name: not used; kept for compatibility.

    Returns:
        A tensor of its own identity, so that it can be watched separately.

    >>> print(identity(1.0))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    x = convert_to_tensor(input)
    return reshape(x, x._shape)


def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the value as a constant: no gradient flows through it.

    Args:
        input: a tensor.
        name: not used; kept for compatibility.

    Returns:
        A tensor of the same value that no tape watches.

    >>> print(stop_gradient(1.0))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    x = convert_to_tensor(input)
    return wrap(x._array, x._table, x._shape)


def reshape(tensor: TensorLike, shape: Any, name: str | None = None) -> Tensor:
    """Return the same elements in another shape.

    Args:
        tensor: a tensor.
        shape: the new shape; one size may be -1, which stands for what is left.
        name: not used; kept for compatibility.

    Returns:
        A tensor of that shape, with the elements in row-major order.

    Raises:
        InvalidArgumentError: the numbers of elements differ, or two sizes are -1.

    >>> print(reshape([1, 2, 3, 4], (2, -1)))
    tf.Tensor(
    [[1 2]
     [3 4]], shape=(2, 2), dtype=int32)
    """
    x = convert_to_tensor(tensor)
    return call(_reshape, x, shape=_complete_shape(x._shape, shape))  # type: ignore[no-any-return]  # one output


def _complete_shape(given: Shape, shape: Any) -> Shape:
    if isinstance(shape, Tensor):
        shape = shape.numpy().tolist()
    sizes = [int(size) for size in (shape if hasattr(shape, "__iter__") else [shape])]
    count = math.prod(given)
    if sizes.count(-1) > 1 or any(size < -1 for size in sizes):
        raise InvalidArgumentError(f"reshape: shape {tuple(sizes)} may have one -1 and no other negative size.")
    if -1 in sizes:
        rest = math.prod(size for size in sizes if size != -1)
        if rest == 0 or count % rest:
            raise InvalidArgumentError(f"reshape: a tensor of shape {given} with {count} elements does not fit shape {tuple(sizes)}.")
        sizes[sizes.index(-1)] = count // rest
    return tuple(sizes)


def _reshape_shape(x: Shape, shape: Shape) -> Shape:
    if math.prod(x) != math.prod(shape):
        raise InvalidArgumentError(
            f"reshape: a tensor of shape {x} has {math.prod(x)} elements; shape {shape} would have {math.prod(shape)}."
        )
    return shape


_reshape = Op(
    "reshape",
    reshape,
    inputs=["tensor"],
    shape=_reshape_shape,
    vjp={"tensor": lambda g, tensor_shape: reshape(g, tensor_shape)},
    views=True,
)


def expand_dims(input: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """Insert an axis of size 1.

    Args:
        input: a tensor of rank n.
        axis: where, from -(n + 1) to n.
        name: not used; kept for compatibility.
        dim: the older name of ``axis``.

    Returns:
        A tensor of rank n + 1.

    Raises:
        InvalidArgumentError: the axis is out of range.

    >>> expand_dims([1, 2], 0).shape
    TensorShape([1, 2])
    """
    x = convert_to_tensor(input)
    where = normalize_axis("expand_dims", dim if axis is None else axis, len(x._shape) + 1)
    return reshape(x, (*x._shape[:where], 1, *x._shape[where:]))


def squeeze(input: TensorLike, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Tensor:
    """Remove axes of size 1.

    Args:
        input: a tensor.
        axis: an axis or several; None for all of size 1.
        name: not used; kept for compatibility.
        squeeze_dims: the older name of ``axis``.

    Returns:
        A tensor without those axes.

    Raises:
        InvalidArgumentError: an axis is out of range, or its size is not 1.

    >>> squeeze([[1, 2]]).shape
    TensorShape([2])
    """
    x = convert_to_tensor(input)
    axis = squeeze_dims if axis is None else axis
    if axis is None:
        return reshape(x, tuple(size for size in x._shape if size != 1))
    axes = [normalize_axis("squeeze", a, len(x._shape)) for a in (axis if isinstance(axis, Sequence) else [axis])]
    for a in axes:
        if x._shape[a] != 1:
            raise InvalidArgumentError(f"squeeze: axis {a} of a tensor of shape {x._shape} has size {x._shape[a]}, not 1.")
    return reshape(x, tuple(size for a, size in enumerate(x._shape) if a not in axes))


def transpose(a: TensorLike, perm: Any = None, name: str | None = None, conjugate: bool = False) -> Tensor:
    """Put the axes into another order.

    Args:
        a: a tensor of rank n.
        perm: the old axes in their new order; None reverses them.
        name: not used; kept for compatibility.
        conjugate: not used for real tensors; kept for compatibility.

    Returns:
        The transposed tensor.

    Raises:
        InvalidArgumentError: ``perm`` is not a permutation of the axes.

    >>> print(transpose([[1, 2], [3, 4]]))
    tf.Tensor(
    [[1 3]
     [2 4]], shape=(2, 2), dtype=int32)
    """
    x = convert_to_tensor(a)
    rank = len(x._shape)
    if isinstance(perm, Tensor):
        perm = perm.numpy().tolist()
    axes = tuple(reversed(builtins.range(rank))) if perm is None else tuple(int(axis) for axis in perm)
    return call(_transpose, x, perm=axes)  # type: ignore[no-any-return]  # one output


def _transpose_shape(x: Shape, perm: Shape) -> Shape:
    if sorted(perm) != list(builtins.range(len(x))):
        raise InvalidArgumentError(f"transpose: perm {perm} is not a permutation of the axes of a tensor of shape {x}.")
    return tuple(x[axis] for axis in perm)


def _inverse(perm: Shape) -> Shape:
    return tuple(sorted(builtins.range(len(perm)), key=perm.__getitem__))


_transpose = Op(
    "transpose",
    transpose,
    inputs=["a"],
    shape=_transpose_shape,
    vjp={"a": lambda g, perm: transpose(g, _inverse(perm))},
    views=True,
)


def shape(input: TensorLike, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """The shape of a tensor, as a tensor.

    Args:
        input: a tensor of rank n.
        name: not used; kept for compatibility.
        out_type: the dtype of the result.

    Returns:
        A tensor of n integers.

    >>> print(shape([[1, 2]]))
    tf.Tensor([1 2], shape=(2,), dtype=int32)
    """
    return constant(list(convert_to_tensor(input)._shape), out_type)


def size(input: TensorLike, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """The number of elements of a tensor.

    Args:
        input: a tensor.
        name: not used; kept for compatibility.
        out_type: the dtype of the result.

    Returns:
        A scalar tensor.

    >>> print(size([[1, 2]]))
    tf.Tensor(2, shape=(), dtype=int32)
    """
    return constant(math.prod(convert_to_tensor(input)._shape), out_type)


def rank(input: TensorLike, name: str | None = None) -> Tensor:
    """The number of axes of a tensor.

    Args:
        input: a tensor.
        name: not used; kept for compatibility.

    Returns:
        A scalar int32 tensor.

    >>> print(rank([[1, 2]]))
    tf.Tensor(2, shape=(), dtype=int32)
    """
    return constant(len(convert_to_tensor(input)._shape), dtypes.int32)


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
        name: not used; kept for compatibility.

    Returns:
        A tensor with one more axis, of size ``depth``.

    Raises:
        InvalidArgumentError: the indices are not integers, or the axis is out of range.

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
    return call(_one_hot, x, depth=int(depth), on_value=on.item(), off_value=off.item(), axis=where, dtype=kind.name)  # type: ignore[no-any-return]


def _one_hot_shape(indices: Shape, depth: int, on_value: Any, off_value: Any, axis: int, dtype: str) -> Shape:
    return (*indices[:axis], depth, *indices[axis:])


_one_hot = Op(
    "one_hot",
    one_hot,
    inputs=["indices"],
    shape=_one_hot_shape,
    dtype=lambda given, dtype, **_: as_dtype(dtype),
    dtypes=dtypes.INTEGERS,
)
