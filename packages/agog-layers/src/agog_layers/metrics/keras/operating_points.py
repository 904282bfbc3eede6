"""Operating points: metrics at a point of a curve, such as the best recall at a given precision."""

from __future__ import annotations

from typing import Any, ClassVar

import agog_core as ag
from agog_core import Tensor
from agog_layers.losses.arguments import of_one_rank
from agog_layers.losses.sample_weights import aligned
from agog_layers.metrics.keras.metric import Metric

__all__ = ["PrecisionAtRecall", "RecallAtPrecision", "SensitivityAtSpecificity", "SpecificityAtSensitivity"]


class AtPoint(Metric):
    """Base of metrics with counts of right and wrong predictions for each threshold."""

    # The constructor's argument that says how much is enough.
    least: ClassVar[str]

    def __init_subclass__(cls, *, least: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if least is not None:
            cls.least, cls.options = least, (least, "num_thresholds")

    def __init__(self, enough: float, num_thresholds: int, name: str | None, dtype: Any) -> None:
        super().__init__(name, dtype)
        if not 0 <= enough <= 1:
            raise ValueError(f"{type(self).__name__}: {self.least} must be from 0 to 1; got {enough}.")
        if num_thresholds < 1:
            raise ValueError(f"{type(self).__name__}: num_thresholds must be at least 1; got {num_thresholds}.")
        self.enough, self.num_thresholds = float(enough), num_thresholds
        # Rows: yes predicted, no predicted; columns: yes and no in truth.
        self.counts: ag.Variable = self.add_weight("counts", (2, 2, num_thresholds))
        inner = [n / (num_thresholds - 1) for n in range(1, num_thresholds - 1)]
        points = [0.5] if num_thresholds == 1 else [-1e-7, *inner, 1 + 1e-7]
        self.thresholds = ag.constant(points, self.dtype)

    def update_state(self, y_true: ag.TensorLike, y_pred: ag.TensorLike, sample_weight: ag.TensorLike = None) -> None:
        """Take labels, bools or 0 and 1, and probabilities into account; see `Mean.update_state`."""
        labels, scores = (ag.cast(each, self.dtype) for each in of_one_rank(y_true, y_pred))
        weights = 1.0 if sample_weight is None else ag.cast(aligned(sample_weight, scores), self.dtype)
        counts = ag.reshape(ag.ones_like(scores) * weights, [-1, 1])
        real = ag.reshape(ag.not_equal(labels, 0.0), [-1, 1])
        predicted = ag.reshape(scores, [-1, 1]) > self.thresholds
        found = [
            [ag.reduce_sum(ag.cast(guess & truth, self.dtype) * counts, 0) for truth in _both(real)]
            for guess in _both(predicted)
        ]
        self.counts.assign_add(ag.stack([ag.stack(row) for row in found]))

    def shares(self) -> tuple[Tensor, Tensor, Tensor]:
        """Precision, sensitivity (recall) and specificity at each threshold; 0 if there are no cases."""
        (hits, false_alarms), (misses, rejections) = self.counts[0], self.counts[1]
        precision = ag.div_no_nan(hits, hits + false_alarms)
        return precision, ag.div_no_nan(hits, hits + misses), ag.div_no_nan(rejections, rejections + false_alarms)

    def best(self, wanted: Tensor, other: Tensor) -> Tensor:
        """The largest of what is wanted where the other is enough; 0 where it nowhere is."""
        return ag.reduce_max(ag.where(other >= self.enough, wanted, ag.zeros_like(wanted)))


def _both(yes: Tensor) -> tuple[Tensor, Tensor]:
    return yes, ~yes


class PrecisionAtRecall(AtPoint, least="recall"):
    """The best precision of all thresholds whose recall is enough.

    Args:
        recall: how much is enough, from 0 to 1.
        num_thresholds: the number of thresholds between 0 and 1.
        Other arguments: see `Metric`.

    Raises:
        ValueError: the recall or the number is out of range.

    >>> print(PrecisionAtRecall(0.5)([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """

    def __init__(self, recall: float, num_thresholds: int = 200, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(recall, num_thresholds, name, dtype)
        self.recall = recall

    def result(self) -> Tensor:
        """The precision."""
        precision, recall, _ = self.shares()
        return self.best(precision, recall)


class RecallAtPrecision(AtPoint, least="precision"):
    """The best recall of all thresholds whose precision is enough.

    Args:
        precision: how much is enough, from 0 to 1.
        Other arguments: see `PrecisionAtRecall`.

    Raises:
        ValueError: the precision or the number is out of range.

    >>> print(RecallAtPrecision(0.8)([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """

    def __init__(self, precision: float, num_thresholds: int = 200, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(precision, num_thresholds, name, dtype)
        self.precision = precision

    def result(self) -> Tensor:
        """The recall."""
        precision, recall, _ = self.shares()
        return self.best(recall, precision)


class SensitivityAtSpecificity(AtPoint, least="specificity"):
    """The best sensitivity of all thresholds whose specificity is enough.

    Args:
        specificity: how much is enough, from 0 to 1.
        Other arguments: see `PrecisionAtRecall`.

    Raises:
        ValueError: the specificity or the number is out of range.

    >>> print(SensitivityAtSpecificity(0.9)([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """

    def __init__(
        self, specificity: float, num_thresholds: int = 200, name: str | None = None, dtype: Any = None
    ) -> None:
        super().__init__(specificity, num_thresholds, name, dtype)
        self.specificity = specificity

    def result(self) -> Tensor:
        """The sensitivity."""
        _, sensitivity, specificity = self.shares()
        return self.best(sensitivity, specificity)


class SpecificityAtSensitivity(AtPoint, least="sensitivity"):
    """The best specificity of all thresholds whose sensitivity is enough.

    Args:
        sensitivity: how much is enough, from 0 to 1.
        Other arguments: see `PrecisionAtRecall`.

    Raises:
        ValueError: the sensitivity or the number is out of range.

    >>> print(SpecificityAtSensitivity(0.9)([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """

    def __init__(
        self, sensitivity: float, num_thresholds: int = 200, name: str | None = None, dtype: Any = None
    ) -> None:
        super().__init__(sensitivity, num_thresholds, name, dtype)
        self.sensitivity = sensitivity

    def result(self) -> Tensor:
        """The specificity."""
        _, sensitivity, specificity = self.shares()
        return self.best(specificity, sensitivity)
