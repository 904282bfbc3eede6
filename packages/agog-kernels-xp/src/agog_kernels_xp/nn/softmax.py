"""Softmax, its logarithm, and their gradients."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.rows import exponentials, maximum, repeated_total, wide


def softmax(xp: Any, logits: Array, *, axis: int) -> Array:
    """Exponentials divided by their sum; the maximum is taken off first where anything could overflow."""
    x = wide(logits)
    values = exponentials(xp, x, axis)
    values /= repeated_total(xp, values, axis)
    return values if x is logits else values.astype(logits.dtype)


def softmax_grad(xp: Any, gradients: Array, softmax: Array, *, axis: int) -> Array:
    """Gradient of softmax."""
    probabilities = wide(softmax)
    values = wide(gradients) * probabilities
    means = repeated_total(xp, values, axis) * probabilities
    values -= means
    return values if probabilities is softmax else values.astype(softmax.dtype)


def log_softmax(xp: Any, logits: Array, *, axis: int) -> Array:
    """Logarithm of softmax."""
    x = wide(logits)
    values = x - maximum(xp, x, axis)
    values -= xp.log(repeated_total(xp, xp.exp(values), axis))
    return values if x is logits else values.astype(logits.dtype)


def log_softmax_grad(xp: Any, gradients: Array, log_softmax: Array, *, axis: int) -> Array:
    """Gradient of the logarithm of softmax."""
    g = wide(gradients)
    values = xp.exp(wide(log_softmax))
    values *= repeated_total(xp, g, axis)
    return xp.subtract(g, values, out=values).astype(log_softmax.dtype, copy=False)
