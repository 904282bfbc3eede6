"""LionOptimizer: steps of one size, by the sign of a running mean."""

from __future__ import annotations

from collections.abc import Mapping

from agog_core import Tensor, Variable, zeros_like
from agog_core.ops.updates.adam import apply_lion
from agog_optimizers.hyperparameters import Number
from agog_optimizers.optimizer import Optimizer

__all__ = ["LionOptimizer"]


class LionOptimizer(Optimizer, step_op=apply_lion, step_unit="element"):
    """Steps of one size for all elements, in the direction that a running mean of the gradients has.

    ``direction = sign(beta1 * m + (1 - beta1) * gradient)``, ``variable -= learning_rate * (direction + weight_decay *
    variable)``, ``m = beta2 * m + (1 - beta2) * gradient``. X. Chen et al., "Symbolic discovery of optimization
    algorithms", NeurIPS 2023.

    Args:
        learning_rate: the step size: a number, a tensor or variable, or a function that returns one.
        beta1: the share of the mean in the direction, in the same form.
        beta2: the decay of the mean, in the same form.
        weight_decay: the strength of the pull towards 0, in the same form.
        name: the optimizer's name.

    >>> v = Variable(5.0)
    >>> optimizer = LionOptimizer(0.5)
    >>> optimizer.minimize(lambda: v * v)
    >>> v.numpy(), optimizer.get_slot_names()
    (np.float32(4.5), ['m'])
    """

    beta1: Number
    beta2: Number
    weight_decay: Number

    def __init__(
        self,
        learning_rate: Number = 0.0001,
        beta1: Number = 0.9,
        beta2: Number = 0.99,
        weight_decay: Number = 0.0,
        use_locking: bool = False,
        name: str = "Lion",
    ) -> None:
        super().__init__(learning_rate, name)
        self.keep(beta1=beta1, beta2=beta2, weight_decay=weight_decay)

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        return {"m": zeros_like(variable)}
