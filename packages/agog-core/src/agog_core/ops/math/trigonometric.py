"""Trigonometric: functions of angles, hyperbolic ones and inverses, elementwise; sin, cos, tanh are in `elementary`."""

from __future__ import annotations

from agog_core.calls.elementwise import binary, unary
from agog_core.dtypes import DIFFERENTIABLE, FLOATING
from agog_core.ops.array import imag, real, zeros_like
from agog_core.ops.math.elementary import rsqrt, square
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["acos", "acosh", "angle", "asin", "asinh", "atan", "atan2", "atanh", "cosh", "sinh", "tan"]


@unary(lambda g, out: g * (square(out) + 1), dtypes=DIFFERENTIABLE)
def tan(x: TensorLike, name: str | None = None) -> Tensor:
    """The tangent, elementwise.

    Args:
        x: a tensor of floats or complex numbers, in radians.

    Returns:
        The tangent.

    >>> print(tan([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: g * rsqrt(1 - square(x)), dtypes=DIFFERENTIABLE)
def asin(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of the sine, elementwise.

    Returns:
        The angle, in [-pi/2, pi/2] for floats; NaN where a float is outside of [-1, 1].

    >>> print(asin([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: -(g * rsqrt(1 - square(x))), dtypes=DIFFERENTIABLE)
def acos(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of the cosine, elementwise.

    Returns:
        The angle, in [0, pi] for floats; NaN where a float is outside of [-1, 1].

    >>> print(acos([1.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: g / (square(x) + 1), dtypes=DIFFERENTIABLE)
def atan(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of the tangent, elementwise.

    Returns:
        The angle, in [-pi/2, pi/2] for floats.

    >>> print(atan([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: g * cosh(x), dtypes=DIFFERENTIABLE)
def sinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic sine, elementwise.

    Returns:
        ``(e ** x - e ** -x) / 2``.

    >>> print(sinh([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: g * sinh(x), dtypes=DIFFERENTIABLE)
def cosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic cosine, elementwise.

    Returns:
        ``(e ** x + e ** -x) / 2``.

    >>> print(cosh([0.0]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """


@unary(lambda g, out: g / cosh(out), dtypes=DIFFERENTIABLE)
def asinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of the hyperbolic sine, elementwise.

    Returns:
        The number whose hyperbolic sine is ``x``.

    >>> print(asinh([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, out: g / sinh(out), dtypes=DIFFERENTIABLE)
def acosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of the hyperbolic cosine, elementwise.

    Returns:
        The number that is not negative and whose hyperbolic cosine is ``x``; NaN where a float is less than 1.

    >>> print(acosh([1.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: g / (1 - square(x)), dtypes=DIFFERENTIABLE)
def atanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of the hyperbolic tangent, elementwise.

    Returns:
        The number whose hyperbolic tangent is ``x``; NaN where a float is outside of [-1, 1], infinite at its ends.

    >>> print(atanh([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@binary(
    x=lambda g, y, x: g * (x / (square(x) + square(y))),
    y=lambda g, y, x: -(g * (y / (square(x) + square(y)))),
    dtypes=FLOATING,
)
def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The angle of a point in the plane, elementwise.

    Args:
        y: the points' second coordinates, a tensor of floats.
        x: their first coordinates, a tensor of the same dtype whose shape broadcasts with ``y``'s.

    Returns:
        The angle from the first axis, in [-pi, pi], of the broadcast shape.

    >>> print(atan2([0.0, 0.0], 1.0))
    tf.Tensor([0. 0.], shape=(2,), dtype=float32)
    """


def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """The angle of complex numbers in the plane, elementwise.

    Args:
        input: a tensor of numbers.

    Returns:
        ``atan2(imag, real)``, in [-pi, pi], of float32 for complex64 and float64 for complex128; zeros for a tensor of
        real numbers.

    >>> print(angle([1.0, 1.0j]))
    tf.Tensor([0.         1.57079633], shape=(2,), dtype=float64)
    """
    x = convert_to_tensor(input)
    return atan2(imag(x), real(x)) if x.dtype.is_complex else zeros_like(x)
