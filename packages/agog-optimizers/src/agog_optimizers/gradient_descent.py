"""GradientDescentOptimizer: gradient descent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core import IndexedSlices, Variable, scatter_sub
from agog_core.ops.updates.descent import apply_gradient_descent
from agog_optimizers.hyperparameters import Number, times
from agog_optimizers.optimizer import Optimizer

__all__ = ["GradientDescentOptimizer"]


class GradientDescentOptimizer(Optimizer, step_op=apply_gradient_descent, step_unit="element"):
    """``variable -= learning_rate * gradient``.

    Args:
        learning_rate: the step size: a number, a tensor or variable, or a function that returns one.
        name: the optimizer's name.

    >>> v = Variable(5.0)
    >>> optimizer = GradientDescentOptimizer(0.1)
    >>> optimizer.minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(4.0)
    """

    def __init__(self, learning_rate: Number, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(learning_rate, name)

    def update_rows(
        self, variable: Variable, gradient: IndexedSlices, hyperparameters: dict[str, Any], slots: Sequence[Variable]
    ) -> None:
        scatter_sub(variable, gradient.indices, times(gradient.values, hyperparameters["learning_rate"]))
