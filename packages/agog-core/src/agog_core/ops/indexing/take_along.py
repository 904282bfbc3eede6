"""Take along: gathering along the last axis by position, and its transpose."""

from __future__ import annotations

from agog_core.calls.call import call
from agog_core.dispatch.op import define
from agog_core.dtypes import NUMERIC_OR_BOOL
from agog_core.errors import InvalidArgumentError
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor


def take_along(values: TensorLike, positions: TensorLike, name: str | None = None) -> Tensor:
    """Pick elements of each row by their positions. These are int32 or int64 in [0, n), of shape (..., k).

    >>> print(take_along([[1, 2, 3], [4, 5, 6]], [[2, 0], [1, 1]]))
    tf.Tensor(
    [[3 1]
     [5 5]], shape=(2, 2), dtype=int32)
    """
    return call(_take_along, convert_to_tensor(values), convert_to_tensor(positions))


def _take_shape(values: Shape, positions: Shape) -> Shape:
    if not values or values[:-1] != positions[:-1]:
        raise InvalidArgumentError(
            f"take_along: values and positions must have the same sizes but for the last axis; got shapes {values} and "
            f"{positions}."
        )
    return positions


_take_along = define(
    take_along,
    shape=_take_shape,
    alike=["values"],
    vjp={"values": lambda g, values_shape, positions: add_along(g, positions, values_shape[-1])},
    may_fail=True,
)


def add_along(values: TensorLike, positions: TensorLike, size: int, name: str | None = None) -> Tensor:
    """Add elements of each row to zeros at their positions; the transpose of `take_along`. Rows of k become rows of
    ``size``.

    >>> print(add_along([1, 2, 3], [3, 0, 3], 4))
    tf.Tensor([2 0 0 4], shape=(4,), dtype=int32)
    """
    return call(_add_along, convert_to_tensor(values), convert_to_tensor(positions), size=size)


def _add_shape(values: Shape, positions: Shape, size: int) -> Shape:
    if not values or values != positions:
        raise InvalidArgumentError(
            f"add_along: values and positions must have one shape, of rank 1 at least; got {values} and {positions}."
        )
    return (*values[:-1], size)


_add_along = define(
    add_along,
    shape=_add_shape,
    alike=["values"],
    dtypes=NUMERIC_OR_BOOL,
    vjp={"values": lambda g, positions: take_along(g, positions)},
    may_fail=True,
)
