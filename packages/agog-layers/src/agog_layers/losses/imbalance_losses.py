"""Imbalance losses: the losses of `imbalance` as objects."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor
from agog_layers.losses import imbalance
from agog_layers.losses.loss import FunctionLoss, Reduction
from agog_layers.losses.sequences import ctc

__all__ = [
    "CTC",
    "BinaryFocalCrossentropy",
    "CategoricalFocalCrossentropy",
    "CategoricalGeneralizedCrossEntropy",
    "Dice",
    "Tversky",
]

_DEFAULT = Reduction.SUM_OVER_BATCH_SIZE


class BinaryFocalCrossentropy(
    FunctionLoss,
    function=imbalance.binary_focal_crossentropy,
    options=("apply_class_balancing", "alpha", "gamma", "from_logits", "label_smoothing", "axis"),
):
    """`binary_focal_crossentropy` of a batch.

    Args:
        Arguments: see `binary_focal_crossentropy` and `Loss`.

    >>> print(BinaryFocalCrossentropy(gamma=0.0)([[0.0, 1.0]], [[0.5, 0.5]]))
    tf.Tensor(0.6931472, shape=(), dtype=float32)
    """

    def __init__(
        self,
        apply_class_balancing: bool = False,
        alpha: float = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str = _DEFAULT,
        name: str | None = None,
    ) -> None:
        super().__init__(reduction, name)
        self.apply_class_balancing, self.alpha, self.gamma = apply_class_balancing, alpha, gamma
        self.from_logits, self.label_smoothing, self.axis = from_logits, label_smoothing, axis


class CategoricalFocalCrossentropy(
    FunctionLoss,
    function=imbalance.categorical_focal_crossentropy,
    options=("alpha", "gamma", "from_logits", "label_smoothing", "axis"),
):
    """`categorical_focal_crossentropy` of a batch.

    Args:
        Arguments: see `categorical_focal_crossentropy` and `Loss`.

    >>> print(CategoricalFocalCrossentropy(alpha=1.0, gamma=0.0)([[0.0, 1.0]], [[0.5, 0.5]]))
    tf.Tensor(0.6931472, shape=(), dtype=float32)
    """

    def __init__(
        self,
        alpha: Any = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str = _DEFAULT,
        name: str | None = None,
    ) -> None:
        super().__init__(reduction, name)
        self.alpha, self.gamma = alpha, gamma
        self.from_logits, self.label_smoothing, self.axis = from_logits, label_smoothing, axis


class CategoricalGeneralizedCrossEntropy(
    FunctionLoss, function=imbalance.categorical_generalized_cross_entropy, options=("q",)
):
    """`categorical_generalized_cross_entropy` of a batch.

    Args:
        Arguments: see `categorical_generalized_cross_entropy` and `Loss`.

    >>> print(CategoricalGeneralizedCrossEntropy()([1], [[0.75, 0.25]]))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """

    def __init__(self, q: float = 0.5, reduction: str = _DEFAULT, name: str | None = None) -> None:
        super().__init__(reduction, name)
        self.q = q


class Dice(FunctionLoss, function=imbalance.dice, options=("axis",)):
    """`dice` of a batch.

    Args:
        Arguments: see `dice` and `Loss`.

    >>> print(Dice()([[1.0, 0.0]], [[0.5, 0.5]]))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """

    def __init__(self, reduction: str = _DEFAULT, name: str | None = None, axis: Any = None) -> None:
        super().__init__(reduction, name)
        self.axis = axis


class Tversky(FunctionLoss, function=imbalance.tversky, options=("alpha", "beta", "axis")):
    """`tversky` of a batch.

    Args:
        Arguments: see `tversky` and `Loss`.

    >>> print(Tversky(alpha=0.0, beta=1.0)([[1.0, 0.0]], [[0.5, 0.5]]))
    tf.Tensor(0.50000006, shape=(), dtype=float32)
    """

    def __init__(
        self,
        alpha: float = 0.5,
        beta: float = 0.5,
        reduction: str = _DEFAULT,
        name: str | None = None,
        axis: Any = None,
    ) -> None:
        super().__init__(reduction, name)
        self.alpha, self.beta, self.axis = alpha, beta, axis


class CTC(FunctionLoss, function=ctc):
    """`ctc` of a batch.

    Args:
        Arguments: see `Loss`.

    >>> import agog_core as ag
    >>> CTC()([[1, 2]], ag.zeros([1, 5, 3])).shape
    TensorShape([])
    """

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return ctc(y_true, y_pred)
