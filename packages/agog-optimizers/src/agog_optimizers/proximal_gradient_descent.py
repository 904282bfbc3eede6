"""ProximalGradientDescentOptimizer: gradient descent with regularization."""

from __future__ import annotations

from agog_core.ops.updates.proximal import apply_proximal_gradient_descent
from agog_optimizers.hyperparameters import Number
from agog_optimizers.optimizer import Optimizer

__all__ = ["ProximalGradientDescentOptimizer"]


class ProximalGradientDescentOptimizer(
    Optimizer, step_op=apply_proximal_gradient_descent, step_unit="element", touches_rows_only=True
):
    """Gradient descent, after which each element is pulled towards 0.

    ``moved = variable - learning_rate * gradient`` is brought nearer to 0 by ``learning_rate * l1`` at most, and
    divided by ``1 + learning_rate * l2``. J. Duchi and Y. Singer, "Efficient learning using forward-backward
    splitting", NIPS 2009.

    Args:
        learning_rate: the step size: a number, a tensor or variable, or a function that returns one.
        l1_regularization_strength: the strength of the pull to exactly 0, in the same form.
        l2_regularization_strength: the strength of the pull towards 0, in the same form.
        name: the optimizer's name.

    >>> from agog_core import Variable
    >>> v = Variable(5.0)
    >>> ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=10.0).minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(3.0)
    """

    l1_regularization_strength: Number
    l2_regularization_strength: Number

    def __init__(
        self,
        learning_rate: Number,
        l1_regularization_strength: Number = 0.0,
        l2_regularization_strength: Number = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(learning_rate, name)
        self.keep(
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )
