"""AdagradDAOptimizer: Adagrad with dual averaging."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_core import Tensor, Variable, zeros_like
from agog_core.ops.updates.adaptive import apply_adagrad_da
from agog_optimizers.hyperparameters import Number, checked_positive
from agog_optimizers.optimizer import Optimizer

__all__ = ["AdagradDAOptimizer"]


class AdagradDAOptimizer(Optimizer, step_op=apply_adagrad_da, step_unit="element", touches_rows_only=True):
    """Adagrad that computes a variable from the sum of all its gradients, for sparse linear models.

    With the sums of the gradients and of their squares: ``variable = -learning_rate * shrunk / (l2 * t * learning_rate
    + sqrt(square_sum))``, where ``shrunk`` is the gradient's sum moved towards 0 by ``l1 * t`` at most, and ``t`` is
    the global step plus 1. So the first step forgets the variable's initial value. J. Duchi, E. Hazan and Y. Singer,
    "Adaptive subgradient methods for online learning and stochastic optimization", JMLR 12, 2011.

    Args:
        learning_rate: the step size: a number, a tensor or variable, or a function that returns one.
        global_step: the variable that counts the steps.
        initial_gradient_squared_accumulator_value: what the sum of squares starts with.
        l1_regularization_strength: the strength of the pull to exactly 0, in the same form.
        l2_regularization_strength: the strength of the pull towards 0, in the same form.
        name: the optimizer's name.

    Raises:
        ValueError: the sum of squares does not start with a positive number.

    >>> v, step = Variable(5.0), Variable(0)
    >>> optimizer = AdagradDAOptimizer(1.0, step, initial_gradient_squared_accumulator_value=300.0)
    >>> optimizer.minimize(lambda: v * v, global_step=step)
    >>> v.numpy()
    np.float32(-0.5)
    """

    l1_regularization_strength: Number
    l2_regularization_strength: Number

    def __init__(
        self,
        learning_rate: Number,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: Number = 0.0,
        l2_regularization_strength: Number = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        super().__init__(learning_rate, name)
        self.global_step = global_step
        self.keep(
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )
        self.initial_gradient_squared_accumulator_value = checked_positive(
            name, "initial_gradient_squared_accumulator_value", initial_gradient_squared_accumulator_value
        )

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        return {
            "gradient_accumulator": zeros_like(variable),
            "gradient_squared_accumulator": zeros_like(variable) + self.initial_gradient_squared_accumulator_value,
        }

    def hyperparameters(self) -> dict[str, Any]:
        return {**super().hyperparameters(), "step": int(self.global_step) + 1}
