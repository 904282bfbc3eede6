"""Scores: metrics of ``tf.keras`` from counts per class: F scores, intersections over unions, R2."""

from __future__ import annotations

import warnings
from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_core.checkpointable import notify
from agog_core.errors import InvalidArgumentError
from agog_layers.metrics.keras.metric import Metric, Sum

__all__ = [
    "F1Score",
    "FBetaScore",
    "FalseNegatives",
    "FalsePositives",
    "IoU",
    "MeanIoU",
    "R2Score",
    "TrueNegatives",
    "TruePositives",
]

_AVERAGES = (None, "micro", "macro", "weighted")


class Cases(Sum, options=("thresholds",)):
    """Base of metrics that count cases of one kind; for the arguments see `TruePositives`."""

    # What labels and predictions are in the cases that count.
    label: float
    prediction: float

    def __init__(self, thresholds: float | None = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.thresholds = thresholds

    # It takes other arguments than a sum does, and is one all the same, as in TensorFlow.
    def update_state(  # type: ignore[override]
        self, y_true: ag.TensorLike, y_pred: ag.TensorLike, sample_weight: ag.TensorLike = None
    ) -> None:
        """Take labels, bools or numbers that are 0 for no, and probabilities into account. See `Sum.update_state`."""
        threshold = 0.5 if self.thresholds is None else self.thresholds
        labels = ag.cast(ag.cast(y_true, "bool"), self.dtype)
        yes = ag.reshape(ag.cast(ag.convert_to_tensor(y_pred) > threshold, self.dtype), labels.shape)
        right = labels if self.label else 1.0 - labels
        self._add(right * (yes if self.prediction else 1.0 - yes), sample_weight)


class TruePositives(Cases):
    """How often yes was predicted and right.

    Args:
        thresholds: what predictions of yes are greater than: one number; None for 0.5.
        Other arguments: see `Metric`.

    >>> print(TruePositives()([1, 1, 0], [0.9, 0.2, 0.8]))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """

    label, prediction = 1.0, 1.0


class TrueNegatives(Cases):
    """How often no was predicted and right. Arguments: see `TruePositives`."""

    label, prediction = 0.0, 0.0


class FalsePositives(Cases):
    """How often yes was predicted and wrong. Arguments: see `TruePositives`."""

    label, prediction = 0.0, 1.0


class FalseNegatives(Cases):
    """How often no was predicted and wrong. Arguments: see `TruePositives`."""

    label, prediction = 1.0, 0.0


class FBetaScore(Metric, options=("average", "beta", "threshold")):
    """The weighted harmonic mean of precision and recall: ``(1 + beta²) * p * r / (beta² * p + r)``, for each class.

    Labels are zeros and ones of shape (batch, classes), predictions are probabilities of the same shape.

    Args:
        average: None for a score for each class; ``"macro"`` for their mean, ``"weighted"`` for their mean by how often
            each class is right, ``"micro"`` for the score of all classes' cases together.
        beta: how many times as much recall counts as precision.
        threshold: what predictions of yes are greater than; None for yes to the class of the largest probability alone.
        Other arguments: see `Metric`.

    Raises:
        ValueError: the average is unknown, or ``beta`` is not positive.

    >>> print(FBetaScore(beta=1.0)([[1, 0], [0, 1], [0, 1]], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]))
    tf.Tensor([0.6666667 0.6666667], shape=(2,), dtype=float32)
    """

    hits: ag.Variable
    alarms: ag.Variable
    misses: ag.Variable

    def __init__(
        self,
        average: str | None = None,
        beta: float = 1.0,
        threshold: float | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name, dtype)
        if average not in _AVERAGES:
            raise ValueError(f"Metric {self.name!r}: average must be one of {_AVERAGES}; got {average!r}.")
        if not beta > 0:
            raise ValueError(f"Metric {self.name!r}: beta must be positive; got {beta!r}.")
        self.average, self.beta, self.threshold = average, beta, threshold
        self._classes: int | None = None

    def update_state(self, y_true: ag.TensorLike, y_pred: ag.TensorLike, sample_weight: ag.TensorLike = None) -> None:
        """Take labels and predictions of shape (batch, classes) into account; weights are of shape (batch,)."""
        x, y = ag.convert_to_tensor(y_pred), ag.cast(y_true, self.dtype)
        if len(x._shape) != 2 or x._shape != y._shape:
            raise InvalidArgumentError(
                f"Metric {self.name!r}: labels and predictions must be of one shape, (batch, classes); got {y.shape} "
                f"and {x.shape}. Class numbers become such labels by tf.one_hot."
            )
        classes = x._shape[1]
        if self._classes is None:
            for count in ("hits", "alarms", "misses"):
                setattr(self, count, self.add_weight(count, (classes,)))
            self._classes = classes
            notify(self)
        if self.threshold is None:
            yes = ag.one_hot(ag.argmax(x, 1), classes, dtype=self.dtype)
        else:
            yes = ag.cast(x > self.threshold, self.dtype)
        each = ag.ones([x._shape[0], 1], self.dtype)
        if sample_weight is not None:
            each = each * ag.reshape(ag.cast(sample_weight, self.dtype), [-1, 1])
        for count, cases in (("hits", y * yes), ("alarms", (1 - y) * yes), ("misses", y * (1 - yes))):
            getattr(self, count).assign_add(ag.reduce_sum(cases * each, 0))

    def result(self) -> Tensor:
        """The score of each class, or one; 0 if there are no cases."""
        if self._classes is None:
            return ag.cast(0.0, self.dtype)
        hits, alarms, misses = (each.value() for each in (self.hits, self.alarms, self.misses))
        right = hits + misses
        if self.average == "micro":
            hits, alarms, misses = (ag.reduce_sum(each) for each in (hits, alarms, misses))
        share = self.beta**2
        scores = ag.div_no_nan((1 + share) * hits, (1 + share) * hits + share * misses + alarms)
        if self.average == "macro":
            return ag.reduce_mean(scores)
        return (
            ag.reduce_sum(scores * ag.div_no_nan(right, ag.reduce_sum(right))) if self.average == "weighted" else scores
        )


class F1Score(FBetaScore, options=("average", "threshold")):
    """The harmonic mean of precision and recall, for each class.

    Args:
        Arguments: see `FBetaScore`.

    >>> print(F1Score(average="micro", threshold=0.5)([[1, 0], [0, 1]], [[0.9, 0.6], [0.2, 0.7]]))
    tf.Tensor(0.8, shape=(), dtype=float32)
    """

    def __init__(
        self, average: str | None = None, threshold: float | None = None, name: str | None = None, dtype: Any = None
    ) -> None:
        super().__init__(average, 1.0, threshold, name or "f1_score", dtype)


class MeanIoU(Metric, options=("num_classes", "sparse_y_true", "sparse_y_pred")):
    """How much labels and predictions of a class have in common, as a share of what either has: the mean over classes.

    Args:
        num_classes: the number of classes.
        sparse_y_true: whether labels are class numbers, and not one-hot.
        sparse_y_pred: whether predictions are class numbers, and not probabilities.
        Other arguments: see `Metric`.

    >>> print(MeanIoU(num_classes=2)([0, 0, 1, 1], [0, 1, 0, 1]))
    tf.Tensor(0.33333334, shape=(), dtype=float32)
    """

    counts: ag.Variable

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: Any = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
    ) -> None:
        super().__init__(name or ("mean_io_u" if type(self) is MeanIoU else "io_u"), dtype)
        self.num_classes, self.sparse_y_true, self.sparse_y_pred = num_classes, sparse_y_true, sparse_y_pred
        self.counts = self.add_weight("counts", (num_classes, num_classes))

    def update_state(self, y_true: ag.TensorLike, y_pred: ag.TensorLike, sample_weight: ag.TensorLike = None) -> None:
        """Take class numbers, or one-hot labels and probabilities, into account. See `Sum.update_state`."""
        y = ag.convert_to_tensor(y_true) if self.sparse_y_true else ag.argmax(y_true, -1)
        x = ag.convert_to_tensor(y_pred) if self.sparse_y_pred else ag.argmax(y_pred, -1)
        weights = ag.ones(y.shape, self.dtype)
        if sample_weight is not None:
            weights = weights * ag.cast(sample_weight, self.dtype)
        flat = [ag.reshape(each, [-1]) for each in (ag.cast(y, "int64"), ag.cast(x, "int64"), weights)]
        self.counts.assign_add(ag.confusion_matrix(flat[0], flat[1], self.num_classes, self.dtype, weights=flat[2]))

    def result(self) -> Tensor:
        """The mean over the classes that there were; 0 while there were none."""
        common, either = self._shares()
        found = ag.cast(either > 0.0, self.dtype)
        return ag.div_no_nan(ag.reduce_sum(ag.div_no_nan(common, either)), ag.reduce_sum(found))

    def _shares(self) -> tuple[Tensor, Tensor]:
        counts = self.counts.value()
        common = ag.diag_part(counts)
        return common, ag.reduce_sum(counts, 0) + ag.reduce_sum(counts, 1) - common


class IoU(MeanIoU, options=("num_classes", "target_class_ids", "sparse_y_true", "sparse_y_pred")):
    """See `MeanIoU`; the mean over some classes.

    Args:
        target_class_ids: the numbers of these classes.
        Other arguments: see `MeanIoU`.

    >>> print(IoU(num_classes=2, target_class_ids=[1])([0, 0, 1, 1], [0, 1, 1, 1]))
    tf.Tensor(0.6666667, shape=(), dtype=float32)
    """

    def __init__(
        self,
        num_classes: int,
        target_class_ids: Any,
        name: str | None = None,
        dtype: Any = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
    ) -> None:
        super().__init__(num_classes, name, dtype, sparse_y_true, sparse_y_pred)
        self.target_class_ids = list(target_class_ids)

    def result(self) -> Tensor:
        """The mean over those of the classes that there were; 0 while there were none."""
        wanted = ag.reduce_sum(ag.one_hot(self.target_class_ids, self.num_classes, dtype=self.dtype), 0)
        common, either = self._shares()
        found = wanted * ag.cast(either > 0.0, self.dtype)
        return ag.div_no_nan(ag.reduce_sum(wanted * ag.div_no_nan(common, either)), ag.reduce_sum(found))


class R2Score(Metric, options=("class_aggregation", "num_regressors")):
    """The share of the labels' variance that predictions explain: 1 for right ones, 0 for the labels' mean.

    Labels and predictions are of shape (batch,) or (batch, outputs).

    Args:
        class_aggregation: what the scores of the outputs become: ``"uniform_average"`` for their mean,
            ``"variance_weighted_average"`` for a mean weighted by the labels' variances, None for a score each.
        num_regressors: how many independent regressors the predictions come from, for the adjusted score ``1 - (1 -
            score) * (n - 1) / (n - num_regressors - 1)`` of ``n`` labels; 0 for the plain one.
        Other arguments: see `Metric`.

    >>> print(R2Score()([1.0, 2.0, 3.0], [1.0, 2.0, 4.0]))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """

    error: ag.Variable
    count: ag.Variable
    total: ag.Variable
    squares: ag.Variable

    def __init__(
        self,
        class_aggregation: str | None = "uniform_average",
        num_regressors: int = 0,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name or "r2_score", dtype)
        ways = (None, "uniform_average", "variance_weighted_average")
        if class_aggregation not in ways:
            raise ValueError(
                f"Metric {self.name!r}: class_aggregation must be one of {ways}; got {class_aggregation!r}."
            )
        if num_regressors < 0:
            raise ValueError(f"Metric {self.name!r}: num_regressors must be 0 or more; got {num_regressors}.")
        self.class_aggregation, self.num_regressors = class_aggregation, num_regressors
        self.num_samples = self.add_weight("num_samples")
        self._outputs: int | None = None

    def update_state(self, y_true: ag.TensorLike, y_pred: ag.TensorLike, sample_weight: ag.TensorLike = None) -> None:
        """Take labels and predictions into account; weights are of shape (batch,), or broadcast to the labels'."""
        y = ag.cast(y_true, self.dtype)
        y = ag.reshape(y, [y._shape[0], -1])
        x = ag.reshape(ag.cast(y_pred, self.dtype), y._shape)
        if self._outputs is None:
            for name in ("error", "count", "total", "squares"):
                setattr(self, name, self.add_weight(name, y._shape[1:]))
            self._outputs = y._shape[1]
            notify(self)
        each = ag.ones(y._shape, self.dtype)
        if sample_weight is not None:
            weights = ag.cast(sample_weight, self.dtype)
            each = each * (ag.reshape(weights, [-1, 1]) if len(weights._shape) == 1 else weights)
        self.error.assign_add(ag.reduce_sum(ag.square(y - x) * each, 0))
        self.count.assign_add(ag.reduce_sum(each, 0))
        self.total.assign_add(ag.reduce_sum(y * each, 0))
        self.squares.assign_add(ag.reduce_sum(ag.square(y) * each, 0))
        self.num_samples.assign_add(ag.cast(y._shape[0] * y._shape[1], self.dtype))

    def result(self) -> Tensor:
        """The score, or for no aggregation scores; 0 while there are no labels, or only equal ones."""
        if self._outputs is None:
            return ag.cast(0.0, self.dtype)
        spread = self.squares.value() - ag.div_no_nan(ag.square(self.total.value()), self.count.value())
        score = (1.0 - ag.div_no_nan(self.error.value(), spread)) * ag.cast(spread > 0.0, self.dtype)
        if self.class_aggregation == "uniform_average":
            score = ag.reduce_mean(score)
        elif self.class_aggregation == "variance_weighted_average":
            score = ag.div_no_nan(ag.reduce_sum(score * spread), ag.reduce_sum(spread))
        if not self.num_regressors:
            return score
        others = self.num_samples.value() - 1.0
        if float(others) <= self.num_regressors:
            warnings.warn(
                f"Metric {self.name!r}: {int(float(others)) + 1} labels are too few for the adjusted score of "
                f"{self.num_regressors} regressors; the result is the plain one.",
                stacklevel=2,
            )
            return score
        return 1.0 - ag.div_no_nan((1.0 - score) * others, others - float(self.num_regressors))
