"""Steps of optimizers: they update their first arrays in place."""

from __future__ import annotations

import math
from typing import Any

Array = Any


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
    variable -= gradient * variable.dtype.type(learning_rate)


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
    """Momentum, as agog_core.ops.training states it."""
    rate, share = variable.dtype.type(learning_rate), variable.dtype.type(momentum)
    accumulation *= share
    accumulation += gradient
    if use_nesterov:
        variable -= (gradient + accumulation * share) * rate
    else:
        variable -= accumulation * rate


_CHUNK = 1 << 15  # elements at a time, so that the temporaries stay in the cache


def apply_adam(
    xp: Any,
    variable: Array,
    m: Array,
    v: Array,
    gradient: Array,
    *,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> None:
    """Adam, as agog_core.ops.training states it."""
    kind = variable.dtype.type
    rate, rest1, rest2, small = kind(learning_rate), kind(1 - beta1), kind(1 - beta2), kind(epsilon)
    flat = [array.reshape(-1) for array in (variable, m, v, gradient)]
    count = math.prod(variable.shape)
    step = xp.empty(min(count, _CHUNK), variable.dtype)
    for start in range(0, count, _CHUNK):
        w, m1, m2, g = (array[start : start + _CHUNK] for array in flat)
        t = step[: len(g)]
        xp.subtract(g, m1, out=t)
        t *= rest1
        m1 += t
        xp.multiply(g, g, out=t)
        t -= m2
        t *= rest2
        m2 += t
        xp.sqrt(m2, out=t)
        t += small
        xp.divide(m1, t, out=t)
        t *= rate
        w -= t
