"""Schedules: learning rates as functions of the step, with Keras's names and arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import agog_optimizers as formulas
from agog_core import Tensor, constant
from agog_core.tensors.convert import at_each_run
from agog_layers.serialization.description import Configured
from agog_optimizers.hyperparameters import number

__all__ = [
    "CosineDecay",
    "CosineDecayRestarts",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LearningRateSchedule",
    "PiecewiseConstantDecay",
    "PolynomialDecay",
]


class LearningRateSchedule(Configured):
    """Base of schedules: derived classes compute the rate of a step when they are called on its number.

    >>> class Halved(LearningRateSchedule):
    ...     def __call__(self, step):
    ...         return 0.5 / (1 + float(step))
    >>> Halved()(1)
    0.25
    """

    described_kind: ClassVar[str] = "schedule"

    def __call__(self, step: Any) -> Any:
        """Compute the learning rate of a step, whose number counts from 0."""
        raise NotImplementedError(f"{type(self).__name__}.__call__ is not implemented; it computes the learning rate.")


class ExponentialDecay(LearningRateSchedule):
    """``initial_learning_rate * decay_rate ** (step / decay_steps)``.

    Args:
        initial_learning_rate: the rate of step 0.
        decay_steps: after how many steps the rate has been multiplied by ``decay_rate``.
        decay_rate: the factor.
        staircase: whether the quotient of steps is rounded down.

    >>> ExponentialDecay(8.0, 2, 0.25)(3).numpy()
    np.float32(1.0)
    """

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.decay_rate, self.staircase, self.name = decay_rate, staircase, name

    def __call__(self, step: Any) -> Tensor:
        rate, steps, factor = self.initial_learning_rate, self.decay_steps, self.decay_rate
        return formulas.exponential_decay(rate, step, steps, factor, self.staircase)()


class InverseTimeDecay(ExponentialDecay):
    """``initial_learning_rate / (1 + decay_rate * step / decay_steps)``. Arguments: see `ExponentialDecay`.

    >>> InverseTimeDecay(1.0, 2, 0.5)(4).numpy()
    np.float32(0.5)
    """

    def __call__(self, step: Any) -> Tensor:
        rate, steps, factor = self.initial_learning_rate, self.decay_steps, self.decay_rate
        return formulas.inverse_time_decay(rate, step, steps, factor, self.staircase)()


class PolynomialDecay(LearningRateSchedule):
    """From one rate to another: ``(initial - end) * (1 - step / decay_steps) ** power + end``.

    Args:
        initial_learning_rate: the rate of step 0.
        decay_steps: how many steps it takes.
        end_learning_rate: the rate at the end.
        power: 1 for a straight line.
        cycle: whether, once the end is reached, ``decay_steps`` is doubled, then tripled, and so on.

    >>> PolynomialDecay(1.0, 4, 0.0)(3).numpy()
    np.float32(0.25)
    """

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        end_learning_rate: Any = 0.0001,
        power: Any = 1.0,
        cycle: bool = False,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.end_learning_rate, self.power, self.cycle, self.name = end_learning_rate, power, cycle, name

    def __call__(self, step: Any) -> Tensor:
        rate, steps = self.initial_learning_rate, self.decay_steps
        return formulas.polynomial_decay(rate, step, steps, self.end_learning_rate, self.power, self.cycle)()


class CosineDecay(LearningRateSchedule):
    """A cosine from one rate down to a share of it, after a straight line up to it where ``warmup_target`` is given.

    I. Loshchilov and F. Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR 2017.

    Args:
        initial_learning_rate: the rate of step 0.
        decay_steps: how many steps the cosine takes.
        alpha: the share that remains.
        warmup_target: the rate that the line ends at and the cosine begins at; None for no line.
        warmup_steps: how many steps the line takes.

    >>> schedule = CosineDecay(0.0, 10, warmup_target=1.0, warmup_steps=4)
    >>> [round(float(schedule(step)), 3) for step in (0, 2, 4, 9, 14)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        alpha: Any = 0.0,
        name: str | None = None,
        warmup_target: Any = None,
        warmup_steps: Any = 0,
    ) -> None:
        self.initial_learning_rate, self.decay_steps, self.alpha = initial_learning_rate, decay_steps, alpha
        self.name, self.warmup_target, self.warmup_steps = name, warmup_target, warmup_steps

    def __call__(self, step: Any) -> Tensor:
        return at_each_run(self._at, step)

    def _at(self, step: Any) -> Tensor:
        if self.warmup_target is None:
            return formulas.cosine_decay(self.initial_learning_rate, step, self.decay_steps, self.alpha)()
        first, top, line = number(self.initial_learning_rate), number(self.warmup_target), number(self.warmup_steps)
        done = number(step)
        if done < line:
            return constant(first + (top - first) * done / line, "float32")
        return formulas.cosine_decay(top, done - line, self.decay_steps, self.alpha)()


class CosineDecayRestarts(LearningRateSchedule):
    """Cosines from a rate down to a share of it, each longer than the one before, and from a lower rate.

    I. Loshchilov and F. Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR 2017.

    Args:
        initial_learning_rate: the rate of step 0.
        first_decay_steps: how many steps the first cosine takes.
        t_mul: how many times as long the next one is.
        m_mul: what the next one's first rate is multiplied by.
        alpha: the share that remains at the end of a cosine.

    >>> [float(CosineDecayRestarts(1.0, 2, m_mul=0.5)(step)) for step in (0, 1, 2)]
    [1.0, 0.5, 0.5]
    """

    def __init__(
        self,
        initial_learning_rate: Any,
        first_decay_steps: Any,
        t_mul: Any = 2.0,
        m_mul: Any = 1.0,
        alpha: Any = 0.0,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate, self.first_decay_steps = initial_learning_rate, first_decay_steps
        self.t_mul, self.m_mul, self.alpha, self.name = t_mul, m_mul, alpha, name

    def __call__(self, step: Any) -> Tensor:
        rate, steps = self.initial_learning_rate, self.first_decay_steps
        return formulas.cosine_decay_restarts(rate, step, steps, self.t_mul, self.m_mul, self.alpha)()


class PiecewiseConstantDecay(LearningRateSchedule):
    """One rate up to the first boundary and at it, another up to the second, and so on.

    Args:
        boundaries: numbers of steps, which increase.
        values: the rates, one more than there are boundaries.

    >>> [float(PiecewiseConstantDecay([2, 4], [1.0, 0.5, 0.25])(step)) for step in (2, 3, 5)]
    [1.0, 0.5, 0.25]
    """

    def __init__(self, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None) -> None:
        if len(values) != len(boundaries) + 1:
            raise ValueError(
                f"PiecewiseConstantDecay: {len(boundaries)} boundaries need {len(boundaries) + 1} values; got "
                f"{len(values)}."
            )
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step: Any) -> Tensor:
        return at_each_run(self._at, step)

    def _at(self, step: Any) -> Tensor:
        return formulas.piecewise_constant(lambda: number(step), self.boundaries, self.values)()
