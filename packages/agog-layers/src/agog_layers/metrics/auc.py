"""AUC: the area under the ROC or PR curve."""

from __future__ import annotations

from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_core.errors import InvalidArgumentError
from agog_layers.metrics.confusion import spread, truth
from agog_layers.metrics.metric import Metric, arguments

__all__ = ["AUC"]

_CURVES = ("ROC", "PR")
_METHODS = ("trapezoidal", "careful_interpolation", "minoring", "majoring")
# How far the outer thresholds lie outside of [0, 1].
_MARGIN = 1e-7


class AUC(Metric):
    """The area under the receiver operating characteristic (ROC), or under precision over recall (PR).

    The curve has a point for each of some thresholds, evenly from 0 to 1: the shares that predictions above the
    threshold make. T. Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27, 2006.

    ``careful_interpolation`` interpolates attainable precisions between two points of PR, since straight lines
    overestimate them: J. Davis, M. Goadrich, "The relationship between precision-recall and ROC curves", ICML 2006. For
    ROC it is the same as ``trapezoidal``.

    Labels are bools, or numbers that are 0 for no; predictions are probabilities, of the same shape; weights: see
    `Mean`. Raises InvalidArgumentError if the shapes differ, or a prediction is not from 0 to 1.

    Args:
        name: the metric's name.
        num_thresholds: the number of thresholds, at least 2.
        curve: ``"ROC"`` or ``"PR"``.
        summation_method: the height between two points: ``"trapezoidal"`` for their mean, ``"minoring"`` for the
            lesser, ``"majoring"`` for the greater, or ``"careful_interpolation"``.
        dtype: the dtype of the sums and of the result.

    Raises:
        ValueError: the number of thresholds is too small, or the curve or summation method is unknown.

    >>> area = AUC()
    >>> _ = area(labels=[0, 0, 1, 1], predictions=[0.1, 0.4, 0.35, 0.8])
    >>> print(area.result())
    tf.Tensor(0.75, shape=(), dtype=float64)
    """

    true_positives: ag.Variable
    false_positives: ag.Variable
    true_negatives: ag.Variable
    false_negatives: ag.Variable

    def __init__(
        self,
        name: str | None = None,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "trapezoidal",
        dtype: Any = "float64",
    ) -> None:
        super().__init__(name)
        if num_thresholds < 2:
            raise ValueError(f"Metric {self.name!r}: num_thresholds must be at least 2; got {num_thresholds}.")
        if curve not in _CURVES:
            raise ValueError(f"Metric {self.name!r}: curve must be one of {', '.join(_CURVES)}; got {curve!r}.")
        if summation_method not in _METHODS:
            raise ValueError(
                f"Metric {self.name!r}: summation_method must be one of {', '.join(_METHODS)}; got "
                f"{summation_method!r}."
            )
        self.num_thresholds = num_thresholds
        self.curve = curve
        self.summation_method = summation_method
        self.dtype = ag.as_dtype(dtype)
        for count in ("true_positives", "false_positives", "true_negatives", "false_negatives"):
            setattr(self, count, self.add_variable(count, (num_thresholds,), self.dtype))
        inner = [n / (num_thresholds - 1) for n in range(1, num_thresholds - 1)]
        self._thresholds = ag.constant([-_MARGIN, *inner, 1.0 + _MARGIN], "float64")

    def call(self, labels: ag.TensorLike, predictions: ag.TensorLike, weights: ag.TensorLike = None) -> Any:
        """Take predictions into account, and return the arguments; weights only when they are given."""
        y, x = self._of_one_shape(labels, predictions)
        scores = ag.reshape(ag.cast(x, "float64"), [-1])
        if not ag.reduce_all((scores >= 0.0) & (scores <= 1.0)):
            raise InvalidArgumentError(
                f"Metric {self.name!r}: predictions must lie in [0, 1]; they lie in [{float(ag.reduce_min(scores))}, "
                f"{float(ag.reduce_max(scores))}]."
            )
        each = spread(f"Metric {self.name!r}", weights, x, self.dtype)
        positive = each * ag.cast(truth(y), self.dtype)
        pairs = ag.stack([ag.reshape(positive, [-1]), ag.reshape(each - positive, [-1])], 1)
        # Sorted by how many thresholds they are above; so one pass serves all thresholds.
        passed = ag.searchsorted(self._thresholds, scores)
        sums = ag.unsorted_segment_sum(pairs, passed, self.num_thresholds + 1)
        above, below = ag.cumsum(sums, reverse=True)[1:], ag.cumsum(sums)[:-1]
        self.true_positives.assign_add(above[:, 0])
        self.false_positives.assign_add(above[:, 1])
        self.false_negatives.assign_add(below[:, 0])
        self.true_negatives.assign_add(below[:, 1])
        return arguments(labels, predictions, weights)

    def result(self, write_summary: bool = True) -> Tensor:
        """The area since the start, or since `init_variables`; see `Mean.result`.

        It is NaN while a share of the curve has no cases: for ROC without labels of both kinds, for PR without positive
        ones.
        """
        area = self._careful_area() if self._is_careful() else self._area()
        return self._with_summary(area, write_summary)

    def _is_careful(self) -> bool:
        return self.curve == "PR" and self.summation_method == "careful_interpolation"

    def _area(self) -> Tensor:
        hits, alarms = self.true_positives.value(), self.false_positives.value()
        recall = hits / (hits + self.false_negatives.value())
        if self.curve == "ROC":
            x, y = alarms / (alarms + self.true_negatives.value()), recall
        else:
            # Where nothing is predicted, nothing is wrong.
            none = hits + alarms <= 0
            x, y = recall, ag.where(none, ag.ones_like(hits), ag.div_no_nan(hits, hits + alarms))
        left, right = y[:-1], y[1:]
        if self.summation_method == "minoring":
            heights = ag.minimum(left, right)
        elif self.summation_method == "majoring":
            heights = ag.maximum(left, right)
        else:
            heights = (left + right) / 2.0
        return ag.reduce_sum((x[:-1] - x[1:]) * heights)

    def _careful_area(self) -> Tensor:
        """The sum of integrals of precision, with hits in proportion to predictions."""
        hits, alarms = self.true_positives.value(), self.false_positives.value()
        predicted = hits + alarms
        more, fewer = predicted[:-1], predicted[1:]
        rise = hits[:-1] - hits[1:]
        slope = ag.div_no_nan(rise, more - fewer)
        start = hits[1:] - slope * fewer
        both = (more > 0.0) & (fewer > 0.0)
        growth = ag.where(both, ag.div_no_nan(more, fewer), ag.ones_like(more))
        return ag.reduce_sum(slope * (rise + start * ag.log(growth))) / (hits[0] + self.false_negatives.value()[0])
