"""Counts: metrics of ``tf.keras`` over those of ``tfe.metrics``, with 0 in place of NaN."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, TensorLike, Variable, is_nan, where, zeros_like
from agog_layers.losses.arguments import of_one_rank
from agog_layers.losses.sample_weights import aligned
from agog_layers.metrics import auc, confusion, metric
from agog_layers.metrics.keras.metric import Metric

__all__ = ["AUC", "Precision", "Recall"]


class Counts(Metric):
    """Base of metrics that have one of ``tfe.metrics`` count for them."""

    def __init__(self, counter: metric.Metric, name: str | None, dtype: Any) -> None:
        super().__init__(name, dtype)
        self.counter = counter

    @property
    def variables(self) -> list[Variable]:
        return self.counter.variables

    def update_state(self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike = None) -> None:
        """Take labels, bools or numbers that are 0 for no, and probabilities into account. See `Mean.update_state`.

        Raises InvalidArgumentError if the shapes differ, or for an area if a prediction is not from 0 to 1.
        """
        y, x = of_one_rank(y_true, y_pred)
        self.counter(y, x, weights=None if sample_weight is None else aligned(sample_weight, x))

    def result(self) -> Tensor:
        """The metric of all that was seen; 0 while there are no cases."""
        value = self.counter.result()
        return where(is_nan(value), zeros_like(value), value)

    def reset_states(self) -> None:
        self.counter.init_variables()


class Precision(Counts, options=("thresholds",)):
    """The share of what was predicted that is right; 0 while nothing was predicted.

    Args:
        thresholds: what predictions of yes are greater than: one number; None for 0.5.
        Other arguments: see `Metric`.

    >>> print(Precision()([1, 1, 0, 0], [0.9, 0.2, 0.8, 0.1]))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """

    def __init__(self, thresholds: float | None = None, name: str | None = None, dtype: Any = None) -> None:
        threshold = one_threshold("Precision", thresholds)
        super().__init__(confusion.Precision(name or "precision", threshold, dtype or "float32"), name, dtype)
        self.thresholds = thresholds


class Recall(Counts, options=("thresholds",)):
    """The share of what is right that was predicted; 0 while nothing was right.

    Args:
        Other arguments: see `Precision`.

    >>> print(Recall()([1, 1, 1, 0], [0.9, 0.2, 0.8, 0.1]))
    tf.Tensor(0.6666667, shape=(), dtype=float32)
    """

    def __init__(self, thresholds: float | None = None, name: str | None = None, dtype: Any = None) -> None:
        threshold = one_threshold("Recall", thresholds)
        super().__init__(confusion.Recall(name or "recall", threshold, dtype or "float32"), name, dtype)
        self.thresholds = thresholds


class AUC(Counts, options=("num_thresholds", "curve", "summation_method")):
    """The area under the receiver operating characteristic (ROC), or under precision over recall (PR).

    Args:
        num_thresholds: the number of thresholds, at least 2.
        curve: ``"ROC"`` or ``"PR"``.
        summation_method: ``"interpolation"``, with straight lines for ROC and the curves of Davis and Goadrich for
            PR; ``"minoring"`` or ``"majoring"``; or one of ``tfe.metrics.AUC``.
        Other arguments: see `Metric`.

    Raises:
        ValueError: the number of thresholds is too small, or the curve or summation method is unknown.

    >>> print(AUC()([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    tf.Tensor(0.75, shape=(), dtype=float32)
    """

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        method = "careful_interpolation" if summation_method == "interpolation" else summation_method
        super().__init__(
            auc.AUC(name or "auc", num_thresholds, curve, method, dtype or "float32"), name or "auc", dtype
        )
        self.num_thresholds = num_thresholds
        self.curve = curve
        self.summation_method = summation_method


def one_threshold(what: str, thresholds: float | None) -> float:
    """The threshold of a metric, 0.5 for None; a TypeError if it is not one number.

    >>> one_threshold("Recall", None)
    0.5
    """
    if thresholds is None:
        return 0.5
    if not isinstance(thresholds, (int, float)):
        raise TypeError(f"{what}: thresholds must be one number; got {thresholds!r}. Make a metric for each.")
    return float(thresholds)
