"""Errors: distances of predictions from labels."""

from __future__ import annotations

from agog_core import Tensor, TensorLike, cast, sqrt
from agog_layers.losses.formulas import absolute_error, squared_error
from agog_layers.metrics.mean import PredictionMean

__all__ = ["MeanAbsoluteError", "MeanSquaredError", "RootMeanSquaredError"]


class MeanSquaredError(PredictionMean):
    """The mean of the squared differences of labels and predictions; NaN while there are none.

    Labels and predictions are numbers of one shape. Its arguments: see `Mean`.

    >>> error = MeanSquaredError()
    >>> _ = error(labels=[1.0, 2.0], predictions=[1.0, 5.0])
    >>> print(error.result())
    tf.Tensor(4.5, shape=(), dtype=float64)
    """

    def _values(self, labels: TensorLike, predictions: TensorLike) -> Tensor:
        y, x = self._of_one_shape(labels, predictions)
        return self._distances(cast(y, self.dtype), cast(x, self.dtype))

    def _distances(self, labels: Tensor, predictions: Tensor) -> Tensor:
        return squared_error(labels, predictions)


class MeanAbsoluteError(MeanSquaredError):
    """The mean of the absolute differences of labels and predictions; NaN while there are none.

    Labels and predictions are numbers of one shape. Its arguments: see `Mean`.

    >>> error = MeanAbsoluteError()
    >>> _ = error(labels=[1.0, 2.0], predictions=[1.0, 5.0])
    >>> print(error.result())
    tf.Tensor(1.5, shape=(), dtype=float64)
    """

    def _distances(self, labels: Tensor, predictions: Tensor) -> Tensor:
        return absolute_error(labels, predictions)


class RootMeanSquaredError(MeanSquaredError):
    """The root of the mean of the squared differences of labels and predictions; NaN while there are none.

    Labels and predictions are numbers of one shape. Its arguments: see `Mean`.

    >>> error = RootMeanSquaredError()
    >>> _ = error(labels=[0.0, 0.0], predictions=[1.0, 7.0])
    >>> print(error.result())
    tf.Tensor(5.0, shape=(), dtype=float64)
    """

    def result(self, write_summary: bool = True) -> Tensor:
        """The root of the mean of all squares. Its arguments: see `Mean.result`."""
        return self._with_summary(sqrt(self.numer.value() / self.denom.value()), write_summary)
