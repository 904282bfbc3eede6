"""Activations and their gradients."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.masks import masked
from agog_kernels_xp.parts.rows import wide

_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA = 1.7580993408473768599402175208123


def relu(xp: Any, features: Array) -> Array:
    """Rectified linear unit."""
    return xp.maximum(features, features.dtype.type(0))  # a Python 0 would widen bfloat16 before NumPy 2.2


def relu_grad(xp: Any, gradients: Array, features: Array) -> Array:
    """Its gradient."""
    return masked(xp, gradients, features > 0)


def relu6(xp: Any, features: Array) -> Array:
    """Rectified linear unit, cut off at 6."""
    kind = features.dtype.type
    return xp.minimum(xp.maximum(features, kind(0)), kind(6))


def relu6_grad(xp: Any, gradients: Array, features: Array) -> Array:
    """Its gradient."""
    return masked(xp, gradients, (features > 0) & (features < 6))


def elu(xp: Any, features: Array) -> Array:
    """Exponential linear unit."""
    x = wide(features)
    return xp.where(x < 0, xp.expm1(x), x).astype(features.dtype, copy=False)


def elu_grad(xp: Any, gradients: Array, outputs: Array) -> Array:
    """Its gradient."""
    g, out = wide(gradients), wide(outputs)
    return xp.multiply(g, xp.where(out < 0, out + 1, out.dtype.type(1))).astype(outputs.dtype, copy=False)


def selu(xp: Any, features: Array) -> Array:
    """Scaled exponential linear unit."""
    x = wide(features)
    return xp.where(x < 0, _SELU_SCALE_ALPHA * xp.expm1(x), _SELU_SCALE * x).astype(features.dtype, copy=False)


def selu_grad(xp: Any, gradients: Array, outputs: Array) -> Array:
    """Its gradient."""
    g, out = wide(gradients), wide(outputs)
    slope = xp.where(out < 0, out + _SELU_SCALE_ALPHA, out.dtype.type(_SELU_SCALE))
    return xp.multiply(g, slope).astype(outputs.dtype, copy=False)


def leaky_relu(xp: Any, features: Array, *, alpha: float) -> Array:
    """Rectified linear unit with a slope below 0."""
    return xp.maximum(features * features.dtype.type(alpha), features)


def leaky_relu_grad(xp: Any, gradients: Array, features: Array, *, alpha: float) -> Array:
    """Its gradient."""
    if alpha == 0:
        return masked(xp, gradients, features > 0)
    kind = features.dtype.type
    return xp.multiply(gradients, xp.where(features > 0, kind(max(alpha, 1)), kind(min(alpha, 1))))


def softsign(xp: Any, features: Array) -> Array:
    """Quotient of a number and one more than its size."""
    x = wide(features)
    return (x / (xp.absolute(x) + 1)).astype(features.dtype, copy=False)


def swish(xp: Any, features: Array) -> Array:
    """Product of a number and its sigmoid."""
    x = wide(features)
    small = xp.exp(-xp.absolute(x))
    return (x * xp.where(x >= 0, x.dtype.type(1), small) / (small + 1)).astype(features.dtype, copy=False)
