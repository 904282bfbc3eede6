"""Meters: accumulated losses and metrics of an epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from agog_core import Tensor, cast, convert_to_tensor, float64, nest, py_func, reduce_mean, reduce_sum, stack
from agog_core.replicas import present_replicas
from agog_core.tracers import present_tracer
from agog_layers.metrics import lookup as keras_metrics
from agog_training.fit.batches import Batch
from agog_training.fit.labels import compared_with

_CHOSEN = ("accuracy", "acc", "crossentropy", "ce")


class Answer(NamedTuple):
    """An output of a batch with what goes with it.

    Attributes:
        y: the labels; None if there are none.
        output: what the model returned.
        mask: 1 for the steps that count and 0 for others; None for 1.
        weights: the weights of the examples, or of their steps where there is a mask; None for 1.
    """

    y: Any
    output: Any
    mask: Any = None
    weights: Any = None


class _Late(NamedTuple):
    """A mean, or a sum, of so many numbers, in tensors that nobody has waited for."""

    value: Any
    count: Any
    is_mean: bool


# Of a meter, before it waits for them: they take memory.
_MOST_LATE = 256


class Meter:
    """The mean of numbers, or of a function of labels and outputs; or what a metric object adds up by itself.

    A function gives a number for each example, or one for the batch; where ``weighted``, the examples' weights count.
    The `Objective` says which ``output`` is measured, and by ``match`` what goes with it.

    >>> loss = Meter("loss")
    >>> loss.add(2.0, 3)
    >>> loss.add(6.0, 1)
    >>> loss.result()
    3.0
    >>> meter = Meter("difference", lambda y, p: y - p)
    >>> meter.update(Answer(convert_to_tensor([2.0, 3.0]), convert_to_tensor([1.0, 1.0])), 2)
    >>> meter.result()
    1.5
    """

    # Whether no number was taken into account.
    is_empty: bool
    output: int = 0
    match: Callable[[Any, Batch], list[Answer]]

    def __init__(self, name: str, metric: Any = None, weighted: bool = False) -> None:
        # Those that each have a part of what a function measures; losses come as those of whole batches.
        replicas = present_replicas() if metric is not None else None
        self._replicas = None if replicas is None or replicas.size == 1 else replicas
        self.name, self._metric, self._weighted = name, metric, weighted
        self._is_object = hasattr(metric, "result")
        self.reset_state()

    def reset_state(self) -> None:
        """Forget what was seen."""
        self._sum, self._count, self.is_empty = 0.0, 0.0, True
        self._late: list[_Late] = []
        if self._is_object:
            reset = getattr(self._metric, "reset_states", None) or self._metric.init_variables
            reset()

    reset_states = reset_state

    def add(self, value: Any, count: float) -> None:
        """Take ``count`` numbers of this mean into account; a device is waited for when somebody asks."""
        self.is_empty = False
        if is_late(value):
            self._wait_later(_Late(value, count, is_mean=True))
            return
        self._sum += float(value) * count
        self._count += count

    def _wait_later(self, late: _Late) -> None:
        self._late.append(late)
        if len(self._late) == _MOST_LATE:
            read_at_once([self])

    def update(self, answer: Answer, size: int) -> None:
        """Take a batch of ``size`` examples into account."""
        weights = answer.weights if self._weighted else answer.mask
        if self._is_object:
            update = getattr(self._metric, "update_state", self._metric)
            update(answer.y, answer.output, *([] if weights is None else [weights]))
            return
        values = convert_to_tensor(compared_with(self._metric, answer.y, answer.output))
        if not values.ndim:  # one number for the batch stands for all examples
            self.add(values, size)
            return
        count: Any
        if weights is None:
            total, count = reduce_sum(values), float(values.shape.num_elements() or 0)
        else:
            total, count = weighted_sums(values, weights)
        self.is_empty = False
        late = _Late(total, count, is_mean=False)
        if is_late(total):
            self._wait_later(late)
        else:
            self.take(late, float(total), float(count))

    def late(self) -> list[_Late]:
        """What nobody has waited for yet, to be taken now."""
        late, self._late = self._late, []
        return late

    def take(self, late: _Late, value: float, count: float) -> None:
        """Take what was late into account, with its numbers."""
        self._sum += (value if late.is_mean else value / (count or 1.0)) * count
        self._count += count

    def update_state(self, *values: Any, sample_weight: Any = None) -> None:
        """Take a loss into account, or labels and outputs with weights, in a step of a program's own."""
        at_each_step(self._take, *values, sample_weight)

    def _take(self, value: Any, outputs: Any = None, weights: Any = None) -> None:
        if self._metric is None:
            self.add(value, 1)
        else:
            answer = self.match(outputs, Batch(None, value, weights))[self.output]
            self.update(answer, int(answer.output.shape[0] or 1))

    def result(self) -> Any:
        """The value so far, where a step is traced as a tensor; NaN for the mean of nothing, 0 where nothing counts."""
        return self._value() if present_tracer() is None else py_func(lambda: np.float64(self._value()), [], float64)

    def _value(self) -> float:
        if self._is_object:
            return float(self._metric.result())
        if not self.is_empty:
            read_at_once([self])
        total, count, is_empty = self._sum, self._count, self.is_empty
        if self._replicas is not None:
            whole = self._replicas.all_reduce(convert_to_tensor([total, count, float(not is_empty)], "float64"))
            total, count, some = whole.numpy().tolist()
            is_empty = not some
        if is_empty:
            return float("nan")
        return total / count if count else 0.0

    def __repr__(self) -> str:
        return f"<metric {self.name!r}>"


def is_late(value: Any) -> bool:
    """Whether a number is on a device that has to be waited for."""
    return isinstance(value, Tensor) and not value._table.device.backend.host_memory


def read_at_once(meters: Sequence[Meter], others: Sequence[Tensor] = ()) -> list[float]:
    """Give meters the numbers that are late, and return other ones, with one wait for those of a device and dtype."""
    late = [(meter, each) for meter in meters for each in meter.late()]
    numbers = _read([*others, *(part for _, each in late for part in (each.value, each.count))])
    for place, (meter, each) in enumerate(late):
        meter.take(each, *numbers[len(others) + 2 * place :][:2])
    return numbers[: len(others)]


def _read(values: Sequence[Any]) -> list[float]:
    groups: dict[Any, list[int]] = {}
    for place, value in enumerate(values):
        groups.setdefault(value._table if is_late(value) else None, []).append(place)
    numbers = [0.0] * len(values)
    for table, places in groups.items():
        chosen = [values[place] for place in places]
        found = chosen if table is None or len(chosen) == 1 else stack(chosen).numpy()
        for place, number in zip(places, found, strict=True):
            numbers[place] = float(number)
    return numbers


def weighted_sums(values: Any, weights: Any) -> tuple[Tensor, Tensor]:
    """The sum of values, where each example has a weight, and the sum of the weights.

    The shape of the values, (batch, ...), begins with that of the weights; of what is beyond, the mean is taken.

    >>> [float(total) for total in weighted_sums([[1.0, 3.0], [5.0, 5.0]], [1.0, 0.5])]
    [4.5, 1.5]
    """
    numbers = convert_to_tensor(values)
    factors = cast(weights, numbers.dtype)
    if numbers.ndim > factors.ndim:
        numbers = reduce_mean(numbers, list(range(factors.ndim, numbers.ndim)))
    return reduce_sum(numbers * factors), reduce_sum(factors)


def make_meter(metric: Any, loss: Any, prefix: str, weighted: bool = False) -> Meter:
    """The meter of a metric, which is a name, a function of labels and predictions, or a metric object.

    ``loss`` is the output's loss, if it has one: it says which accuracy is meant. The meter's name begins with
    ``prefix``, and then it is the name that was given. Raises ValueError if the metric's name is unknown.
    """
    if weighted:
        prefix += "weighted_"
    if isinstance(metric, str) and metric in _CHOSEN:
        return Meter(prefix + metric, partial(_chosen, metric, loss), weighted)
    found = keras_metrics.get(metric)
    own = getattr(found, "name", None) or getattr(found, "__name__", type(found).__name__)
    name = metric if isinstance(metric, str) else str(own)
    return Meter(prefix + name, found, weighted)


def _chosen(metric: str, loss: Any, y: Any, output: Any) -> Any:
    """The accuracy or cross entropy that fits to a cross entropy; else the accuracy that fits to the shapes."""
    of_class = getattr(type(loss), "function", loss)
    if metric in ("accuracy", "acc") and not getattr(of_class, "__name__", "").endswith("crossentropy"):
        return keras_metrics.get(metric)(y, output)
    return keras_metrics.get_for(metric, loss, output.shape)(y, output)


def at_each_step(function: Callable[..., None], *values: Any) -> None:
    """Call a function of Python; where the step is traced, at each of its runs."""
    if present_tracer() is None:
        function(*values)
        return
    known = [value for value in values if value is not None]  # only the last one, the weights, may be None
    structure = nest.map_structure(lambda leaf: 0, known)  # without the tensors of this run

    def call(*arrays: Any) -> list[Any]:
        function(*nest.pack(structure, [convert_to_tensor(array) for array in arrays]))
        return []

    py_func(call, nest.flatten(known), [])
