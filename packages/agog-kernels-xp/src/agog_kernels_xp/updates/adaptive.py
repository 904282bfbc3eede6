"""Adaptive: steps scaled by squares of gradients, as in agog_core.ops.updates.adaptive."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.pieces import pieces


def apply_adadelta(
    xp: Any,
    variable: Array,
    accumulation: Array,
    accumulated_update: Array,
    gradient: Array,
    *,
    learning_rate: float,
    rho: float,
    epsilon: float,
) -> None:
    """Adadelta."""
    for w, a, u, g, step, square in pieces(xp, (variable, accumulation, accumulated_update, gradient), 2):
        xp.multiply(g, g, out=step)
        _average(step, a, rho)
        xp.add(u, epsilon, out=square)
        xp.add(a, epsilon, out=step)
        square /= step
        xp.sqrt(square, out=step)
        step *= g
        xp.multiply(step, step, out=square)
        _average(square, u, rho)
        step *= learning_rate
        w -= step


def apply_adagrad(xp: Any, variable: Array, accumulation: Array, gradient: Array, *, learning_rate: float) -> None:
    """Adagrad."""
    for w, a, g, step in pieces(xp, (variable, accumulation, gradient), 1):
        xp.multiply(g, g, out=step)
        a += step
        xp.sqrt(a, out=step)
        xp.divide(g, step, out=step)
        step *= learning_rate
        w -= step


def apply_adagrad_da(
    xp: Any,
    variable: Array,
    gradient_sum: Array,
    square_sum: Array,
    gradient: Array,
    *,
    learning_rate: float,
    l1: float,
    l2: float,
    step: int,
) -> None:
    """Adagrad with dual averaging."""
    for w, total, squares, g, divisor in pieces(xp, (variable, gradient_sum, square_sum, gradient), 1):
        total += g
        xp.multiply(g, g, out=divisor)
        squares += divisor
        if l1 > 0:
            xp.abs(total, out=w)
            w -= l1 * step
            xp.maximum(w, 0, out=w)
            xp.sign(total, out=divisor)
            w *= divisor
            w *= -learning_rate
        else:
            xp.multiply(total, -learning_rate, out=w)
        xp.sqrt(squares, out=divisor)
        divisor += l2 * step * learning_rate
        w /= divisor


def apply_rmsprop(
    xp: Any,
    variable: Array,
    mean_square: Array,
    accumulation: Array,
    gradient: Array,
    *,
    learning_rate: float,
    decay: float,
    momentum: float,
    epsilon: float,
) -> None:
    """RMSProp."""
    for w, q, a, g, step in pieces(xp, (variable, mean_square, accumulation, gradient), 1):
        xp.multiply(g, g, out=step)
        _average(step, q, decay)
        xp.add(q, epsilon, out=step)
        _accumulate(xp, w, a, g, step, learning_rate, momentum)


def apply_centered_rmsprop(
    xp: Any,
    variable: Array,
    mean_square: Array,
    mean: Array,
    accumulation: Array,
    gradient: Array,
    *,
    learning_rate: float,
    decay: float,
    momentum: float,
    epsilon: float,
) -> None:
    """RMSProp that divides by an estimate of the variance."""
    for w, q, m, a, g, step in pieces(xp, (variable, mean_square, mean, accumulation, gradient), 1):
        xp.multiply(g, g, out=step)
        _average(step, q, decay)
        xp.subtract(g, m, out=step)
        step *= 1 - decay
        m += step
        xp.multiply(m, m, out=step)
        xp.subtract(q, step, out=step)
        step += epsilon
        _accumulate(xp, w, a, g, step, learning_rate, momentum)


def _average(new: Array, mean: Array, decay: float) -> None:
    """Move a running mean; the new value is used up."""
    new -= mean
    new *= 1 - decay
    mean += new


def _accumulate(xp: Any, w: Array, a: Array, g: Array, step: Array, learning_rate: float, momentum: float) -> None:
    """The end of RMSProp; ``step`` has the square of the divisor."""
    xp.sqrt(step, out=step)
    xp.divide(g, step, out=step)
    step *= learning_rate
    if momentum:
        a *= momentum
        a += step
    else:
        a[...] = step
    w -= a
