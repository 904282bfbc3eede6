"""Gates: in-place activations, their derivatives, and masked states."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.masks import masked


def activate(xp: Any, activation: str, x: Array) -> None:
    """Apply an activation function in place."""
    if activation == "tanh":
        xp.tanh(x, out=x)
    elif activation == "sigmoid":  # a logistic function that never overflows
        x *= 0.5
        xp.tanh(x, out=x)
        x *= 0.5
        x += 0.5
    elif activation == "hard_sigmoid":
        x *= 0.2
        x += 0.5
        xp.clip(x, 0, 1, out=x)
    elif activation == "relu":
        xp.maximum(x, 0, out=x)


def multiply_by_slope(xp: Any, activation: str, y: Array, gradient: Array) -> None:
    """Multiply a gradient, in place, by the derivative of the activation function that has given ``y``."""
    if activation == "tanh":
        gradient *= 1 - y * y
    elif activation == "sigmoid":
        gradient *= y * (1 - y)
    elif activation == "hard_sigmoid":
        xp.multiply(masked(xp, gradient, (y > 0) & (y < 1)), 0.2, out=gradient)
    elif activation == "relu":
        gradient[...] = masked(xp, gradient, y > 0)


def hold(xp: Any, mask: Array, time: int, state: Array, before: Array) -> None:
    """Keep the earlier state, in place, where the mask is False; a mask without elements is True everywhere."""
    if mask.size:
        xp.copyto(state, before, where=~mask[time][:, None])


def split_held(xp: Any, mask: Array, time: int, gradient: Array) -> tuple[Array, Array | None]:
    """The gradient that reaches a new state, and that of the state which was held instead; None for zeros."""
    if not mask.size:
        return gradient, None
    counts, zero = mask[time][:, None], gradient.dtype.type(0)
    return xp.where(counts, gradient, zero), xp.where(counts, zero, gradient)
