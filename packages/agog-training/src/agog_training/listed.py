"""Listed: the metrics of `Model.metrics`, which steps of a program's own bring up to date."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_training.batches import Batch
from agog_training.meters import Mean, Meter


class ListedMetric:
    """A loss or metric of `Model.compile`, as an object that ``train_step`` can update and ask."""

    def __init__(self, meter: Mean | Meter, update: Callable[..., None]) -> None:
        self._meter, self.update_state = meter, update
        self.name = meter.name

    def result(self) -> float:
        """The value so far."""
        return self._meter.result()

    def reset_state(self) -> None:
        """Forget what was seen."""
        self._meter.reset()

    reset_states = reset_state

    def __repr__(self) -> str:
        return f"<metric {self.name!r}>"


def listed_metrics(model: Any) -> list[Any]:
    """The losses and metrics that a model was compiled with, and those in its attributes."""
    objective = vars(model).get("_objective")
    known: list[Any] = []
    if objective is not None:
        known += [ListedMetric(mean, _mean_update(mean)) for mean in objective.means]
        known += [ListedMetric(meter, _meter_update(objective, place, meter)) for place, meter in objective.meters]
    own = [part for part in vars(model).values() if hasattr(part, "update_state") and hasattr(part, "result")]
    return known + own


def _mean_update(mean: Mean) -> Callable[..., None]:
    def update_state(value: Any, sample_weight: Any = None) -> None:
        mean.add(float(value), 1)

    return update_state


def _meter_update(objective: Any, place: int, meter: Meter) -> Callable[..., None]:
    def update_state(y: Any, y_pred: Any, sample_weight: Any = None) -> None:
        answer = objective.match(y_pred, Batch(None, y, sample_weight))[place]
        meter.update(answer, int(answer.output.shape[0] or 1))

    return update_state
