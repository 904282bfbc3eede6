"""Accuracy: the share of right predictions."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, TensorLike, argmax, cast, convert_to_tensor
from agog_core.errors import InvalidArgumentError
from agog_layers.metrics.correctness import in_top, likeliest, on_right_side, same
from agog_layers.metrics.mean import PredictionMean

__all__ = ["Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "SparseAccuracy", "SparseTopKAccuracy"]


class Accuracy(PredictionMean):
    """The share of predictions that equal their labels; NaN while there are none.

    Labels and predictions are of one shape, and compared by value, whatever the dtypes. Its arguments: see `Mean`.

    >>> accuracy = Accuracy()
    >>> _ = accuracy(labels=[1, 2, 3, 4], predictions=[1, 2, 3, 0])
    >>> print(accuracy.result())
    tf.Tensor(0.75, shape=(), dtype=float64)
    """

    def _values(self, labels: TensorLike, predictions: TensorLike) -> Tensor:
        return same(*self._of_one_shape(labels, predictions))


class CategoricalAccuracy(PredictionMean):
    """The share of examples with the right likeliest class; NaN while there are none.

    Labels are distributions over classes, such as one-hot rows, of shape ``(..., classes)``; predictions are logits or
    probabilities of that shape; weights are of rank 1 less. Its arguments: see `Mean`.

    >>> accuracy = CategoricalAccuracy()
    >>> _ = accuracy(labels=[[0, 1], [1, 0]], predictions=[[0.1, 0.9], [0.2, 0.8]])
    >>> print(accuracy.result())
    tf.Tensor(0.5, shape=(), dtype=float64)
    """

    def _values(self, labels: TensorLike, predictions: TensorLike) -> Tensor:
        return likeliest(*self._of_one_shape(labels, predictions))


class BinaryAccuracy(PredictionMean):
    """The share of labels, 0 or 1, that predictions are on the right side of a threshold for; NaN while there are none.

    Predictions are logits or probabilities, of the labels' shape.

    Args:
        threshold: what predictions of 1 are greater than: 0.5 for probabilities, 0 for logits.
        name: the metric's name.
        dtype: the dtype of the sums and of the result.

    >>> accuracy = BinaryAccuracy(threshold=0.0)
    >>> _ = accuracy(labels=[1, 0, 1], predictions=[2.5, -1.0, -0.5])
    >>> print(accuracy.result())
    tf.Tensor(0.6666666666666666, shape=(), dtype=float64)
    """

    def __init__(
        self,
        threshold: float,
        name: str | None = None,
        dtype: Any = "float64",
        use_global_variables: bool = False,
    ) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold

    def _values(self, labels: TensorLike, predictions: TensorLike) -> Tensor:
        return on_right_side(*self._of_one_shape(labels, predictions), self.threshold)


class SparseAccuracy(PredictionMean):
    """The share of examples whose likeliest class is their label; NaN while there are none.

    Labels are class numbers of shape ``(...)``; predictions are logits or probabilities of shape ``(..., classes)``.
    Its arguments: see `Mean`.

    >>> accuracy = SparseAccuracy()
    >>> _ = accuracy(labels=[1, 0], predictions=[[0.1, 0.9], [0.2, 0.8]])
    >>> print(accuracy.result())
    tf.Tensor(0.5, shape=(), dtype=float64)
    """

    def _values(self, labels: TensorLike, predictions: TensorLike) -> Tensor:
        y, x = self._with_classes(labels, predictions)
        return same(y, argmax(x, -1))

    def _with_classes(self, labels: TensorLike, predictions: TensorLike) -> tuple[Tensor, Tensor]:
        y, x = convert_to_tensor(labels), convert_to_tensor(predictions)
        if not x.ndim or y.shape != x.shape[:-1]:
            raise InvalidArgumentError(
                f"Metric {self.name!r}: predictions must have the labels' shape and an axis of classes after it; got "
                f"predictions of shape {x.shape} and labels of shape {y.shape}."
            )
        return y, x


class SparseTopKAccuracy(SparseAccuracy):
    """The share of examples whose label is among the likeliest classes; NaN while there are none.

    Labels are class numbers of shape ``(batch,)``; predictions are logits or probabilities of shape
    ``(batch, classes)``.

    Args:
        k: how many classes count as likeliest.
        name: the metric's name.
        dtype: the dtype of the sums and of the result.

    >>> accuracy = SparseTopKAccuracy(k=2)
    >>> _ = accuracy(labels=[1, 0], predictions=[[0.3, 0.2, 0.5], [0.2, 0.5, 0.3]])
    >>> print(accuracy.result())
    tf.Tensor(0.0, shape=(), dtype=float64)
    """

    def __init__(self, k: int = 5, name: str | None = None, dtype: Any = "float64") -> None:
        super().__init__(name, dtype)
        self.k = k

    def _values(self, labels: TensorLike, predictions: TensorLike) -> Tensor:
        y, x = self._with_classes(labels, predictions)
        return in_top(cast(y, "int64"), x, self.k)
