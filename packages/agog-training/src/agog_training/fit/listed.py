"""Listed: the losses and metrics of `compile` as objects, for the steps of a program's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_core import convert_to_tensor, float64, nest, py_func
from agog_core.tracers import present_tracer
from agog_training.fit.batches import Batch
from agog_training.fit.meters import Mean, Meter


class ListedMetric:
    """A loss or metric of `Model.compile`, as an object that ``train_step`` can update and ask."""

    def __init__(self, meter: Mean | Meter, update: Callable[..., None]) -> None:
        self._meter, self._update = meter, update
        self.name = meter.name

    def update_state(self, *values: Any, sample_weight: Any = None) -> None:
        """Take a loss, or labels and outputs, into account, with the weights of examples behind them."""
        _at_each_step(self._update, *values, sample_weight)

    def result(self) -> Any:
        """The value so far."""
        if present_tracer() is None:
            return self._meter.result()
        return py_func(lambda: np.float64(self._meter.result()), [], float64)

    def reset_state(self) -> None:
        """Forget what was seen."""
        self._meter.reset()

    reset_states = reset_state

    def __repr__(self) -> str:
        return f"<metric {self.name!r}>"


class CompiledLoss:
    """The loss of `Model.compile` as a function, which also keeps its mean for the history."""

    def __init__(self, objective: Any) -> None:
        self._objective = objective

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None, regularization_losses: Sequence[Any] | None = None
    ) -> Any:
        """The loss of a batch, with further terms; its mean takes it into account."""
        objective = self._objective
        answers = objective.match(y_pred, Batch(None, y_true, sample_weight))
        losses = objective.losses(answers, regularization_losses or ())
        size = int(answers[0].output.shape[0] or 1)
        for mean in objective.means:
            if mean.name in losses:
                _at_each_step(lambda value, mean=mean: mean.add(float(value), size), losses[mean.name])
        return losses["loss"]


class CompiledMetrics:
    """The metrics of `Model.compile` as one."""

    def __init__(self, objective: Any) -> None:
        self.metrics = _metrics_of(objective)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Take a batch into account."""
        for metric in self.metrics:
            metric.update_state(y_true, y_pred, sample_weight=sample_weight)


def listed_metrics(model: Any) -> list[Any]:
    """The losses and metrics that a model was compiled with, and those in its attributes."""
    objective = vars(model).get("_objective")
    known: list[Any] = []
    if objective is not None:
        known += [ListedMetric(mean, _mean_update(mean)) for mean in objective.means]
        known += _metrics_of(objective)
    own = [part for part in vars(model).values() if hasattr(part, "update_state") and hasattr(part, "result")]
    return known + own


def _metrics_of(objective: Any) -> list[ListedMetric]:
    return [ListedMetric(meter, _meter_update(objective, place, meter)) for place, meter in objective.meters]


def _mean_update(mean: Mean) -> Callable[..., None]:
    def update(value: Any, sample_weight: Any = None) -> None:
        mean.add(float(value), 1)

    return update


def _meter_update(objective: Any, place: int, meter: Meter) -> Callable[..., None]:
    def update(y: Any, y_pred: Any, sample_weight: Any = None) -> None:
        answer = objective.match(y_pred, Batch(None, y, sample_weight))[place]
        meter.update(answer, int(answer.output.shape[0] or 1))

    return update


def _at_each_step(function: Callable[..., None], *values: Any) -> None:
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
