"""Quotients: quotients, products and logarithms that are 0 where a factor is 0."""

from __future__ import annotations

from collections.abc import Callable

from agog_core.calls.broadcasting import broadcast_to
from agog_core.calls.docstrings import documented_like
from agog_core.ops.array.creation import ones_like, zeros_like
from agog_core.ops.math.arithmetic import multiply
from agog_core.ops.math.elementary import log, log1p
from agog_core.ops.math.logic import equal, where
from agog_core.shapes import broadcast_shapes
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["multiply_no_nan", "reciprocal_no_nan", "xdivy", "xlog1py", "xlogy"]


def xlogy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """``x * log(y)``, elementwise; 0 where ``x`` is 0.

    Args:
        x: a tensor of floats.
        y: a tensor of the same dtype, whose shape broadcasts with it.

    Returns:
        A tensor of the broadcast shape.

    >>> print(xlogy([0.0, 2.0], [0.0, 1.0]))
    tf.Tensor([0. 0.], shape=(2,), dtype=float32)
    """
    return _or_zero(x, y, lambda a, b: a * log(b))


@documented_like(xlogy)
def xlog1py(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """``x * log(1 + y)``, elementwise; 0 where ``x`` is 0.

    >>> print(xlog1py([0.0, 2.0], [-1.0, 0.0]))
    tf.Tensor([0. 0.], shape=(2,), dtype=float32)
    """
    return _or_zero(x, y, lambda a, b: a * log1p(b))


@documented_like(xlogy)
def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """``x / y``, elementwise; 0 where ``x`` is 0.

    >>> print(xdivy([0.0, 2.0], [0.0, 4.0]))
    tf.Tensor([0.  0.5], shape=(2,), dtype=float32)
    """
    return _or_zero(x, y, lambda a, b: a / b)


@documented_like(xlogy)
def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """``x * y``, elementwise; 0 where ``y`` is 0, even if ``x`` is infinite or no number.

    >>> print(multiply_no_nan([float("nan"), 2.0], [0.0, 4.0]))
    tf.Tensor([0. 8.], shape=(2,), dtype=float32)
    """
    return _or_zero(y, x, multiply)


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """``1 / x``, elementwise; 0 where ``x`` is 0.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> print(reciprocal_no_nan([0.0, 4.0]))
    tf.Tensor([0.   0.25], shape=(2,), dtype=float32)
    """
    y = convert_to_tensor(x)
    safe = where(equal(y, 0), ones_like(y), y)
    return where(equal(y, 0), zeros_like(y), 1 / safe)


def _or_zero(x: TensorLike, y: TensorLike, function: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """A function of two tensors, with 0 where the first one is 0, so that no gradient there is NaN."""
    a = convert_to_tensor(x)
    b = convert_to_tensor(y, preferred_dtype=a.dtype)
    shape = broadcast_shapes("broadcast", a._shape, b._shape)
    a, b = broadcast_to(a, shape), broadcast_to(b, shape)
    nothing = equal(a, 0)
    return where(nothing, zeros_like(a), function(a, where(nothing, ones_like(b), b)))
