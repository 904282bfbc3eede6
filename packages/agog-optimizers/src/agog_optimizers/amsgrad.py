"""AMSGradOptimizer: Adam by the largest mean of squares so far."""

from __future__ import annotations

from collections.abc import Mapping

from agog_core import Tensor, Variable, zeros_like
from agog_core.ops.updates.adam import apply_amsgrad
from agog_optimizers.adam import AdamOptimizer
from agog_optimizers.hyperparameters import Number

__all__ = ["AMSGradOptimizer"]


class AMSGradOptimizer(AdamOptimizer, step_op=apply_amsgrad, step_unit="element"):
    """Adam with the largest mean of squares so far as divisor, so that the step size never grows.

    ``m`` and ``v`` as for `AdamOptimizer`; ``vhat = maximum(vhat, v)`` takes the place of ``v`` in the step. S. Reddi,
    S. Kale and S. Kumar, "On the convergence of Adam and beyond", ICLR 2018.

    Arguments: see `AdamOptimizer`.

    >>> v = Variable(5.0)
    >>> optimizer = AMSGradOptimizer(0.5)
    >>> optimizer.minimize(lambda: v * v)
    >>> print(f"{v:.3f}", optimizer.get_slot_names())
    4.500 ['m', 'v', 'vhat']
    """

    def __init__(
        self,
        learning_rate: Number = 0.001,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "AMSGrad",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        return {**super().make_slots(variable), "vhat": zeros_like(variable)}
