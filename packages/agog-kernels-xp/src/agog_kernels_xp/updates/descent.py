"""Descent: plain steps of optimizers, as agog_core.ops.updates.descent states them."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.pieces import pieces, scalar, scalars


def apply_add(xp: Any, variable: Array, delta: Array, *, scale: float) -> None:
    """variable += scale * delta."""
    if scale == 1:
        xp.add(variable, delta, out=variable)
    elif scale == -1:
        xp.subtract(variable, delta, out=variable)
    else:
        variable += delta * variable.dtype.type(scale)


def apply_gradient_descent(xp: Any, variable: Array, gradient: Array, *, learning_rate: float) -> None:
    """variable -= learning_rate * gradient."""
    variable -= gradient * scalar(xp, variable, learning_rate)


def apply_momentum(
    xp: Any,
    variable: Array,
    accumulation: Array,
    gradient: Array,
    *,
    learning_rate: float,
    momentum: float,
    use_nesterov: bool,
) -> None:
    """Momentum, as agog_core.ops.updates.descent states it."""
    rate, share = scalars(xp, variable, learning_rate, momentum)
    for w, a, g, step in pieces(xp, (variable, accumulation, gradient), 1):
        a *= share
        a += g
        if use_nesterov:
            xp.multiply(a, share, step)
            step += g
            step *= rate
        else:
            xp.multiply(a, rate, step)
        w -= step


def apply_keras_momentum(
    xp: Any,
    variable: Array,
    velocity: Array,
    gradient: Array,
    *,
    learning_rate: float,
    momentum: float,
    use_nesterov: bool,
) -> None:
    """Momentum as Keras has it, as agog_core.ops.updates.descent states it."""
    rate, share = scalars(xp, variable, learning_rate, momentum)
    for w, v, g, step in pieces(xp, (variable, velocity, gradient), 1):
        xp.multiply(g, rate, step)
        v *= share
        v -= step
        if use_nesterov:
            w -= step
            xp.multiply(v, share, step)
            w += step
        else:
            w += v
