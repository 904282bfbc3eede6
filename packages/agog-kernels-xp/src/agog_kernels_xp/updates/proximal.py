"""Proximal: steps that pull variables towards 0, as in agog_core.ops.updates.proximal."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.pieces import pieces


def apply_proximal_gradient_descent(
    xp: Any, variable: Array, gradient: Array, *, learning_rate: float, l1: float, l2: float
) -> None:
    """Gradient descent with regularization."""
    for w, g, step in pieces(xp, (variable, gradient), 1):
        xp.multiply(g, learning_rate, out=step)
        w -= step
        if l1 > 0:
            xp.sign(w, out=step)
            xp.abs(w, out=w)
            w -= learning_rate * l1
            xp.maximum(w, 0, out=w)
            w *= step
        w /= 1 + learning_rate * l2


def apply_proximal_adagrad(
    xp: Any, variable: Array, accumulation: Array, gradient: Array, *, learning_rate: float, l1: float, l2: float
) -> None:
    """Adagrad with regularization."""
    for w, a, g, rate, step in pieces(xp, (variable, accumulation, gradient), 2):
        xp.multiply(g, g, out=step)
        a += step
        xp.sqrt(a, out=rate)
        xp.divide(learning_rate, rate, out=rate)
        xp.multiply(g, rate, out=step)
        w -= step
        if l1 > 0:
            xp.multiply(rate, l1, out=step)
            xp.subtract(xp.abs(w), step, out=step)
            xp.maximum(step, 0, out=step)
            xp.sign(w, out=w)
            w *= step
        rate *= l2
        rate += 1
        w /= rate


def apply_ftrl(
    xp: Any,
    variable: Array,
    accumulation: Array,
    linear: Array,
    gradient: Array,
    *,
    learning_rate: float,
    learning_rate_power: float,
    l1: float,
    l2: float,
    l2_shrinkage: float,
) -> None:
    """Follow the regularized leader."""
    for w, a, z, g, new, old in pieces(xp, (variable, accumulation, linear, gradient), 2):
        _power(xp, a, -learning_rate_power, old)
        xp.multiply(g, g, out=new)
        a += new
        _power(xp, a, -learning_rate_power, new)
        z += g
        if l2_shrinkage:
            z += w * (2 * l2_shrinkage)
        xp.subtract(new, old, out=old)
        old *= w
        old /= learning_rate
        z -= old
        new /= learning_rate
        new += 2 * l2
        # sign(z) * l1 - z is the negative of z clipped towards 0 by l1; where the clip reaches 0, so does the variable.
        xp.clip(z, -l1, l1, out=w)
        w -= z
        w /= new


def _power(xp: Any, x: Array, power: float, out: Array) -> None:
    if power == 0.5:
        xp.sqrt(x, out=out)
    else:
        xp.power(x, power, out=out)
