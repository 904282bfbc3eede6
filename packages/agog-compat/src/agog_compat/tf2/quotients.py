"""Quotients: products, quotients and logarithms with 0 where the first factor is 0."""

from __future__ import annotations

from collections.abc import Callable

import agog_core as ag
from agog_core import Tensor
from agog_core.calls.documented import documented_like
from agog_core.shapes import broadcast_shapes

__all__ = ["multiply_no_nan", "reciprocal_no_nan", "xdivy", "xlog1py", "xlogy"]


def xlogy(x: ag.TensorLike, y: ag.TensorLike, name: str | None = None) -> Tensor:
    """``x * log(y)``, elementwise; 0 where ``x`` is 0.

    Args:
        x: a tensor of floats.
        y: a tensor of the same dtype, whose shape broadcasts with it.

    Returns:
        A tensor of the broadcast shape.

    >>> print(xlogy([0.0, 2.0], [0.0, 1.0]))
    tf.Tensor([0. 0.], shape=(2,), dtype=float32)
    """
    return _or_zero(x, y, lambda a, b: a * ag.log(b))


@documented_like(xlogy)
def xlog1py(x: ag.TensorLike, y: ag.TensorLike, name: str | None = None) -> Tensor:
    """``x * log(1 + y)``, elementwise; 0 where ``x`` is 0.

    >>> print(xlog1py([0.0, 2.0], [-1.0, 0.0]))
    tf.Tensor([0. 0.], shape=(2,), dtype=float32)
    """
    return _or_zero(x, y, lambda a, b: a * ag.log1p(b))


@documented_like(xlogy)
def xdivy(x: ag.TensorLike, y: ag.TensorLike, name: str | None = None) -> Tensor:
    """``x / y``, elementwise; 0 where ``x`` is 0.

    >>> print(xdivy([0.0, 2.0], [0.0, 4.0]))
    tf.Tensor([0.  0.5], shape=(2,), dtype=float32)
    """
    return _or_zero(x, y, lambda a, b: a / b)


@documented_like(xlogy)
def multiply_no_nan(x: ag.TensorLike, y: ag.TensorLike, name: str | None = None) -> Tensor:
    """``x * y``, elementwise; 0 where ``y`` is 0, even if ``x`` is infinite or no number.

    >>> print(multiply_no_nan([float("nan"), 2.0], [0.0, 4.0]))
    tf.Tensor([0. 8.], shape=(2,), dtype=float32)
    """
    return _or_zero(y, x, ag.multiply)


def reciprocal_no_nan(x: ag.TensorLike, name: str | None = None) -> Tensor:
    """``1 / x``, elementwise; 0 where ``x`` is 0.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> print(reciprocal_no_nan([0.0, 4.0]))
    tf.Tensor([0.   0.25], shape=(2,), dtype=float32)
    """
    y = ag.convert_to_tensor(x)
    safe = ag.where(ag.equal(y, 0), ag.ones_like(y), y)
    return ag.where(ag.equal(y, 0), ag.zeros_like(y), 1 / safe)


def _or_zero(x: ag.TensorLike, y: ag.TensorLike, function: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """A function of two tensors, with 0 where the first one is 0, so that no gradient there is NaN."""
    a = ag.convert_to_tensor(x)
    b = ag.convert_to_tensor(y, preferred_dtype=a.dtype)
    shape = broadcast_shapes("broadcast", a._shape, b._shape)
    a, b = ag.broadcast_to(a, shape), ag.broadcast_to(b, shape)
    nothing = ag.equal(a, 0)
    return ag.where(nothing, ag.zeros_like(a), function(a, ag.where(nothing, ag.ones_like(b), b)))
