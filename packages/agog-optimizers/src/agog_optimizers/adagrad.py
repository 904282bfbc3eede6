"""AdagradOptimizer: steps divided by the root of the sum of squared gradients."""

from __future__ import annotations

from collections.abc import Mapping

from agog_core import Tensor, Variable, zeros_like
from agog_core.ops.updates.adaptive import apply_adagrad
from agog_optimizers.hyperparameters import Number, checked_positive
from agog_optimizers.optimizer import Optimizer

__all__ = ["AdagradOptimizer"]


class AdagradOptimizer(Optimizer, step_op=apply_adagrad, step_unit="element", touches_rows_only=True):
    """Steps that get smaller for an element with each gradient it had.

    ``accumulator += gradient ** 2``, ``variable -= learning_rate * gradient / sqrt(accumulator)``. J. Duchi, E. Hazan
    and Y. Singer, "Adaptive subgradient methods for online learning and stochastic optimization", JMLR 12, 2011.

    Args:
        learning_rate: the step size: a number, a tensor or variable, or a function that returns one.
        initial_accumulator_value: what the accumulator starts with.
        name: the optimizer's name.

    Raises:
        ValueError: the accumulator does not start with a positive number.

    >>> v = Variable(5.0)
    >>> AdagradOptimizer(1.0, initial_accumulator_value=300.0).minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(4.5)
    """

    def __init__(
        self,
        learning_rate: Number,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        super().__init__(learning_rate, name)
        self.initial_accumulator_value = checked_positive(name, "initial_accumulator_value", initial_accumulator_value)

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        return {"accumulator": zeros_like(variable) + self.initial_accumulator_value}
