"""Mean: the mean over batches, of values or of a function of labels and predictions."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, TensorLike, Variable, as_dtype, cast, convert_to_tensor
from agog_layers.losses.sample_weights import weighted_sum
from agog_layers.metrics.metric import Metric, arguments

__all__ = ["Mean"]


class Mean(Metric):
    """The mean of all values, weighted; NaN while there are none.

    It is called on values and weights: a scalar, or a tensor of the values' rank whose sizes are theirs or 1; None
    for 1. Weights of another shape are a ValueError.

    Args:
        name: the metric's name.
        dtype: the dtype of the sums and of the result.

    >>> mean = Mean("loss")
    >>> mean([1.0, 2.0])
    [1.0, 2.0]
    >>> mean(6.0)
    6.0
    >>> print(mean.result())
    tf.Tensor(3.0, shape=(), dtype=float64)
    """

    numer: Variable
    denom: Variable

    def __init__(self, name: str | None = None, dtype: Any = "float64", use_global_variables: bool = False) -> None:
        super().__init__(name)
        self.dtype = as_dtype(dtype)
        self.numer = self.add_variable("numer", dtype=self.dtype)
        self.denom = self.add_variable("denom", dtype=self.dtype)

    def call(self, values: TensorLike, weights: TensorLike = None) -> Any:
        """Take values into account, and return them; or the pair (values, weights) when weights are given."""
        self._add(convert_to_tensor(values), weights)
        return values if weights is None else (values, weights)

    def _add(self, values: Tensor, weights: TensorLike) -> None:
        total, count = weighted_sum(f"Metric {self.name!r}", cast(values, self.dtype), weights)
        self.numer.assign_add(total)
        self.denom.assign_add(count)

    def result(self, write_summary: bool = True) -> Tensor:
        """The mean of all values since the start, or since `init_variables`.

        Args:
            write_summary: whether to write the result to the default summary writer, if there is one.

        Returns:
            A scalar; NaN while there are no values.

        Raises:
            ValueError: ``write_summary`` is not a bool.
        """
        return self._with_summary(self.numer.value() / self.denom.value(), write_summary)


class PredictionMean(Mean):
    """Base of means of what labels and predictions say; NaN while there are none.

    They are called on labels, predictions and weights, as `Mean` is on values. An InvalidArgumentError says that the
    shapes of labels and predictions do not fit.
    """

    # It takes other arguments than a mean does, and is one all the same, as in TensorFlow.
    def call(self, labels: TensorLike, predictions: TensorLike, weights: TensorLike = None) -> Any:  # type: ignore[override]
        """Take predictions into account, and return the arguments; weights only when they are given."""
        self._add(self._values(labels, predictions), weights)
        return arguments(labels, predictions, weights)

    def _values(self, labels: TensorLike, predictions: TensorLike) -> Tensor:
        """The values of the mean."""
        raise NotImplementedError
