"""Broadcasting: the op and its transpose, for the gradients of all elementwise ops."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from agog_core.calls.call import call
from agog_core.dispatch.op import define
from agog_core.dtypes import NUMERIC
from agog_core.errors import InvalidArgumentError
from agog_core.shapes import Shape, TensorShape, broadcast_shapes
from agog_core.tensors import Tensor, TensorLike, constant
from agog_core.tensors.convert import convert_to_tensor, fixed, host_value

__all__ = ["broadcast_dynamic_shape", "broadcast_static_shape", "broadcast_to"]


def broadcast_to(input: TensorLike, shape: Any, name: str | None = None) -> Tensor:
    """Repeat a tensor along axes of size 1, or along new leading axes, up to a shape.

    Args:
        input: a tensor.
        shape: the shape to reach.

    Returns:
        A tensor of that shape and the input's dtype.

    Raises:
        InvalidArgumentError: the input does not broadcast to the shape.

    >>> print(broadcast_to([1, 2], (2, 2)))
    tf.Tensor(
    [[1 2]
     [1 2]], shape=(2, 2), dtype=int32)
    """
    x, target = convert_to_tensor(input), static_shape(shape)
    return x if x._shape == target else call(_broadcast_to, x, shape=target)


def _broadcast_shape(x: Shape, shape: Shape) -> Shape:
    if broadcast_shapes("broadcast_to", x, shape) != shape:
        raise InvalidArgumentError(f"broadcast_to: a tensor of shape {x} does not broadcast to shape {shape}.")
    return shape


_broadcast_to = define(
    broadcast_to, shape=_broadcast_shape, vjp={"input": lambda g, input_shape: sum_to(g, input_shape)}
)


def sum_to(input: TensorLike, shape: Any, name: str | None = None) -> Tensor:
    """Sum a tensor over the axes along which a shape would be repeated; the transpose of `broadcast_to`.

    >>> print(sum_to([[1, 2], [3, 4]], (2,)))
    tf.Tensor([4 6], shape=(2,), dtype=int32)
    """
    if type(input) is not Tensor or type(shape) is not tuple:  # vjps give the shape of a tensor
        input, shape = convert_to_tensor(input), static_shape(shape)
    return input if input._shape == shape else call(_sum_to, input, shape=shape)


@lru_cache(maxsize=4096)
def _sum_shape(x: Shape, shape: Shape) -> Shape:
    if broadcast_shapes("sum_to", x, shape) != x:
        raise InvalidArgumentError(f"sum_to: shape {shape} does not broadcast to the input's shape {x}.")
    return shape


_sum_to = define(
    sum_to, shape=_sum_shape, dtypes=NUMERIC, vjp={"input": lambda g, input_shape: broadcast_to(g, input_shape)}
)


def static_shape(shape: Any) -> Shape:
    """Read the ``shape`` argument of an op: a `TensorShape` of known sizes, an int, a sequence, or a tensor."""
    if type(shape) is tuple and all(type(size) is int and size >= 0 for size in shape):
        return shape
    if type(shape) is Tensor:
        shape = fixed(shape).tolist()
    known = TensorShape(shape)
    if not known.is_fully_defined():
        raise ValueError(f"A fully known shape is needed here; got {known}.")
    return tuple(int(size) for size in known if size is not None)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that two shapes broadcast to, where some sizes may be unknown.

    Args:
        shape_x: a `TensorShape`, or what its constructor takes.
        shape_y: another one.

    Returns:
        The common shape; of unknown rank where one of them is.

    Raises:
        ValueError: two sizes differ and neither is 1.

    >>> broadcast_static_shape([None, 1], [5, 3])
    TensorShape([5, 3])
    """
    x, y = TensorShape(shape_x), TensorShape(shape_y)
    if x.ndims is None or y.ndims is None:
        return TensorShape(None)
    rank = max(x.ndims, y.ndims)
    ones: list[int | None] = [1] * rank
    aligned = [(ones + shape.as_list())[-rank:] if rank else [] for shape in (x, y)]
    sizes: list[int | None] = []
    for a, b in zip(*aligned, strict=True):
        if a != b and None not in (a, b) and 1 not in (a, b):
            raise ValueError(f"Incompatible shapes for broadcasting: {x} and {y}; sizes {a} and {b} differ.")
        if a is None or b is None:  # a size above 1 wins: the unknown one must broadcast to it
            sizes.append(next((size for size in (a, b) if size is not None and size > 1), None))
        else:
            sizes.append(b if a == 1 else a)
    return TensorShape(sizes)


def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """The shape that two shapes broadcast to, as a tensor.

    Args:
        shape_x: a vector of int32 or int64.
        shape_y: a vector of the same dtype.

    Returns:
        The common shape, a vector of that dtype.

    Raises:
        InvalidArgumentError: two sizes differ and neither is 1.

    >>> print(broadcast_dynamic_shape([4, 1], [3]))
    tf.Tensor([4 3], shape=(2,), dtype=int32)
    """
    x = host_value(shape_x)
    shape = broadcast_shapes("broadcast_dynamic_shape", static_shape(x.tolist()), static_shape(shape_y))
    return constant(list(shape), x.dtype)
