"""ProximalAdagradOptimizer: Adagrad with regularization."""

from __future__ import annotations

from collections.abc import Mapping

from agog_core import Tensor, Variable, zeros_like
from agog_core.ops.updates.proximal import apply_proximal_adagrad
from agog_optimizers.hyperparameters import Number, checked_positive
from agog_optimizers.optimizer import Optimizer

__all__ = ["ProximalAdagradOptimizer"]


class ProximalAdagradOptimizer(Optimizer, step_op=apply_proximal_adagrad, step_unit="element", touches_rows_only=True):
    """Adagrad, after which each element is pulled towards 0.

    ``accumulator += gradient ** 2``, then a step of `ProximalGradientDescentOptimizer` with the step size
    ``learning_rate / sqrt(accumulator)``. J. Duchi and Y. Singer, "Efficient learning using forward-backward
    splitting", NIPS 2009.

    Args:
        learning_rate: the step size: a number, a tensor or variable, or a function that returns one.
        initial_accumulator_value: what the accumulator starts with.
        l1_regularization_strength: the strength of the pull to exactly 0, in the same form.
        l2_regularization_strength: the strength of the pull towards 0, in the same form.
        name: the optimizer's name.

    Raises:
        ValueError: the accumulator does not start with a positive number.

    >>> v = Variable(5.0)
    >>> optimizer = ProximalAdagradOptimizer(1.0, initial_accumulator_value=300.0, l1_regularization_strength=10.0)
    >>> optimizer.minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(4.0)
    """

    l1_regularization_strength: Number
    l2_regularization_strength: Number

    def __init__(
        self,
        learning_rate: Number,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: Number = 0.0,
        l2_regularization_strength: Number = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        super().__init__(learning_rate, name)
        self.keep(
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )
        self.initial_accumulator_value = checked_positive(name, "initial_accumulator_value", initial_accumulator_value)

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        return {"accumulator": zeros_like(variable) + self.initial_accumulator_value}
