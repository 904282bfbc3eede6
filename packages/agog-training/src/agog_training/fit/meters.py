"""Meters: running means of losses and metrics over an epoch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from agog_core import Tensor, cast, convert_to_tensor, multiply, reduce_mean, reduce_sum
from agog_layers.metrics import named as keras_metrics
from agog_training.fit.labels import compared_with

_CHOSEN = ("accuracy", "acc", "crossentropy", "ce")


class Mean:
    """The mean of numbers, by the name that results call it.

    >>> mean = Mean("loss")
    >>> mean.add(2.0, 3)
    >>> mean.add(6.0, 1)
    >>> mean.result()
    3.0
    """

    # Whether no number was taken into account.
    is_empty: bool

    def __init__(self, name: str) -> None:
        self.name = name
        self.reset()

    def reset(self) -> None:
        """Forget all numbers."""
        self._sum, self._count, self.is_empty = 0.0, 0.0, True

    def add(self, value: float, count: float) -> None:
        """Take ``count`` numbers of this mean into account."""
        self._sum += value * count
        self._count += count
        self.is_empty = False

    def result(self) -> float:
        """The mean so far; NaN while there is none, and 0 where none of them counts."""
        if self.is_empty:
            return float("nan")
        return self._sum / self._count if self._count else 0.0


class Answer(NamedTuple):
    """An output of a batch with what goes with it.

    Attributes:
        y: the labels; None where there are none.
        output: what the model returned.
        mask: 1 for the steps that count and 0 for others; None for 1.
        weights: the weights of the examples, or of their steps where there is a mask; None for 1.
    """

    y: Any
    output: Any
    mask: Any = None
    weights: Any = None


class Meter(Mean):
    """The mean of a function of labels and predictions, over all that it gives a number for.

    The function gives a number for each example, or one for the batch; where ``weighted``, the examples' weights count.

    >>> meter = Meter("difference", lambda y, p: y - p)
    >>> meter.update(Answer(convert_to_tensor([2.0, 3.0]), convert_to_tensor([1.0, 1.0])), 2)
    >>> meter.result()
    1.5
    """

    def __init__(self, name: str, function: Callable[[Any, Any], Any], weighted: bool = False) -> None:
        super().__init__(name)
        self._function, self._weighted = function, weighted

    def update(self, answer: Answer, size: int) -> None:
        """Take a batch of ``size`` examples into account."""
        weights = answer.weights if self._weighted else answer.mask
        values = convert_to_tensor(compared_with(self._function, answer.y, answer.output))
        if not values.ndim:  # one number for the batch stands for all examples
            self.add(float(values), size)
            return
        if weights is None:
            total, count = reduce_sum(values), float(values.shape.num_elements() or 0)
        else:
            total, count = weighted_sum(values, weights)
        self.add(float(total) / (count or 1.0), count)


def weighted_sum(values: Any, weights: Any) -> tuple[Tensor, float]:
    """The sum of values, where each example has a weight, and the sum of the weights.

    The shape of the values, (batch, ...), begins with that of the weights; of what is beyond, the mean is taken.

    >>> weighted_sum([[1.0, 3.0], [5.0, 5.0]], [1.0, 0.5])
    (<tf.Tensor: id=..., shape=(), dtype=float32, numpy=4.5>, 1.5)
    """
    total, count = weighted_parts(values, weights)
    return total, float(count)


def weighted_parts(values: Any, weights: Any) -> tuple[Tensor, Tensor]:
    """The same with the sum of the weights as a tensor."""
    numbers = convert_to_tensor(values)
    factors = cast(weights, numbers.dtype)
    if numbers.ndim > factors.ndim:
        numbers = reduce_mean(numbers, list(range(factors.ndim, numbers.ndim)))
    return reduce_sum(multiply(numbers, factors)), reduce_sum(factors)


class ObjectMeter(Meter):
    """A metric object of ``tf.keras.metrics`` or ``tfe.metrics``, which adds up by itself."""

    def __init__(self, name: str, metric: Any, weighted: bool = False) -> None:
        self._metric = metric
        super().__init__(name, metric, weighted)

    def reset(self) -> None:
        """Forget all batches."""
        reset = getattr(self._metric, "reset_states", None) or self._metric.init_variables
        reset()

    def update(self, answer: Answer, size: int) -> None:
        """See `Meter.update`."""
        weights = answer.weights if self._weighted else answer.mask
        self._metric(answer.y, answer.output, *([] if weights is None else [weights]))

    def result(self) -> float:
        """The metric so far."""
        return float(self._metric.result())


def make_meter(metric: Any, loss: Any, prefix: str, weighted: bool = False) -> Meter:
    """The meter of a metric, which is a name, a function of labels and predictions, or a metric object.

    ``loss`` is the output's loss, if it has one: it says which accuracy is meant. The meter's name begins with
    ``prefix``, and then it is the name that was given. Raises ValueError where the metric's name is unknown.
    """
    if weighted:
        prefix += "weighted_"
    if isinstance(metric, str) and metric in _CHOSEN:
        return Meter(prefix + metric, partial(_chosen, metric, loss), weighted)
    found = keras_metrics.get(metric)
    own = getattr(found, "name", None) or getattr(found, "__name__", type(found).__name__)
    name = metric if isinstance(metric, str) else str(own)
    if hasattr(found, "result"):
        return ObjectMeter(prefix + name, found, weighted)
    return Meter(prefix + name, found, weighted)


def _chosen(metric: str, loss: Any, y: Any, output: Any) -> Any:
    """The accuracy or cross entropy that fits to a cross entropy; else the accuracy that fits to the shapes."""
    of_class = getattr(type(loss), "function", loss)
    if metric in ("accuracy", "acc") and not getattr(of_class, "__name__", "").endswith("crossentropy"):
        return keras_metrics.get(metric)(y, output)
    return keras_metrics.get_for(metric, loss, output.shape)(y, output)
