"""AdaMaxOptimizer: Adam by the largest of the decayed gradients."""

from __future__ import annotations

from agog_core import Variable
from agog_core.ops.updates.adam import apply_adamax
from agog_core.tracers import late
from agog_optimizers.adam import AdamOptimizer
from agog_optimizers.host_variables import host_variable, scale
from agog_optimizers.hyperparameters import Number, number

__all__ = ["AdaMaxOptimizer"]


class AdaMaxOptimizer(AdamOptimizer, step_op=apply_adamax, step_unit="element", touches_rows_only=True):
    """Adam with the largest of the decayed gradients in place of the mean of their squares.

    At step ``t``: ``m = beta1 * m + (1 - beta1) * gradient``, ``v = maximum(beta2 * v, abs(gradient))``, ``variable -=
    learning_rate / (1 - beta1 ** t) * m / (v + epsilon)``. D. Kingma and J. Ba, "Adam: a method for stochastic
    optimization", ICLR 2015, section 7.1. The gradient of a lookup changes only the rows that were looked up.

    Args:
        beta2: the decay of the largest gradient.

    Other arguments: see `AdamOptimizer`.

    >>> from agog_core import Variable
    >>> v = Variable(5.0)
    >>> AdaMaxOptimizer(0.5).minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(4.5)
    """

    def __init__(
        self,
        learning_rate: Number = 0.001,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> Variable:
        """See `AdamOptimizer._get_beta_accumulators`; there is the power of beta1 alone."""
        self.correction(number(self.beta1), number(self.beta2))
        return self.beta1_power

    def correction(self, beta1: float, beta2: float) -> float:
        if not self.non_slot_variables():
            self.beta1_power = host_variable(beta1, "float64", "beta1_power")
        return 1 / (1 - float(self.beta1_power))

    def finish(self) -> None:
        scale(self.beta1_power, late(lambda: number(self.beta1)))

    def non_slot_variables(self) -> list[Variable]:
        """See `Optimizer.non_slot_variables`; the power of beta1, in float64, exists from the first step on."""
        return [self.beta1_power] if "beta1_power" in vars(self) else []
