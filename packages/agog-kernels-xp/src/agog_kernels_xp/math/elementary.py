"""Elementary: powers, and functions made of exponentials."""

from __future__ import annotations

from functools import partial
from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.deferral import check, deferring


def pow(xp: Any, x: Array, y: Array) -> Array:
    """Power."""
    if y.dtype.kind == "i" and (xp in deferring or bool(xp.any(y < 0))):
        check(xp, partial(_look_at_exponents, y.shape, y.dtype), xp.any(y < 0))
    return xp.power(x, y)


def _look_at_exponents(shape: tuple[int, ...], dtype: Any, is_any_negative: Any) -> None:
    if is_any_negative:
        raise InvalidArgumentError(
            f"pow: Integers to negative integer powers are not integers: y of shape {shape} and dtype {dtype} holds a "
            "negative one; cast x and y to a float dtype."
        )


def sigmoid(xp: Any, x: Array) -> Array:
    """Logistic function. Where the exponential of a real number overflows, its reciprocal is the limit, 0."""
    one = x.dtype.type(1)  # a Python 1 would widen bfloat16 before NumPy 2.2
    if x.dtype.kind != "c":
        return one / (one + xp.exp(-x))
    is_positive = x.real >= 0
    small = xp.exp(xp.where(is_positive, -x, x))
    return xp.where(is_positive, one, small) / (one + small)


def sigmoid_grad(xp: Any, gradients: Array, outputs: Array) -> Array:
    """Gradient of the logistic function."""
    return gradients * outputs * (outputs.dtype.type(1) - outputs)


def tanh_grad(xp: Any, gradients: Array, outputs: Array) -> Array:
    """Gradient of the hyperbolic tangent."""
    return gradients * (outputs.dtype.type(1) - outputs * outputs)


def softplus(xp: Any, features: Array) -> Array:
    """Smooth rectified linear unit; the exponential's argument is never positive, so it cannot overflow."""
    return xp.maximum(features, features.dtype.type(0)) + xp.log1p(xp.exp(-xp.absolute(features)))


def rsqrt(xp: Any, x: Array) -> Array:
    """One divided by the square root."""
    return x.dtype.type(1) / xp.sqrt(x)
