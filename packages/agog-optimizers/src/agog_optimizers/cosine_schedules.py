"""Cosine schedules: cosine decay of the learning rate, and a linear warm-up."""

from __future__ import annotations

import math
from typing import Any

from agog_core import random_normal
from agog_optimizers.hyperparameters import Number, number
from agog_optimizers.schedules import Schedule, schedule

__all__ = ["cosine_decay", "cosine_decay_restarts", "linear_cosine_decay", "linear_warmup", "noisy_linear_cosine_decay"]


def cosine_decay(
    learning_rate: Number, global_step: Any, decay_steps: Number, alpha: Number = 0.0, name: str | None = None
) -> Schedule:
    """``learning_rate * ((1 - alpha) * (1 + cos(pi * global_step / decay_steps)) / 2 + alpha)``.

    I. Loshchilov and F. Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR 2017.

    Args:
        decay_steps: how many steps it takes; afterwards the rate stays.
        alpha: the share of the learning rate that is left.

    Other arguments: see `exponential_decay`.

    Returns:
        A function that returns the present rate.

    >>> cosine_decay(1.0, 2, 4)().numpy(), cosine_decay(1.0, 9, 4, alpha=0.25)().numpy()
    (np.float32(0.5), np.float32(0.25))
    """

    def decayed(rate: float, step: float) -> float:
        steps, left = number(decay_steps), number(alpha)
        return rate * ((1 - left) * _falling(min(step, steps) / steps) + left)

    return schedule("cosine_decay", learning_rate, global_step, decayed)


def cosine_decay_restarts(
    learning_rate: Number,
    global_step: Any,
    first_decay_steps: Number,
    t_mul: Number = 2.0,
    m_mul: Number = 1.0,
    alpha: Number = 0.0,
    name: str | None = None,
) -> Schedule:
    """Periods of `cosine_decay`, each of other length and height than the one before.

    I. Loshchilov and F. Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR 2017.

    Args:
        first_decay_steps: the length of the first period.
        t_mul: the length of a period over that of the one before, at least 1.
        m_mul: the rate at the beginning of a period over that of the one before.
        alpha: the share of the learning rate that is left at the end of a period.

    Other arguments: see `exponential_decay`.

    Returns:
        A function that returns the present rate. It raises ValueError if ``t_mul`` is less than 1.

    >>> [float(cosine_decay_restarts(1.0, step, 4, m_mul=0.5)()) for step in (0, 2, 4, 8, 12)]
    [1.0, 0.5, 0.5, 0.25, 0.25]
    """

    def decayed(rate: float, step: float) -> float:
        factor, left = number(t_mul), number(alpha)
        done = step / number(first_decay_steps)
        if factor < 1:
            raise ValueError(f"cosine_decay_restarts: t_mul must be at least 1; got {factor!r}.")
        period = math.floor(done) if factor == 1 else 0
        done -= period
        while done >= 1:
            done = (done - 1) / factor
            period += 1
        return rate * ((1 - left) * number(m_mul) ** period * _falling(done) + left)

    return schedule("cosine_decay_restarts", learning_rate, global_step, decayed)


def linear_cosine_decay(
    learning_rate: Number,
    global_step: Any,
    decay_steps: Number,
    num_periods: Number = 0.5,
    alpha: Number = 0.0,
    beta: Number = 0.001,
    name: str | None = None,
) -> Schedule:
    """``learning_rate * ((alpha + 1 - t) * (1 + cos(2 * pi * num_periods * t)) / 2 + beta)``, ``t = step /
    decay_steps``.

    I. Bello et al., "Neural optimizer search with reinforcement learning", ICML 2017.

    Args:
        decay_steps: how many steps it takes; afterwards the rate stays.
        num_periods: how often the cosine swings.
        alpha: what is added to the line.
        beta: what is added to the product.

    Other arguments: see `exponential_decay`.

    Returns:
        A function that returns the present rate.

    >>> linear_cosine_decay(1.0, 2, 4, beta=0.0)().numpy()
    np.float32(0.25)
    """

    def decayed(rate: float, step: float) -> float:
        steps = number(decay_steps)
        done = min(step, steps) / steps
        return rate * ((number(alpha) + 1 - done) * _falling(2 * number(num_periods) * done) + number(beta))

    return schedule("linear_cosine_decay", learning_rate, global_step, decayed)


def noisy_linear_cosine_decay(
    learning_rate: Number,
    global_step: Any,
    decay_steps: Number,
    initial_variance: Number = 1.0,
    variance_decay: Number = 0.55,
    num_periods: Number = 0.5,
    alpha: Number = 0.0,
    beta: Number = 0.001,
    name: str | None = None,
) -> Schedule:
    """`linear_cosine_decay` with normal noise on the line, of variance ``initial_variance / (1 + step) **
    variance_decay``.

    I. Bello et al., "Neural optimizer search with reinforcement learning", ICML 2017.

    Args:
        decay_steps: how many steps it takes; afterwards only the noise changes.
        initial_variance: the noise's variance at step 0.
        variance_decay: how fast the variance falls.
        num_periods: how often the cosine swings.
        alpha: what is added to the line.
        beta: what is added to the product.

    Other arguments: see `exponential_decay`.

    Returns:
        A function that returns the present rate.

    >>> noisy_linear_cosine_decay(1.0, 2, 4, initial_variance=0.0, beta=0.0)().numpy()
    np.float32(0.25)
    """

    def decayed(rate: float, step: float) -> float:
        steps = number(decay_steps)
        step = min(step, steps)
        done = step / steps
        deviation = math.sqrt(number(initial_variance) / (1 + step) ** number(variance_decay))
        line = 1 - done + deviation * float(random_normal([]))
        return rate * ((number(alpha) + line) * _falling(2 * number(num_periods) * done) + number(beta))

    return schedule("noisy_linear_cosine_decay", learning_rate, global_step, decayed)


def linear_warmup(learning_rate: Number, global_step: Any, warmup_steps: Number, name: str | None = None) -> Schedule:
    """From 0 to a learning rate in a straight line, and then that rate, which may follow a schedule of its own.

    P. Goyal et al., "Accurate, large minibatch SGD: training ImageNet in 1 hour", 2017, section 2.2. TensorFlow 1.12
    has no such function.

    Args:
        learning_rate: the rate: a number, a tensor or variable, or a function, such as one that `cosine_decay` returns.
        warmup_steps: how many steps it takes.

    Other arguments: see `exponential_decay`.

    Returns:
        A function that returns the present rate.

    >>> [float(linear_warmup(1.0, step, 4)()) for step in (0, 1, 4, 9)]
    [0.0, 0.25, 1.0, 1.0]
    """

    def warmed(rate: float, step: float) -> float:
        steps = number(warmup_steps)
        return rate * step / steps if step < steps else rate

    return schedule("linear_warmup", learning_rate, global_step, warmed)


def _falling(half_periods: float) -> float:
    """A cosine that falls from 1 to 0 in each odd half period, and rises in each even one."""
    return 0.5 * (1 + math.cos(math.pi * half_periods))
