"""Adaptive optimizers: Keras's names, arguments and configs over the formulas of agog-optimizers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_core import Tensor, Variable, zeros_like
from agog_core.ops.updates.adam import apply_amsgrad
from agog_optimizers import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdaMaxOptimizer,
    AdamOptimizer,
    RMSPropOptimizer,
)
from agog_training.optimizers.keras_optimizer import KerasOptimizer

__all__ = ["Adadelta", "Adagrad", "Adam", "Adamax", "RMSprop"]


class Adam(KerasOptimizer, AdamOptimizer):
    """Steps along a running mean of gradients, divided by the root of a running mean of their squares.

    D. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.

    Args:
        beta_1: how much of the mean of gradients is kept.
        beta_2: how much of the mean of squares is kept.
        epsilon: what is added to the root; None for 1e-7.
        amsgrad: whether the largest mean of squares so far takes the place of the mean; see `AMSGradOptimizer`.

    Other arguments: see `KerasOptimizer`.

    >>> v = Variable(5.0)
    >>> optimizer = Adam(learning_rate=0.1)
    >>> optimizer.minimize(lambda: v * v)
    >>> print(f"{v:.3f}", optimizer.learning_rate)
    4.900 0.1
    """

    def __init__(
        self,
        lr: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        amsgrad: bool = False,
        **today: Any,
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, beta_1, beta_2, _or_default(epsilon), today=today)
        self.beta_1, self.beta_2, self.amsgrad = beta_1, beta_2, amsgrad
        if amsgrad:
            self.step_op = apply_amsgrad

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        slots = super().make_slots(variable)
        return {**slots, "vhat": zeros_like(variable)} if self.amsgrad else slots


class RMSprop(KerasOptimizer, RMSPropOptimizer):
    """Gradients over the root of a running mean of their squares.

    T. Tieleman and G. Hinton, "Lecture 6.5: RMSProp", Coursera 2012. The mean starts at 0; the square of epsilon is
    added to it, where Keras adds epsilon to its root.

    Args:
        rho: how much of the mean is kept.
        epsilon: what keeps the quotient finite; None for 1e-7.
        momentum: the share of the last step that is taken again.
        centered: whether the square of the running mean of gradients is taken off the mean of their squares.

    Other arguments: see `KerasOptimizer`.
    """

    def __init__(
        self,
        lr: Any = 0.001,
        rho: float = 0.9,
        epsilon: float | None = None,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        momentum: float = 0.0,
        centered: bool = False,
        **today: Any,
    ) -> None:
        given = {"epsilon": _or_default(epsilon), "centered": centered, "name": "RMSprop"}
        super().__init__(lr, decay, clipnorm, clipvalue, rho, momentum, today=today, **given)
        self.rho = rho

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        return {name: zeros_like(slot) for name, slot in super().make_slots(variable).items()}

    def hyperparameters(self) -> dict[str, Any]:
        return super().hyperparameters() | {"decay": self.rho, "epsilon": self.epsilon**2}


class Adagrad(KerasOptimizer, AdagradOptimizer):
    """Gradients over the root of the sum of their squares.

    J. Duchi et al., "Adaptive subgradient methods for online learning and stochastic optimization", JMLR 2011. The sum
    starts at the square of epsilon, where Keras adds epsilon to its root.

    Args:
        epsilon: what keeps the quotient finite; None for 1e-7.

    Other arguments: see `KerasOptimizer`.
    """

    def __init__(
        self,
        lr: Any = 0.01,
        epsilon: float | None = None,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        **today: Any,
    ) -> None:
        self.epsilon = _or_default(epsilon)
        super().__init__(lr, decay, clipnorm, clipvalue, self.epsilon**2, today=today)


class Adadelta(KerasOptimizer, AdadeltaOptimizer):
    """Steps scaled by the size of former steps over the size of gradients.

    M. Zeiler, "ADADELTA: an adaptive learning rate method", arXiv:1212.5701, 2012.

    Args:
        rho: how much of the means is kept.
        epsilon: what keeps the quotient finite; None for 1e-7.

    Other arguments: see `KerasOptimizer`.
    """

    def __init__(
        self,
        lr: Any = 1.0,
        rho: float = 0.95,
        epsilon: float | None = None,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        **today: Any,
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, rho, _or_default(epsilon), today=today)


class Adamax(KerasOptimizer, AdaMaxOptimizer):
    """Adam with a running maximum of gradients in place of the mean of their squares.

    D. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015, section 7.

    Args:
        beta_2: how much of the maximum is kept.

    Other arguments: see `Adam` and `KerasOptimizer`.
    """

    def __init__(
        self,
        lr: Any = 0.002,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        **today: Any,
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, beta_1, beta_2, _or_default(epsilon), today=today)
        self.beta_1, self.beta_2 = beta_1, beta_2


def _or_default(epsilon: float | None) -> float:
    return 1e-7 if epsilon is None else epsilon
