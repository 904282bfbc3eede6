"""AdamOptimizer: steps by running means of the gradients and of their squares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from agog_core import Tensor, Variable, zeros_like
from agog_core.ops.updates.adam import apply_adam
from agog_core.tracers import late
from agog_optimizers.host_variables import host_variable, scale
from agog_optimizers.hyperparameters import Number, number
from agog_optimizers.optimizer import Optimizer

__all__ = ["AdamOptimizer"]


class AdamOptimizer(Optimizer, step_op=apply_adam, step_unit="element"):
    """Steps of about the same size for all elements, by running means of the gradients and of their squares.

    At step ``t``: ``m = beta1 * m + (1 - beta1) * gradient``, ``v = beta2 * v + (1 - beta2) * gradient ** 2``,
    ``variable -= learning_rate * sqrt(1 - beta2 ** t) / (1 - beta1 ** t) * m / (sqrt(v) + epsilon)``: the formulation
    before section 2.1 of D. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015, where epsilon
    is "epsilon hat", as in TensorFlow 1.12. The gradient of a lookup counts as 0 in the other rows, which move too.

    Args:
        learning_rate: the step size: a number, a tensor or variable, or a function that returns one.
        beta1: the decay of the first moment, in the same form.
        beta2: the decay of the second moment, in the same form.
        epsilon: what keeps the quotient finite, in the same form.
        name: the optimizer's name.

    >>> v = Variable(5.0)
    >>> optimizer = AdamOptimizer(0.1)
    >>> optimizer.minimize(lambda: v * v)
    >>> print(f"{v:.3f}", optimizer.get_slot_names())
    4.900 ['m', 'v']
    """

    beta1: Number
    beta2: Number
    epsilon: Number
    beta1_power: Variable
    beta2_power: Variable

    def __init__(
        self,
        learning_rate: Number = 0.001,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(learning_rate, name)
        self.keep(beta1=beta1, beta2=beta2, epsilon=epsilon)

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        return {"m": zeros_like(variable), "v": zeros_like(variable)}

    def prepare(self, variables: Iterable[Variable]) -> None:
        super().prepare(variables)
        late(self._get_beta_accumulators)

    def hyperparameters(self) -> dict[str, Any]:
        numbers = super().hyperparameters()
        numbers["learning_rate"] *= self.correction(numbers["beta1"], numbers["beta2"])
        return numbers

    def _get_beta_accumulators(self) -> Any:
        """The powers of the betas, by the name that derived optimizers call."""
        self.correction(number(self.beta1), number(self.beta2))
        return self.beta1_power, self.beta2_power

    def correction(self, beta1: float, beta2: float) -> float:
        """The correction of the step size for the moments' start at 0.

        Args:
            beta1: the decay of the first moment.
            beta2: the decay of the second moment.

        Returns:
            ``sqrt(1 - beta2 ** t) / (1 - beta1 ** t)`` at step ``t``.
        """
        if not self.non_slot_variables():
            self.beta1_power = host_variable(beta1, "float64", "beta1_power")
            self.beta2_power = host_variable(beta2, "float64", "beta2_power")
        return math.sqrt(1 - float(self.beta2_power)) / (1 - float(self.beta1_power))

    def values_after_steps(self, steps: int) -> dict[str, float]:
        """See `Checkpointable.values_after_steps`."""
        betas = {"beta1_power": number(self.beta1), "beta2_power": number(self.beta2)}
        self.correction(*betas.values())
        return {name: beta ** (steps + 1) for name, beta in betas.items() if name in vars(self)}

    def finish(self) -> None:
        scale(self.beta1_power, late(lambda: number(self.beta1)))
        scale(self.beta2_power, late(lambda: number(self.beta2)))

    def non_slot_variables(self) -> list[Variable]:
        """See `Optimizer.non_slot_variables`; the powers of the betas, in float64, exist from the first step on."""
        return [self.beta1_power, self.beta2_power] if "beta2_power" in vars(self) else []
