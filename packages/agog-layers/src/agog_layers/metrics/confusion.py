"""Confusion: precision, recall and the confusion matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import agog_core as ag
from agog_core import Tensor, convert_to_tensor
from agog_layers.losses.sample_weights import repeats
from agog_layers.metrics.correctness import above
from agog_layers.metrics.metric import Metric, arguments

__all__ = ["ConfusionMatrix", "Precision", "Recall"]


class _Share(Metric):
    """The share of true positives among all cases of some kind."""

    true_positives: ag.Variable
    # The name of the variable that counts the other cases.
    others: ClassVar[str]

    def __init__(self, name: str | None = None, threshold: float = 0.5, dtype: Any = "float64") -> None:
        super().__init__(name)
        self.threshold = threshold
        self.dtype = ag.as_dtype(dtype)
        for count in ("true_positives", self.others):
            setattr(self, count, self.add_variable(count, dtype=self.dtype))

    def call(self, labels: ag.TensorLike, predictions: ag.TensorLike, weights: ag.TensorLike = None) -> Any:
        """Take predictions into account, and return the arguments; weights only when they are given."""
        y, x = self._of_one_shape(labels, predictions)
        right, yes = truth(y), above(x, self.threshold)
        each = spread(f"Metric {self.name!r}", weights, x, self.dtype)
        for count, cases in (("true_positives", right & yes), (self.others, self._missed(right, yes))):
            getattr(self, count).assign_add(ag.reduce_sum(ag.cast(cases, self.dtype) * each))
        return arguments(labels, predictions, weights)

    def _missed(self, right: Tensor, yes: Tensor) -> Tensor:
        raise NotImplementedError

    def result(self, write_summary: bool = True) -> Tensor:
        """The share since the start, or since `init_variables`; NaN while there are no cases. See `Mean.result`."""
        hits = self.true_positives.value()
        return self._with_summary(hits / (hits + getattr(self, self.others).value()), write_summary)


class Precision(_Share):
    """The share of what was predicted that is right; NaN while nothing was predicted.

    Labels are bools, or numbers that are 0 for no; predictions, of the same shape, are bools, zeros and ones, or
    probabilities; weights: see `Mean`.

    Args:
        name: the metric's name.
        threshold: what predictions of yes are greater than.
        dtype: the dtype of the sums and of the result.

    >>> precision = Precision()
    >>> _ = precision(labels=[1, 1, 0, 0], predictions=[0.9, 0.2, 0.8, 0.1])
    >>> print(precision.result())
    tf.Tensor(0.5, shape=(), dtype=float64)
    """

    others = "false_positives"
    false_positives: ag.Variable

    def _missed(self, right: Tensor, yes: Tensor) -> Tensor:
        return ~right & yes


class Recall(_Share):
    """The share of what is right that was predicted; NaN while nothing was right. Its arguments: see `Precision`.

    >>> recall = Recall()
    >>> _ = recall(labels=[1, 1, 1, 0], predictions=[0.9, 0.2, 0.8, 0.1])
    >>> print(recall.result())
    tf.Tensor(0.6666666666666666, shape=(), dtype=float64)
    """

    others = "false_negatives"
    false_negatives: ag.Variable

    def _missed(self, right: Tensor, yes: Tensor) -> Tensor:
        return right & ~yes


class ConfusionMatrix(Metric):
    """How often each class was predicted where each class was right.

    Labels and predictions are class numbers, integers of one shape; weights: see `Mean`. Raises InvalidArgumentError if
    a class number is out of range, and TypeError for float weights with integer counts.

    Args:
        num_classes: the number of classes.
        name: the metric's name.
        dtype: the dtype of the counts; floats for weights that are no integers.

    >>> matrix = ConfusionMatrix(2)
    >>> _ = matrix(labels=[0, 1, 1], predictions=[0, 1, 0])
    >>> print(matrix.result())
    tf.Tensor(
    [[1 0]
     [1 1]], shape=(2, 2), dtype=int64)
    """

    counts: ag.Variable

    def __init__(self, num_classes: int, name: str | None = None, dtype: Any = "int64") -> None:
        super().__init__(name)
        self.num_classes = num_classes
        self.dtype = ag.as_dtype(dtype)
        self.counts = self.add_variable("counts", (num_classes, num_classes), self.dtype)

    def call(self, labels: ag.TensorLike, predictions: ag.TensorLike, weights: ag.TensorLike = None) -> Any:
        """Take predictions into account, and return the arguments; weights only when they are given."""
        y, x = self._of_one_shape(labels, predictions)
        if weights is not None:
            given = convert_to_tensor(weights).dtype
            if given.is_floating and not self.dtype.is_floating:
                raise TypeError(
                    f"Metric {self.name!r}: counts in {self.dtype.name} take weights that are integers; got "
                    f"{given.name}. Make the metric with dtype='float64'."
                )
        each = spread(f"Metric {self.name!r}", weights, x, self.dtype)
        flat = [ag.reshape(tensor, [-1]) for tensor in (y, x, each)]
        self.counts.assign_add(ag.confusion_matrix(flat[0], flat[1], self.num_classes, self.dtype, weights=flat[2]))
        return arguments(labels, predictions, weights)

    def result(self, write_summary: bool = True) -> Tensor:
        """The counts since the start, or since `init_variables`.

        Args:
            write_summary: True or False; a matrix is no scalar, and is not written.

        Returns:
            A tensor of shape ``(num_classes, num_classes)``: rows are labels, columns predictions.

        Raises:
            ValueError: ``write_summary`` is not a bool.
        """
        return self._with_summary(self.counts.value(), write_summary)


def truth(labels: Tensor) -> Tensor:
    """Make bools of labels: bools, or numbers that are 0 for no."""
    return labels if labels.dtype.name == "bool" else ag.not_equal(labels, 0)


def spread(what: str, weights: ag.TensorLike, values: Tensor, dtype: Any) -> Tensor:
    """Give each value its weight, of which None is 1 for each.

    >>> print(spread("mine", [[2.0]], convert_to_tensor([[1, 1]]), "float32"))
    tf.Tensor([[2. 2.]], shape=(1, 2), dtype=float32)
    """
    ones = ag.ones_like(values, dtype)
    if weights is None:
        return ones
    factors = ag.cast(weights, dtype)
    repeats(what, factors, values)
    return ones * factors
