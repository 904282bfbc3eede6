"""Schedules: learning rates as functions of the global step.

As in eager TensorFlow 1.12, each returns a function without arguments that computes the present learning rate:
optimizers call it at each step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from agog_core import Tensor, TensorLike, constant, convert_to_tensor
from agog_core.tensors.convert import at_each_run
from agog_optimizers.hyperparameters import Number, number

__all__ = ["exponential_decay", "inverse_time_decay", "natural_exp_decay", "piecewise_constant", "polynomial_decay"]

Schedule = Callable[[], Tensor]


def exponential_decay(
    learning_rate: Number,
    global_step: Any,
    decay_steps: Number,
    decay_rate: Number,
    staircase: bool = False,
    name: str | None = None,
) -> Schedule:
    """``learning_rate * decay_rate ** (global_step / decay_steps)``.

    Args:
        learning_rate: the rate at step 0: a number, a tensor or variable, or a function that returns one.
        global_step: the variable that counts the steps, or a number or function.
        decay_steps: after how many steps the rate has been multiplied by ``decay_rate``.
        decay_rate: the factor.
        staircase: whether the quotient of steps is rounded down.

    Returns:
        A function that returns the present rate, of the learning rate's dtype.

    Raises:
        ValueError: the global step is None.

    >>> from agog_core import Variable
    >>> step = Variable(3)
    >>> rate = exponential_decay(8.0, step, 2, 0.25)
    >>> rate().numpy(), exponential_decay(8.0, step, 2, 0.25, staircase=True)().numpy()
    (np.float32(1.0), np.float32(2.0))
    """

    def decayed(rate: float, step: float) -> float:
        return rate * math.pow(number(decay_rate), _quotient(step, decay_steps, staircase))

    return schedule("exponential_decay", learning_rate, global_step, decayed)


def natural_exp_decay(
    learning_rate: Number,
    global_step: Any,
    decay_steps: Number,
    decay_rate: Number,
    staircase: bool = False,
    name: str | None = None,
) -> Schedule:
    """``learning_rate * exp(-decay_rate * global_step / decay_steps)``.

    Args:
        decay_steps: how many steps count as one.
        decay_rate: how fast the rate falls.

    Other arguments: see `exponential_decay`.

    Returns:
        A function that returns the present rate.

    >>> print(f"{natural_exp_decay(1.0, 4, 2, 0.5)():.4f}")
    0.3679
    """

    def decayed(rate: float, step: float) -> float:
        return rate * math.exp(-number(decay_rate) * _quotient(step, decay_steps, staircase))

    return schedule("natural_exp_decay", learning_rate, global_step, decayed)


def inverse_time_decay(
    learning_rate: Number,
    global_step: Any,
    decay_steps: Number,
    decay_rate: Number,
    staircase: bool = False,
    name: str | None = None,
) -> Schedule:
    """``learning_rate / (1 + decay_rate * global_step / decay_steps)``.

    Args:
        decay_steps: how many steps count as one.
        decay_rate: how fast the rate falls.

    Other arguments: see `exponential_decay`.

    Returns:
        A function that returns the present rate.

    >>> inverse_time_decay(1.0, 4, 2, 0.5)().numpy()
    np.float32(0.5)
    """

    def decayed(rate: float, step: float) -> float:
        return rate / (1 + number(decay_rate) * _quotient(step, decay_steps, staircase))

    return schedule("inverse_time_decay", learning_rate, global_step, decayed)


def polynomial_decay(
    learning_rate: Number,
    global_step: Any,
    decay_steps: Number,
    end_learning_rate: Number = 0.0001,
    power: Number = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Schedule:
    """From one rate to another: ``(learning_rate - end) * (1 - global_step / decay_steps) ** power + end``.

    Args:
        decay_steps: how many steps it takes; afterwards the rate stays, or rises again.
        end_learning_rate: the rate at the end.
        power: 1 for a straight line.
        cycle: whether, once the end is reached, ``decay_steps`` is doubled, then tripled, and so on.

    Other arguments: see `exponential_decay`.

    Returns:
        A function that returns the present rate.

    >>> polynomial_decay(1.0, 3, 4, 0.0)().numpy(), polynomial_decay(1.0, 6, 4, 0.0, cycle=True)().numpy()
    (np.float32(0.25), np.float32(0.25))
    """

    def decayed(rate: float, step: float) -> float:
        steps, end = number(decay_steps), number(end_learning_rate)
        if cycle:
            steps *= max(1, math.ceil(step / steps))
        return (rate - end) * math.pow(1 - min(step, steps) / steps, number(power)) + end

    return schedule("polynomial_decay", learning_rate, global_step, decayed)


def piecewise_constant(
    x: Any, boundaries: Sequence[Any], values: Sequence[TensorLike], name: str | None = None
) -> Schedule:
    """One rate up to the first boundary and at it, another up to the second, and so on.

    Args:
        x: the variable that counts the steps, or a number or function.
        boundaries: numbers that increase, of the dtype of ``x``.
        values: the rates, one more than there are boundaries; all of one dtype.

    Returns:
        A function that returns the present rate.

    Raises:
        ValueError: the step is None, dtypes differ, or there are not as many values as it takes.

    >>> from agog_core import Variable
    >>> step = Variable(2)
    >>> rate = piecewise_constant(step, [2, 4], [1.0, 0.5, 0.25])
    >>> first = rate().numpy()
    >>> step.assign_add(1)
    <tf.Variable 'Variable:0' shape=() dtype=int32, numpy=3>
    >>> first, rate().numpy()
    (np.float32(1.0), np.float32(0.5))
    """
    _check_step("piecewise_constant", x)
    if len(values) != len(boundaries) + 1:
        raise ValueError(
            f"piecewise_constant: {len(boundaries)} boundaries need {len(boundaries) + 1} values; got {len(values)}."
        )
    rates = [convert_to_tensor(value) for value in values]
    for rate in rates:
        if rate.dtype is not rates[0].dtype:
            raise ValueError(
                f"piecewise_constant: all values must be of one dtype; got {rates[0].dtype.name} and {rate.dtype.name}."
            )
    limits = [convert_to_tensor(boundary) for boundary in boundaries]
    if not callable(x):
        kind = convert_to_tensor(x).dtype
        for limit in limits:
            if limit.dtype is not kind and not (kind.name == "int64" and limit.dtype.name == "int32"):
                raise ValueError(
                    f"piecewise_constant: boundaries must have the dtype of x, {kind.name}; got {limit.dtype.name}."
                )

    def present() -> Tensor:
        return at_each_run(rate_at, x)

    def rate_at(x: Any) -> Tensor:
        step = number(x)
        return rates[sum(step > float(limit) for limit in limits)]

    return present


def schedule(kind: str, learning_rate: Number, global_step: Any, decayed: Callable[[float, float], float]) -> Schedule:
    """A function that returns the present rate, of the learning rate's dtype: ``decayed(rate, step)`` computes it.

    >>> schedule("halved", 1.0, 3, lambda rate, step: rate / 2)().numpy()
    np.float32(0.5)
    """
    _check_step(kind, global_step)

    def present() -> Tensor:
        return at_each_run(rate_at, global_step)

    def rate_at(global_step: Any) -> Tensor:
        rate = learning_rate() if callable(learning_rate) else learning_rate
        value = decayed(float(rate), number(global_step))
        return constant(value, getattr(rate, "dtype", "float32"))

    return present


def _check_step(kind: str, global_step: Any) -> None:
    if global_step is None:
        raise ValueError(f"{kind}: global_step is required; pass the variable that counts the steps.")


def _quotient(step: float, decay_steps: Number, staircase: bool) -> float:
    quotient = step / number(decay_steps)
    return math.floor(quotient) if staircase else quotient
