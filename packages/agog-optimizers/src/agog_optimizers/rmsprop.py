"""RMSPropOptimizer: gradients over a running mean of their size."""

from __future__ import annotations

from collections.abc import Mapping

from agog_core import Tensor, Variable, ones_like, zeros_like
from agog_core.ops.updates.adaptive import apply_centered_rmsprop, apply_rmsprop
from agog_optimizers.hyperparameters import Number
from agog_optimizers.optimizer import Optimizer

__all__ = ["RMSPropOptimizer"]


class RMSPropOptimizer(Optimizer, step_unit="element", touches_rows_only=True):
    """Gradients over a running mean of their size, and momentum, as in TensorFlow 1.12.

    ``rms = decay * rms + (1 - decay) * gradient ** 2``, ``momentum_slot = momentum * momentum_slot + learning_rate *
    gradient / sqrt(rms + epsilon)``, ``variable -= momentum_slot``; centered, ``sqrt(rms - mg ** 2 + epsilon)`` is the
    divisor, where ``mg`` is the running mean of the gradients. T. Tieleman and G. Hinton, "Lecture 6.5: RMSProp",
    Coursera 2012; A. Graves, "Generating sequences with recurrent neural networks", 2013.

    Args:
        learning_rate: the step size: a number, a tensor or variable, or a function that returns one.
        decay: the share of the means that stays, in the same form.
        momentum: the share of the last step that is repeated, in the same form.
        epsilon: what keeps the quotient finite, in the same form.
        centered: whether to divide by the variance in place of the mean square.
        name: the optimizer's name.

    >>> v = Variable(5.0)
    >>> optimizer = RMSPropOptimizer(0.1)
    >>> optimizer.minimize(lambda: v * v)
    >>> print(f"{v:.4f}", optimizer.get_slot_names())
    4.6971 ['momentum', 'rms']
    """

    decay: Number
    momentum: Number
    epsilon: Number

    def __init__(
        self,
        learning_rate: Number,
        decay: Number = 0.9,
        momentum: Number = 0.0,
        epsilon: Number = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(learning_rate, name)
        self.keep(decay=decay, momentum=momentum, epsilon=epsilon)
        self.centered = centered
        self.step_op = apply_centered_rmsprop if centered else apply_rmsprop

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        means = {"rms": ones_like(variable)}
        if self.centered:
            means["mg"] = zeros_like(variable)
        return {**means, "momentum": zeros_like(variable)}
