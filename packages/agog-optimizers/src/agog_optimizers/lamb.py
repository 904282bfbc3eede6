"""LAMBOptimizer: Adam with a step in proportion to the variable's norm."""

from __future__ import annotations

import math
from typing import Any

from agog_core.ops.updates.adam import apply_lamb
from agog_optimizers.adam import AdamOptimizer
from agog_optimizers.hyperparameters import Number

__all__ = ["LAMBOptimizer"]


class LAMBOptimizer(AdamOptimizer, step_op=apply_lamb, step_unit="variable"):
    """Adam whose step for a variable is as long as a share of the variable, for very large batches.

    At step ``t``: ``m`` and ``v`` as for `AdamOptimizer`; ``direction = (m / (1 - beta1 ** t)) / (sqrt(v / (1 - beta2
    ** t)) + epsilon) + weight_decay * variable``, ``variable -= learning_rate * trust * direction``, where trust is the
    norm of the variable over that of the direction, or 1 where either is 0. Y. You et al., "Large batch optimization
    for deep learning: training BERT in 76 minutes", ICLR 2020.

    Args:
        weight_decay: the share of the variable in the direction, a hyperparameter.

    Other arguments: see `AdamOptimizer`.

    >>> from agog_core import Variable
    >>> v = Variable(5.0)
    >>> LAMBOptimizer(0.1).minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(4.5)
    """

    weight_decay: Number

    def __init__(
        self,
        learning_rate: Number = 0.001,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-6,
        weight_decay: Number = 0.0,
        use_locking: bool = False,
        name: str = "LAMB",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self.keep(weight_decay=weight_decay)

    def hyperparameters(self) -> dict[str, Any]:
        numbers = super(AdamOptimizer, self).hyperparameters()  # Adam's own has the correction in the learning rate
        numbers["correction"] = self.correction(numbers["beta1"], numbers["beta2"])
        numbers["epsilon"] *= math.sqrt(1 - float(self.beta2_power))
        return numbers
