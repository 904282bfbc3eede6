"""Reshaping: reading shapes, and giving the same elements another one."""

from __future__ import annotations

import builtins
import math
from typing import Any

from agog_core import dtypes
from agog_core.calls.call import call
from agog_core.dispatch.devices.lookup import host_device
from agog_core.dispatch.op import define
from agog_core.dtypes import as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.complex import conj
from agog_core.shapes import Shape, TensorShape, normalize_axes, normalize_axis
from agog_core.tensors.convert import convert_to_tensor, fixed, from_host, host_value, whole
from agog_core.tensors.host_array import host_array
from agog_core.tensors.sparse_tensor import SparseTensor, SparseTensorValue
from agog_core.tensors.tensor import Tensor, TensorLike, wrap

__all__ = [
    "ensure_shape",
    "expand_dims",
    "identity",
    "rank",
    "reshape",
    "shape",
    "shape_n",
    "size",
    "squeeze",
    "stop_gradient",
    "transpose",
]


def identity(input: TensorLike, name: str | None = None) -> Tensor:
    """Return a new tensor of the same value.

    Args:
        input: a tensor.

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
    return call(_reshape, x, shape=_complete_shape(x._shape, shape))


def _complete_shape(given: Shape, shape: Any) -> Shape:
    if isinstance(shape, Tensor):
        shape = fixed(shape).tolist()
    sizes = [whole(size) for size in (shape if hasattr(shape, "__iter__") else [shape])]
    count = math.prod(given)
    if sizes.count(-1) > 1 or any(size < -1 for size in sizes):
        raise InvalidArgumentError(f"reshape: shape {tuple(sizes)} may have one -1 and no other negative size.")
    if -1 in sizes:
        rest = math.prod(size for size in sizes if size != -1)
        if rest == 0 or count % rest:
            raise InvalidArgumentError(
                f"reshape: a tensor of shape {given} with {count} elements does not fit shape {tuple(sizes)}."
            )
        sizes[sizes.index(-1)] = count // rest
    return tuple(sizes)


def _reshape_shape(x: Shape, shape: Shape) -> Shape:
    if math.prod(x) != math.prod(shape):
        raise InvalidArgumentError(
            f"reshape: a tensor of shape {x} has {math.prod(x)} elements; shape {shape} would have {math.prod(shape)}."
        )
    return shape


_reshape = define(
    reshape, shape=_reshape_shape, vjp={"tensor": lambda g, tensor_shape: reshape(g, tensor_shape)}, views=True
)


def expand_dims(input: TensorLike, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Insert an axis of size 1.

    Args:
        input: a tensor of rank n.
        axis: where, from -(n + 1) to n; an integer, or what holds a single one. Its older name is ``dim``.

    Returns:
        A tensor of rank n + 1.

    Raises:
        InvalidArgumentError: the axis is out of range.
        ValueError: no axis is given, or two are.

    >>> expand_dims([1, 2], 0).shape
    TensorShape([1, 2])
    """
    x = convert_to_tensor(input)
    given = one_of("expand_dims", axis=axis, dim=dim)
    if given is None:
        raise ValueError("expand_dims: axis is missing; give the position of the new axis.")
    if isinstance(given, (list, tuple)):
        if len(given) != 1:
            raise InvalidArgumentError(f"expand_dims: axis must be a tensor with a single value; got {given}.")
        (given,) = given
    where = normalize_axis("expand_dims", given, len(x._shape) + 1)
    return reshape(x, (*x._shape[:where], 1, *x._shape[where:]))


def one_of(op: str, **given: Any) -> Any:
    """The value of an argument that has an older name too, the second one; None where nothing is given.

    >>> one_of("squeeze", axis=None, squeeze_dims=1)
    1
    """
    (new, value), (old, older) = given.items()
    if value is not None and older is not None:
        raise ValueError(f"{op}: {new} and {old} are one argument under two names; give one of them.")
    return older if value is None else value


def squeeze(input: TensorLike, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Tensor:
    """Remove axes of size 1.

    Args:
        input: a tensor.
        axis: an axis or several; None for all of size 1. Its older name is ``squeeze_dims``.

    Returns:
        A tensor without those axes.

    Raises:
        InvalidArgumentError: an axis is out of range, or its size is not 1.
        ValueError: ``axis`` and ``squeeze_dims`` are both given.

    >>> squeeze([[1, 2]]).shape
    TensorShape([2])
    """
    x = convert_to_tensor(input)
    axis = one_of("squeeze", axis=axis, squeeze_dims=squeeze_dims)
    if axis is None or (isinstance(axis, (list, tuple)) and not axis):  # an empty list means all
        return reshape(x, tuple(size for size in x._shape if size != 1))
    axes = normalize_axes("squeeze", axis, len(x._shape))
    for a in axes:
        if x._shape[a] != 1:
            raise InvalidArgumentError(
                f"squeeze: Can not squeeze dim[{a}], expected a dimension of 1, got {x._shape[a]}: the tensor has "
                f"shape {x._shape}."
            )
    return reshape(x, tuple(size for a, size in enumerate(x._shape) if a not in axes))


def transpose(a: TensorLike, perm: Any = None, name: str | None = None, conjugate: bool = False) -> Tensor:
    """Put the axes into another order.

    Args:
        a: a tensor of rank n.
        perm: the old axes in their new order; None reverses them.
        conjugate: whether to take the conjugates of complex numbers.

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
        perm = fixed(perm).tolist()
    try:
        axes = tuple(reversed(builtins.range(rank))) if perm is None else tuple(int(axis) for axis in perm)
    except TypeError:
        raise InvalidArgumentError(f"transpose: perm must be a list of {rank} integers; got {perm!r}.") from None
    transposed = call(_transpose, x, perm=axes)
    return conj(transposed) if conjugate and x._table.dtype.is_complex else transposed


def _transpose_shape(x: Shape, perm: Shape) -> Shape:
    if sorted(perm) != list(builtins.range(len(x))):
        raise InvalidArgumentError(f"transpose: perm {perm} is not a permutation of the axes of a tensor of shape {x}.")
    return tuple(x[axis] for axis in perm)


def _inverse(perm: Shape) -> Shape:
    return tuple(sorted(builtins.range(len(perm)), key=perm.__getitem__))


_transpose = define(
    transpose, shape=_transpose_shape, vjp={"a": lambda g, perm: transpose(g, _inverse(perm))}, views=True
)


def shape(input: TensorLike, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """The shape of a tensor, as a tensor.

    Args:
        input: a tensor of rank n, or a sparse one.
        out_type: the dtype of the result.

    Returns:
        A tensor of n integers.

    >>> print(shape([[1, 2]]))
    tf.Tensor([1 2], shape=(2,), dtype=int32)
    """
    return _on_host(list(_shape_of(input)), out_type)


def shape_n(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors, as tensors.

    Args:
        input: tensors.
        out_type: the dtype of the results.

    Returns:
        A tensor of integers for each.

    >>> [each.numpy().tolist() for each in shape_n([[1, 2], [[3]]])]
    [[2], [1, 1]]
    """
    return [shape(each, out_type=out_type) for each in input]


def ensure_shape(x: TensorLike, shape: Any, name: str | None = None) -> Tensor:
    """Check that a tensor has a shape.

    Args:
        x: a tensor.
        shape: a `TensorShape`, or what its constructor takes; None stands for any size, or for any shape at all.

    Returns:
        A tensor of the same value.

    Raises:
        InvalidArgumentError: it has another shape.

    >>> print(ensure_shape([1, 2], [None]))
    tf.Tensor([1 2], shape=(2,), dtype=int32)
    """
    tensor, expected = convert_to_tensor(x), TensorShape(shape)
    if not expected.is_compatible_with(tensor._shape):
        raise InvalidArgumentError(f"ensure_shape: x has shape {tensor._shape}, but shape {expected} is expected.")
    return identity(tensor)


def size(input: TensorLike, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """The number of elements of a tensor.

    Args:
        input: a tensor.
        out_type: the dtype of the result.

    Returns:
        A scalar tensor.

    >>> print(size([[1, 2]]))
    tf.Tensor(2, shape=(), dtype=int32)
    """
    return _on_host(math.prod(_shape_of(input)), out_type)


def rank(input: TensorLike, name: str | None = None) -> Tensor:
    """The number of axes of a tensor.

    Args:
        input: a tensor.

    Returns:
        A scalar int32 tensor.

    >>> print(rank([[1, 2]]))
    tf.Tensor(2, shape=(), dtype=int32)
    """
    return _on_host(len(_shape_of(input)), dtypes.int32)


def _shape_of(value: Any) -> Shape:
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        return tuple(host_value(value.dense_shape).tolist())
    return convert_to_tensor(value)._shape


def _on_host(sizes: Any, dtype: Any) -> Tensor:
    """A tensor that stays on the host in the scope of any device: programs compute sizes with it, and read them."""
    kind = as_dtype(dtype)
    return from_host(host_array(sizes, kind), host_device(kind).table(kind))
