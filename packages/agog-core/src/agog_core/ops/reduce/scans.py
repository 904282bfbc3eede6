"""Scans: cumulative sums and products."""

from __future__ import annotations

from typing import Any

from agog_core.calls.call import call
from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.op import define
from agog_core.dtypes import DIFFERENTIABLE, NUMERIC
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import concat, split, zeros
from agog_core.shapes import Shape, normalize_axis
from agog_core.tensors.convert import convert_to_tensor, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["cumprod", "cumsum"]


def cumsum(
    x: TensorLike, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Sum of all elements up to each one, along an axis.

    Args:
        x: a tensor of numbers, of rank 1 or more.
        axis: the axis.
        exclusive: whether each element itself is left out, so that the first sum is 0.
        reverse: whether to start from the end.

    Returns:
        The sums, of ``x``'s shape and dtype.

    Raises:
        InvalidArgumentError: the axis is out of range.

    >>> print(cumsum([1, 2, 3]))
    tf.Tensor([1 3 6], shape=(3,), dtype=int32)
    >>> print(cumsum([1, 2, 3], exclusive=True, reverse=True))
    tf.Tensor([5 3 0], shape=(3,), dtype=int32)
    """
    tensor = convert_to_tensor(x)
    return call(_cumsum, tensor, axis=_axis("cumsum", axis, tensor), exclusive=bool(exclusive), reverse=bool(reverse))


def _axis(op: str, axis: Any, x: Tensor) -> int:
    return normalize_axis(op, axis if type(axis) is int else host_value(axis), len(x._shape))


def _scan_shape(x: Shape, axis: int, exclusive: bool, reverse: bool) -> Shape:
    return x


_cumsum = define(
    cumsum,
    shape=_scan_shape,
    dtypes=NUMERIC,
    vjp={"x": lambda g, axis, exclusive, reverse: cumsum(g, axis, exclusive, not reverse)},
)


@documented_like(cumsum)
def cumprod(
    x: TensorLike, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Product of all elements up to each one, along an axis. Its derivatives are right where elements are zero, too.

    Args:
        exclusive: whether each element itself is left out, so that the first product is 1.

    Returns:
        The products, of ``x``'s shape and dtype.

    >>> print(cumprod([1, 2, 3]))
    tf.Tensor([1 2 6], shape=(3,), dtype=int32)
    >>> print(cumprod([1, 2, 3], exclusive=True))
    tf.Tensor([1 1 2], shape=(3,), dtype=int32)
    """
    tensor = convert_to_tensor(x)
    return call(_cumprod, tensor, axis=_axis("cumprod", axis, tensor), exclusive=bool(exclusive), reverse=bool(reverse))


def _cumprod_vjp(g: Tensor, x: Tensor, axis: int, exclusive: bool, reverse: bool) -> Tensor:
    """The product before an element, times the products behind it: by a recurrence, without division."""
    before = cumprod(x, axis, exclusive=True, reverse=reverse)
    if exclusive:
        behind = _shifted(linear_recurrence(x, g, axis, not reverse), axis, not reverse)
    else:
        behind = linear_recurrence(_shifted(x, axis, not reverse), g, axis, not reverse)
    return before * behind


def _shifted(x: Tensor, axis: int, reverse: bool) -> Tensor:
    """Each element moved to the next position, or with ``reverse`` to the one before; 0 takes the free place."""
    length = x._shape[axis]
    if not length:
        return x
    edge = zeros((*x._shape[:axis], 1, *x._shape[axis + 1 :]), x.dtype)
    if reverse:
        return concat([split(x, [1, length - 1], axis)[1], edge], axis)
    return concat([edge, split(x, [length - 1, 1], axis)[0]], axis)


_cumprod = define(cumprod, shape=_scan_shape, dtypes=NUMERIC, vjp={"x": _cumprod_vjp})


def linear_recurrence(factors: TensorLike, terms: TensorLike, axis: int = 0, reverse: bool = False) -> Tensor:
    """The sequence ``y[t] = terms[t] + factors[t] * y[t - 1]`` along an axis, from 0; with ``reverse`` from the end.

    It is computed in logarithmically many steps, each for all elements at once (G. E. Blelloch, "Prefix sums and their
    applications", 1990, section 1.4). Factors and terms are floats or complex numbers, of one shape and dtype.

    >>> print(linear_recurrence([9.0, 2.0, 3.0], [1.0, 1.0, 1.0]))
    tf.Tensor([ 1.  3. 10.], shape=(3,), dtype=float32)
    """
    a, b = convert_to_tensor(factors), convert_to_tensor(terms)
    return call(
        _linear_recurrence, a, b, axis=normalize_axis("linear_recurrence", axis, len(a._shape)), reverse=reverse
    )


def _recurrence_shape(factors: Shape, terms: Shape, axis: int, reverse: bool) -> Shape:
    if factors != terms:
        raise InvalidArgumentError(
            f"linear_recurrence: factors and terms must be of one shape; got {factors} and {terms}."
        )
    return factors


def _recurrence_vjp(
    g: Tensor, factors: Tensor, out: Tensor, axis: int, reverse: bool, needed: tuple[str, ...]
) -> tuple[Tensor | None, Tensor]:
    adjoint = linear_recurrence(_shifted(factors, axis, not reverse), g, axis, not reverse)
    return adjoint * _shifted(out, axis, reverse) if "factors" in needed else None, adjoint


_linear_recurrence = define(
    linear_recurrence, shape=_recurrence_shape, dtypes=DIFFERENTIABLE, vjp={("factors", "terms"): _recurrence_vjp}
)
