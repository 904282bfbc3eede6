"""AdamWOptimizer: Adam with decoupled weight decay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core import IndexedSlices, Variable
from agog_optimizers.adam import AdamOptimizer
from agog_optimizers.hyperparameters import Number
from agog_optimizers.weight_decay import DecoupledWeightDecayExtension

__all__ = ["AdamWOptimizer"]


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer, step_unit="element"):
    """Adam with weight decay that is decoupled from the gradient, unlike a penalty in the loss.

    ``variable -= weight_decay * variable``, then a step of `AdamOptimizer`; the decay is not multiplied with the
    learning rate, as in TensorFlow 1.12. I. Loshchilov and F. Hutter, "Decoupled weight decay regularization", ICLR
    2019. After a lookup only the rows that were looked up decay.

    Args:
        weight_decay: the share that a step takes off, a hyperparameter.

    Other arguments: see `AdamOptimizer`.

    >>> v = Variable(4.0)
    >>> AdamWOptimizer(0.25, learning_rate=0.5).minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(2.5)
    """

    def __init__(
        self,
        weight_decay: Number,
        learning_rate: Number = 0.001,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(weight_decay, learning_rate, beta1, beta2, epsilon, use_locking, name)

    def update(
        self, variable: Variable, gradient: Any, hyperparameters: dict[str, Any], slots: Sequence[Variable]
    ) -> None:
        if not self.decays(variable):
            hyperparameters = {**hyperparameters, "weight_decay": 0.0}
        self.step_op(variable, *slots, gradient, **hyperparameters)

    def _updates_alike(self) -> bool:
        return self._decaying is None and type(self).update is AdamWOptimizer.update

    def update_rows(
        self, variable: Variable, gradient: IndexedSlices, hyperparameters: dict[str, Any], slots: Sequence[Variable]
    ) -> None:
        self.decay_rows(variable, gradient, hyperparameters["weight_decay"])
        AdamOptimizer.update_rows(self, variable, gradient, {**hyperparameters, "weight_decay": 0.0}, slots)
