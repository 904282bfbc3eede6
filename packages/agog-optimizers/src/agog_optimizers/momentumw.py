"""MomentumWOptimizer: momentum with decoupled weight decay."""

from __future__ import annotations

from agog_optimizers.hyperparameters import Number
from agog_optimizers.momentum import MomentumOptimizer
from agog_optimizers.weight_decay import DecoupledWeightDecayExtension

__all__ = ["MomentumWOptimizer"]


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with weight decay that is decoupled from the gradient, unlike a penalty in the loss.

    ``variable -= weight_decay * variable``, then a step of `MomentumOptimizer`; see `DecoupledWeightDecayExtension`.

    Args:
        weight_decay: the share that a step takes off, a hyperparameter.
        Other arguments: see `MomentumOptimizer`.

    >>> from agog_core import Variable
    >>> v = Variable(4.0)
    >>> MomentumWOptimizer(0.25, 0.125, 0.9).minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(2.0)
    """

    def __init__(
        self,
        weight_decay: Number,
        learning_rate: Number,
        momentum: Number,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(weight_decay, learning_rate, momentum, use_locking, name, use_nesterov)
