"""Scattering: putting parts into tensors and variables by number."""

from __future__ import annotations

from typing import Any

from agog_core.calls.broadcasting import static_shape
from agog_core.calls.call import call, update_part
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import ALL, NUMERIC, ORDERED, bool_, int32
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.casting import cast
from agog_core.ops.indexing.gathering import gather_nd, index_tensor
from agog_core.ops.math.logic import not_equal
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor
from agog_core.variables.variable import Variable

__all__ = ["scatter_nd"]


def scatter_nd(indices: TensorLike, updates: TensorLike, shape: Any, name: str | None = None) -> Tensor:
    """Put elements or slices into a tensor of zeros; those that meet at one position are added up.

    Args:
        indices: positions of shape ``(..., depth)``, int32 or int64: each row names one position on each of the first
            ``depth`` axes.
        updates: numbers of shape ``indices.shape[:-1] + shape[depth:]``; of bools, True wins.
        shape: the shape of the result.

    Returns:
        A tensor of that shape and the updates' dtype.

    Raises:
        InvalidArgumentError: a position is out of range, or the shapes do not fit.

    >>> print(scatter_nd([[3], [1], [3]], [1, 2, 4], [5]))
    tf.Tensor([0 2 0 5 0], shape=(5,), dtype=int32)
    """
    at, parts = index_tensor("scatter_nd", "indices", indices), convert_to_tensor(updates)
    if parts.dtype is bool_:
        return not_equal(call(_scatter_nd, at, cast(parts, int32), shape=static_shape(shape)), 0)
    return call(_scatter_nd, at, parts, shape=static_shape(shape))


def _scatter_nd_shape(indices: Shape, updates: Shape, shape: Shape) -> Shape:
    check_updates("scatter_nd", indices, updates, shape, "shape")
    return shape


_scatter_nd = define(
    scatter_nd,
    shape=_scatter_nd_shape,
    alike=["updates"],
    dtypes=NUMERIC,
    vjp={"updates": lambda g, indices: gather_nd(g, indices)},
    may_fail=True,
)


def scatter_variable(variable: Variable, indices: TensorLike, updates: TensorLike, operation: str) -> Variable:
    """Replace elements or slices of a variable, or combine them with updates, one update after the other. The operation
    is ``"update"``, ``"add"``, ``"subtract"``, ``"multiply"``, ``"divide"``, ``"minimum"`` or ``"maximum"``.

    >>> v = Variable([1.0, 2.0, 3.0])
    >>> scatter_variable(v, [[0], [2], [0]], [10.0, 20.0, 30.0], "add").numpy().tolist()
    [41.0, 2.0, 23.0]
    """
    if operation != "update":
        allowed = ORDERED if operation in ("minimum", "maximum") else NUMERIC
        if variable.dtype not in allowed:
            raise InvalidArgumentError(
                f"scatter_variable: {operation} is not defined for variable {variable.name!r} of dtype "
                f"{variable.dtype.name}."
            )
    at = index_tensor("scatter_variable", "indices", indices)
    update_part(
        _scatter_variable, variable, [at, variable._converted("scatter_variable", updates)], operation=operation
    )
    return variable


def _scatter_variable_shape(variable: Shape, indices: Shape, updates: Shape, operation: str) -> Shape:
    check_updates("scatter_variable", indices, updates, variable, "a variable of shape", scalar=True)
    return variable


_scatter_variable = Op(
    "scatter_variable",
    scatter_variable,
    inputs=["variable", "indices", "updates"],
    shape=_scatter_variable_shape,
    alike=["variable", "updates"],
    dtypes=ALL,
    updates=["variable"],
    may_fail=True,
)


def check_updates(op: str, indices: Shape, updates: Shape, whole: Shape, what: str, *, scalar: bool = False) -> None:
    """Raise if the shapes of indices and updates do not fit the shape of their target."""
    if not indices or indices[-1] > len(whole):
        raise InvalidArgumentError(
            f"{op}: indices of shape {indices} do not index into {what} {whole}; the last axis of indices must be "
            f"there, and of a size up to {len(whole)}."
        )
    expected = (*indices[:-1], *whole[indices[-1] :])
    if updates != expected and not (scalar and updates == ()):
        raise InvalidArgumentError(
            f"{op}: indices of shape {indices} into {what} {whole} need updates of shape {expected}; got {updates}."
        )
