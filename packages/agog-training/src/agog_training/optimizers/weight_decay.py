"""Weight decay: Keras's optimizers with decoupled weight decay."""

from __future__ import annotations

from typing import Any

from agog_optimizers import AdamWOptimizer, LAMBOptimizer, LionOptimizer
from agog_training.optimizers.keras_optimizer import KerasOptimizer

__all__ = ["AdamW", "Lamb", "Lion"]


class AdamW(KerasOptimizer, AdamWOptimizer):
    """Adam with weight decay that is decoupled from the gradient, unlike a penalty in the loss.

    ``variable -= learning_rate * weight_decay * variable``, then a step of `Adam`. I. Loshchilov and F. Hutter,
    "Decoupled weight decay regularization", ICLR 2019.

    Args:
        weight_decay: the share, which is multiplied by the learning rate.
        beta_1: how much of the mean of gradients is kept.
        beta_2: how much of the mean of squares is kept.
        epsilon: what is added to the root; None for 1e-7.

    Other arguments: see `KerasOptimizer`.

    >>> from agog_core import Variable
    >>> v = Variable(4.0)
    >>> AdamW(learning_rate=0.5, weight_decay=0.25).minimize(lambda: v * v)
    >>> print(f"{v:.4f}")
    3.0000
    """

    def __init__(
        self,
        lr: Any = 0.001,
        weight_decay: float = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        **today: Any,
    ) -> None:
        # AdamWOptimizer has the decay before the learning rate.
        given = {"beta1": beta_1, "beta2": beta_2, "epsilon": 1e-7 if epsilon is None else epsilon}
        super().__init__(lr, decay, clipnorm, clipvalue, today=today, weight_decay=weight_decay, **given)
        self.beta_1, self.beta_2 = beta_1, beta_2

    def hyperparameters(self) -> dict[str, Any]:
        numbers = super().hyperparameters()
        return numbers | {"weight_decay": numbers["weight_decay"] * self._decayed()}


class Lion(KerasOptimizer, LionOptimizer):
    """Steps of one size for all elements, in the direction that a running mean of the gradients has.

    X. Chen et al., "Symbolic discovery of optimization algorithms", NeurIPS 2023.

    Args:
        beta_1: the share of the mean in the direction.
        beta_2: how much of the mean is kept.
        weight_decay: the weight decay, multiplied by the learning rate.

    Other arguments: see `KerasOptimizer`.

    >>> from agog_core import Variable
    >>> v = Variable(5.0)
    >>> Lion(learning_rate=0.5).minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(4.5)
    """

    def __init__(
        self,
        lr: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.99,
        weight_decay: float = 0.0,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        **today: Any,
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, beta_1, beta_2, weight_decay, today=today)
        self.beta_1, self.beta_2 = beta_1, beta_2


class Lamb(KerasOptimizer, LAMBOptimizer):
    """Adam whose step for a variable is as long as a share of the variable, for very large batches.

    Y. You et al., "Large batch optimization for deep learning: training BERT in 76 minutes", ICLR 2020.

    Args:
        beta_1: how much of the mean of gradients is kept.
        beta_2: how much of the mean of squares is kept.
        epsilon: what is added to the root; None for 1e-7.
        weight_decay: the share of the variable in the direction.

    Other arguments: see `KerasOptimizer`.

    >>> from agog_core import Variable
    >>> v = Variable(5.0)
    >>> Lamb(learning_rate=0.1).minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(4.5)
    """

    def __init__(
        self,
        lr: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        weight_decay: float = 0.0,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        **today: Any,
    ) -> None:
        given = (beta_1, beta_2, 1e-7 if epsilon is None else epsilon, weight_decay)
        super().__init__(lr, decay, clipnorm, clipvalue, *given, today=today)
        self.beta_1, self.beta_2 = beta_1, beta_2
