"""MomentumOptimizer: gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_core import Tensor, Variable, zeros_like
from agog_core.ops.updates.descent import apply_momentum
from agog_optimizers.hyperparameters import Number
from agog_optimizers.optimizer import Optimizer

__all__ = ["MomentumOptimizer"]


class MomentumOptimizer(Optimizer, step_op=apply_momentum, step_unit="element", touches_rows_only=True):
    """Gradient descent along an accumulation of the gradients, as in TensorFlow 1.12.

    ``accumulation = momentum * accumulation + gradient``, then ``variable -= learning_rate * accumulation``; with
    Nesterov's momentum ``variable -= learning_rate * (gradient + momentum * accumulation)``. I. Sutskever et al., "On
    the importance of initialization and momentum in deep learning", ICML 2013.

    Args:
        learning_rate: the step size: a number, a tensor or variable, or a function that returns one.
        momentum: the share of the accumulation that stays, in the same form.
        name: the optimizer's name.
        use_nesterov: whether to use Nesterov's momentum.

    >>> v = Variable(5.0)
    >>> optimizer = MomentumOptimizer(0.1, momentum=0.9)
    >>> optimizer.minimize(lambda: v * v)
    >>> v.numpy(), optimizer.get_slot(v, "momentum").numpy()
    (np.float32(4.0), np.float32(10.0))
    """

    momentum: Number

    def __init__(
        self,
        learning_rate: Number,
        momentum: Number,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, name)
        self.keep(momentum=momentum)
        self.use_nesterov = use_nesterov

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        return {"momentum": zeros_like(variable)}

    def hyperparameters(self) -> dict[str, Any]:
        return {**super().hyperparameters(), "use_nesterov": self.use_nesterov}
