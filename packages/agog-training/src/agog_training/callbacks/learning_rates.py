"""Learning rates: reading and setting them, and a schedule by epochs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from agog_core import Variable
from agog_training.callbacks.callback import Callback, Logs

__all__ = ["LearningRateScheduler"]


def learning_rate(optimizer: Any) -> float:
    """The learning rate of an optimizer now.

    >>> from agog_optimizers import GradientDescentOptimizer
    >>> learning_rate(GradientDescentOptimizer(0.5))
    0.5
    """
    rate = optimizer.lr if hasattr(optimizer, "lr") else optimizer.learning_rate
    return float(rate() if callable(rate) else rate)


def set_learning_rate(optimizer: Any, rate: float) -> None:
    """Set an optimizer's learning rate; a variable that holds it is assigned, and a function raises ValueError.

    >>> from agog_optimizers import GradientDescentOptimizer
    >>> optimizer = GradientDescentOptimizer(0.5)
    >>> set_learning_rate(optimizer, 0.25)
    >>> learning_rate(optimizer)
    0.25
    """
    name = "lr" if hasattr(optimizer, "lr") else "learning_rate"
    present = getattr(optimizer, name)
    if isinstance(present, Variable):
        present.assign(rate)
    elif callable(present):
        raise ValueError(
            f"{type(optimizer).__name__}: a function computes the learning rate, so it cannot be set; pass a number or "
            "a tf.Variable as learning_rate instead."
        )
    else:
        setattr(optimizer, name, float(rate))


class LearningRateScheduler(Callback):
    """Sets the learning rate at the start of each epoch.

    Args:
        schedule: takes the epoch's number, and the learning rate if it has a second argument; returns the new one.
        verbose: 1 to print a line.
    """

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        self.schedule, self.verbose = schedule, verbose
        self._takes_rate = len(inspect.signature(schedule).parameters) > 1

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        optimizer = self.model.optimizer
        rate = self.schedule(epoch, learning_rate(optimizer)) if self._takes_rate else self.schedule(epoch)
        if not hasattr(rate, "__float__"):
            raise TypeError(
                f"LearningRateScheduler: the schedule must return a number; got {rate!r} of type {type(rate).__name__}."
            )
        set_learning_rate(optimizer, float(rate))
        if self.verbose:
            print(f"Epoch {epoch + 1}: the learning rate is {float(rate):g}")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if logs is not None:
            logs["lr"] = learning_rate(self.model.optimizer)
