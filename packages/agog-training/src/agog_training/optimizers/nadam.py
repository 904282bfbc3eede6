"""Nadam: Adam with Nesterov's momentum and Keras's schedule for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

from agog_core import Variable, device
from agog_core.ops.updates.adam import apply_nadam
from agog_core.tracers import late
from agog_optimizers import AdamOptimizer
from agog_optimizers.host_variables import host_variable
from agog_optimizers.hyperparameters import number, times
from agog_training.optimizers.keras_optimizer import KerasOptimizer

__all__ = ["Nadam"]


class Nadam(KerasOptimizer, AdamOptimizer, step_op=apply_nadam, step_unit="element"):
    """Adam with Nesterov's momentum, which grows by a schedule.

    At step ``t``, from 1: ``u(t) = beta_1 * (1 - 0.5 * 0.96 ** (t * schedule_decay))``, ``p(t) = u(1) * ... * u(t)``;
    ``m`` and ``v`` as for `Adam`; ``variable -= lr * direction / (sqrt(v / (1 - beta_2 ** t)) + epsilon)``, where the
    direction is ``u(t + 1) * m / (1 - p(t + 1)) + (1 - u(t)) * gradient / (1 - p(t))``. T. Dozat,
    "Incorporating Nesterov momentum into Adam", ICLR workshop 2016, algorithm 2. `NadamOptimizer` of ``tf.contrib.opt``
    has no schedule, and corrects both for ``m`` alone.

    Args:
        schedule_decay: how fast the momentum grows: 0.004 as in TensorFlow 1.12 and Keras 2; in Keras 3 it is 1.

    Other arguments: see `Adam` and `KerasOptimizer`.

    >>> v = Variable(5.0)
    >>> Nadam(lr=0.1).minimize(lambda: v * v)
    >>> print(f"{v:.4f}")
    4.8944
    """

    m_schedule: Variable

    def __init__(
        self,
        lr: Any = 0.002,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        schedule_decay: float = 0.004,
        **today: Any,
    ) -> None:
        small = 1e-7 if epsilon is None else epsilon
        super().__init__(lr, decay, clipnorm, clipvalue, beta_1, beta_2, small, name="Nadam", today=today)
        self.beta_1, self.beta_2, self.schedule_decay = beta_1, beta_2, schedule_decay

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """See `Configured.from_config`; a config of Keras 3, which has no ``schedule_decay``, means its schedule."""
        if "learning_rate" in config and "lr" not in config:
            config = {"schedule_decay": 1.0, **config}
        return super().from_config(config)

    def hyperparameters(self) -> dict[str, Any]:
        numbers = super(AdamOptimizer, self).hyperparameters()
        beta_1, step = numbers["beta1"], int(self.iterations) + 1
        correction = self.correction(beta_1, numbers["beta2"])
        numbers["learning_rate"] *= correction
        numbers["epsilon"] *= correction
        present, following = self._momentum(beta_1, step), self._momentum(beta_1, step + 1)
        product = float(self.m_schedule) * present
        mean, gradient = following / (1 - product * following), (1 - present) / (1 - product)
        return numbers | {"mean_share": mean, "gradient_share": gradient}

    def correction(self, beta1: float, beta2: float) -> float:
        """See `AdamOptimizer.correction`; that of the second moment alone."""
        if not self.non_slot_variables():
            self.m_schedule = host_variable(1.0, "float64", "m_schedule")
            self.beta2_power = host_variable(beta2, "float64", "beta2_power")
        return math.sqrt(1 - float(self.beta2_power))

    def finish(self) -> None:
        with device(None):  # as for Adam
            momentum = late(lambda: self._momentum(number(self.beta1), int(self.iterations) + 1))
            self.m_schedule.assign(times(self.m_schedule._current(), momentum))
            self.beta2_power.assign(times(self.beta2_power._current(), late(lambda: number(self.beta2))))

    def non_slot_variables(self) -> list[Variable]:
        """See `Optimizer.non_slot_variables`; both, in float64, exist from the first step on."""
        return [self.m_schedule, self.beta2_power] if "beta2_power" in vars(self) else []

    def _momentum(self, beta_1: float, step: int) -> float:
        """The momentum of a step."""
        decayed: float = 0.96 ** (step * self.schedule_decay)
        return beta_1 * (1 - 0.5 * decayed)
