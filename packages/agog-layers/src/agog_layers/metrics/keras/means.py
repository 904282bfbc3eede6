"""Means: metrics of ``tf.keras`` as means of functions of labels and predictions."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, cast, sqrt
from agog_layers.losses import classification, regression
from agog_layers.metrics import correctness
from agog_layers.metrics.keras.metric import FunctionMean

__all__ = [
    "Accuracy",
    "BinaryAccuracy",
    "BinaryCrossentropy",
    "CategoricalAccuracy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "CosineProximity",
    "Hinge",
    "KLDivergence",
    "LogCoshError",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "RootMeanSquaredError",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy",
    "SparseTopKCategoricalAccuracy",
    "SquaredHinge",
    "TopKCategoricalAccuracy",
]


def _equal(y_true: Tensor, y_pred: Tensor) -> Tensor:
    return cast(correctness.same(y_true, y_pred), "float32")


class Accuracy(FunctionMean, function=_equal):
    """The share of predictions that equal their labels.

    >>> print(Accuracy()([1, 2, 3], [1, 2, 0]))
    tf.Tensor(0.6666667, shape=(), dtype=float32)
    """


class BinaryAccuracy(FunctionMean, function=correctness.binary_accuracy, options=("threshold",)):
    """The mean `binary_accuracy`.

    Args:
        threshold: what predictions of 1 are greater than.
        Other arguments: see `Metric`.

    >>> print(BinaryAccuracy()([[1], [0]], [[0.9], [0.7]]))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """

    def __init__(self, name: str | None = None, dtype: Any = None, threshold: float = 0.5) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold


class CategoricalAccuracy(FunctionMean, function=correctness.categorical_accuracy):
    """The mean `categorical_accuracy`."""


class SparseCategoricalAccuracy(FunctionMean, function=correctness.sparse_categorical_accuracy):
    """The mean `sparse_categorical_accuracy`."""


class TopKCategoricalAccuracy(FunctionMean, function=correctness.categorical_in_top, options=("k",)):
    """The mean `top_k_categorical_accuracy`.

    Args:
        k: how many classes count as likeliest.
        Other arguments: see `Metric`.
    """

    def __init__(self, k: int = 5, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.k = k


class SparseTopKCategoricalAccuracy(TopKCategoricalAccuracy, function=correctness.sparse_in_top):
    """The mean `sparse_top_k_categorical_accuracy`. Its arguments: see `TopKCategoricalAccuracy`."""


class MeanSquaredError(FunctionMean, function=regression.mean_squared_error):
    """The mean `mean_squared_error`."""


class RootMeanSquaredError(MeanSquaredError):
    """The root of the mean `mean_squared_error`.

    >>> print(RootMeanSquaredError()([[0.0], [0.0]], [[1.0], [7.0]]))
    tf.Tensor(5.0, shape=(), dtype=float32)
    """

    def result(self) -> Tensor:
        """The root of the mean; 0 while there are no values."""
        return sqrt(super().result())


class MeanAbsoluteError(FunctionMean, function=regression.mean_absolute_error):
    """The mean `mean_absolute_error`."""


class MeanAbsolutePercentageError(FunctionMean, function=regression.mean_absolute_percentage_error):
    """The mean `mean_absolute_percentage_error`."""


class MeanSquaredLogarithmicError(FunctionMean, function=regression.mean_squared_logarithmic_error):
    """The mean `mean_squared_logarithmic_error`."""


class LogCoshError(FunctionMean, function=regression.logcosh):
    """The mean `logcosh`."""


class Poisson(FunctionMean, function=regression.poisson):
    """The mean `poisson`."""


class KLDivergence(FunctionMean, function=regression.kullback_leibler_divergence):
    """The mean `kullback_leibler_divergence`.

    Args:
        Other arguments: see `Metric`.
    """

    def __init__(self, name: str | None = "kullback_leibler_divergence", dtype: Any = None) -> None:
        super().__init__(name, dtype)


class CosineProximity(FunctionMean, function=regression.cosine_proximity):
    """The mean `cosine_proximity`."""


class Hinge(FunctionMean, function=classification.hinge):
    """The mean `hinge`."""


class SquaredHinge(FunctionMean, function=classification.squared_hinge):
    """The mean `squared_hinge`."""


class CategoricalHinge(FunctionMean, function=classification.categorical_hinge):
    """The mean `categorical_hinge`."""


class SparseCategoricalCrossentropy(
    FunctionMean, function=classification.sparse_categorical_crossentropy, options=("from_logits",)
):
    """The mean `sparse_categorical_crossentropy`.

    Args:
        from_logits: whether the predictions are logits.
        Other arguments: see `Metric`.
    """

    def __init__(self, name: str | None = None, dtype: Any = None, from_logits: bool = False) -> None:
        super().__init__(name, dtype)
        self.from_logits = from_logits


class CategoricalCrossentropy(
    FunctionMean, function=classification.categorical_crossentropy, options=("from_logits", "label_smoothing")
):
    """The mean `categorical_crossentropy`.

    Args:
        from_logits: whether the predictions are logits.
        label_smoothing: the share of each label that is spread evenly over the classes.
        Other arguments: see `Metric`.
    """

    def __init__(
        self,
        name: str | None = None,
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        super().__init__(name, dtype)
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing


class BinaryCrossentropy(CategoricalCrossentropy, function=classification.binary_crossentropy):
    """The mean `binary_crossentropy`.

    Args:
        from_logits: whether the predictions are logits.
        label_smoothing: how far labels are moved towards 1/2, from 0 to 1.
        Other arguments: see `Metric`.
    """
