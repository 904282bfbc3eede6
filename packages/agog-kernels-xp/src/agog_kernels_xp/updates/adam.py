"""Adam: steps of optimizers along running means of gradients, as agog_core.ops.updates.adam states them."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.pieces import pieces, scalars


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
    use_nesterov: bool,
    weight_decay: float,
) -> None:
    """Adam, with Nesterov's momentum or without, and with weight decay or without."""
    rate, small, rest1, rest2 = scalars(xp, variable, learning_rate, epsilon, 1 - beta1, 1 - beta2)
    for w, m1, m2, g, t in pieces(xp, (variable, m, v, gradient), 1):
        _average(xp, g, m1, m2, t, rest1, rest2)
        if weight_decay:
            w *= 1 - weight_decay
        xp.sqrt(m2, t)
        t += small
        xp.divide(m1 * beta1 + g * rest1 if use_nesterov else m1, t, t)
        t *= rate
        w -= t


def apply_amsgrad(
    xp: Any,
    variable: Array,
    m: Array,
    v: Array,
    largest: Array,
    gradient: Array,
    *,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> None:
    """AMSGrad."""
    rest1, rest2 = scalars(xp, variable, 1 - beta1, 1 - beta2)
    for w, m1, m2, top, g, t in pieces(xp, (variable, m, v, largest, gradient), 1):
        _average(xp, g, m1, m2, t, rest1, rest2)
        xp.maximum(top, m2, out=top)
        xp.sqrt(top, out=t)
        t += epsilon
        xp.divide(m1, t, out=t)
        t *= learning_rate
        w -= t


def apply_adamax(
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
    """AdaMax."""
    for w, m1, top, g, t in pieces(xp, (variable, m, v, gradient), 1):
        xp.subtract(g, m1, out=t)
        t *= 1 - beta1
        m1 += t
        top *= beta2
        xp.abs(g, out=t)
        xp.maximum(top, t, out=top)
        xp.add(top, epsilon, out=t)
        xp.divide(m1, t, out=t)
        t *= learning_rate
        w -= t


def apply_nadam(
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
    mean_share: float,
    gradient_share: float,
) -> None:
    """Nadam."""
    rate, small, rest1, rest2 = scalars(xp, variable, learning_rate, epsilon, 1 - beta1, 1 - beta2)
    for w, m1, m2, g, t in pieces(xp, (variable, m, v, gradient), 1):
        _average(xp, g, m1, m2, t, rest1, rest2)
        xp.sqrt(m2, t)
        t += small
        xp.divide(m1 * mean_share + g * gradient_share, t, t)
        t *= rate
        w -= t


def apply_lamb(
    xp: Any,
    variable: Array,
    m: Array,
    v: Array,
    gradient: Array,
    *,
    learning_rate: float,
    correction: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
) -> None:
    """LAMB: the direction first, since its norm must be known for the step."""
    direction = xp.empty(variable.shape, "float32" if variable.dtype.itemsize == 2 else variable.dtype)
    rest1, rest2 = scalars(xp, variable, 1 - beta1, 1 - beta2)
    start, square, length = 0, 0.0, 0.0
    for w, m1, m2, g, t in pieces(xp, (variable, m, v, gradient), 1):
        _average(xp, g, m1, m2, t, rest1, rest2)
        xp.sqrt(m2, out=t)
        t += epsilon
        xp.divide(m1, t, out=t)
        t *= correction
        t += w * weight_decay
        direction.reshape(-1)[start : start + t.size] = t.reshape(-1)
        start += t.size
        square += xp.square(w, dtype="float64").sum()
        length += xp.square(t, dtype="float64").sum()
    direction *= _trust(xp, square, length, direction.dtype) * learning_rate
    variable -= direction.astype(variable.dtype, copy=False)


def _trust(xp: Any, square: Any, length: Any, dtype: Any) -> Any:
    """The norm of a variable over that of a direction, of which the squares are given; 1 where either is 0."""
    if isinstance(square, float):  # a host's number, as NumPy's are too; what a device has is not waited for
        return float(square / length) ** 0.5 if square > 0 and length > 0 else 1.0
    is_known = xp.logical_and(square > 0, length > 0)
    return xp.where(is_known, xp.sqrt(square / xp.where(is_known, length, 1.0)), 1.0).astype(dtype)


def apply_lion(
    xp: Any,
    variable: Array,
    m: Array,
    gradient: Array,
    *,
    learning_rate: float,
    beta1: float,
    beta2: float,
    weight_decay: float,
) -> None:
    """Lion."""
    for w, mean, g, t, step in pieces(xp, (variable, m, gradient), 2):
        xp.subtract(g, mean, out=t)
        xp.multiply(t, 1 - beta1, out=step)
        step += mean
        xp.sign(step, out=step)
        step *= learning_rate
        w *= 1 - learning_rate * weight_decay
        w -= step
        t *= 1 - beta2
        mean += t


def _average(xp: Any, g: Array, m: Array, v: Array, t: Array, rest1: Any, rest2: Any) -> None:
    """Move the running means of the gradients and of their squares by the given shares of their differences."""
    xp.subtract(g, m, t)
    t *= rest1
    m += t
    xp.multiply(g, g, t)
    t -= v
    t *= rest2
    v += t
