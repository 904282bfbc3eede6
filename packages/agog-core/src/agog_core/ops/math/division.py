"""Division: the kinds beyond Python's own, elementwise."""

from __future__ import annotations

from agog_core.calls.elementwise import binary, operands, unary
from agog_core.dtypes import DIFFERENTIABLE, FLOATING, INTEGERS, ORDERED
from agog_core.ops.math.arithmetic import floordiv, realdiv
from agog_core.ops.math.rounding import rint
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["div", "div_no_nan", "floor_div", "reciprocal", "truncatediv", "truncatemod"]

floor_div = floordiv


def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient of two tensors, elementwise, as Python 2 divides: that of integers is rounded down.

    Args:
        x, y: tensors of numbers, of one dtype, whose shapes broadcast.

    Returns:
        ``x // y`` for integers, else ``x / y``, of the inputs' dtype.

    Raises:
        InvalidArgumentError: an integer is divided by zero.

    >>> print(div([7, -7], 2), div(7.0, 2.0))
    tf.Tensor([ 3 -4], shape=(2,), dtype=int32) tf.Tensor(3.5, shape=(), dtype=float32)
    """
    x, y = operands("div", ("x", "y"), x, y)
    return floordiv(x, y) if x.dtype.is_integer else realdiv(x, y)


@binary(
    x=lambda g, y: div_no_nan(g, y),
    y=lambda g, y, out: -(g * div_no_nan(out, y)),
    dtypes=FLOATING,
)
def div_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient of two tensors, elementwise, and 0 where the divisor is 0.

    Returns:
        ``x / y``, of the broadcast shape; 0 where ``y`` is 0, whatever ``x`` is.

    >>> print(div_no_nan([1.0, 3.0], [0.0, 2.0]))
    tf.Tensor([0.  1.5], shape=(2,), dtype=float32)
    """


@binary(dtypes=INTEGERS, may_fail=True)
def truncatediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient of two tensors of integers, rounded towards zero, elementwise; it has no gradient.

    Returns:
        The quotient as C computes it, of the broadcast shape.

    Raises:
        InvalidArgumentError: an integer is divided by zero.

    >>> print(truncatediv([7, -7], 2))
    tf.Tensor([ 3 -3], shape=(2,), dtype=int32)
    """


def _truncatemod_vjp_y(g: Tensor, x: Tensor, y: Tensor, out: Tensor) -> Tensor:
    return -(g * rint((x - out) / y))


@binary(x=lambda g: g, y=_truncatemod_vjp_y, dtypes=ORDERED, may_fail=INTEGERS)
def truncatemod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Remainder of the quotient that is rounded towards zero, elementwise; it has the dividend's sign.

    Returns:
        The remainder as C computes it, of the broadcast shape.

    Raises:
        InvalidArgumentError: an integer is divided by zero.

    >>> print(truncatemod([7, -7], 3))
    tf.Tensor([ 1 -1], shape=(2,), dtype=int32)
    """


@unary(lambda g, out: -(g * (out * out)), dtypes=DIFFERENTIABLE)
def reciprocal(x: TensorLike, name: str | None = None) -> Tensor:
    """One divided by a tensor, elementwise.

    Returns:
        ``1 / x``; infinite where a float is zero.

    >>> print(reciprocal([1.0, 4.0]))
    tf.Tensor([1.   0.25], shape=(2,), dtype=float32)
    """
