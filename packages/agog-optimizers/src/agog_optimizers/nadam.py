"""NadamOptimizer: Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core import IndexedSlices, Variable
from agog_optimizers.adam import AdamOptimizer
from agog_optimizers.hyperparameters import times
from agog_optimizers.rows import distinct, gathered, scattered

__all__ = ["NadamOptimizer"]


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum.

    As `AdamOptimizer`, with ``beta1 * m + (1 - beta1) * gradient`` in the place of ``m`` in the step. T. Dozat,
    "Incorporating Nesterov momentum into Adam", ICLR 2016 workshop. The gradient of a lookup lets the slots of all rows
    decay, and changes only those rows of the variable that were looked up, as in TensorFlow 1.12.

    Arguments: see `AdamOptimizer`.

    >>> v = Variable(5.0)
    >>> NadamOptimizer(0.1).minimize(lambda: v * v)
    >>> print(f"{v:.3f}")
    4.810
    """

    def hyperparameters(self) -> dict[str, Any]:
        return {**super().hyperparameters(), "use_nesterov": True}

    def update_rows(
        self, variable: Variable, gradient: IndexedSlices, hyperparameters: dict[str, Any], slots: Sequence[Variable]
    ) -> None:
        rows, values = distinct(gradient)
        parts = gathered((variable, *slots), rows)
        self.update(parts[0], values, hyperparameters, parts[1:])
        for slot, beta in zip(slots, ("beta1", "beta2"), strict=True):
            slot.assign(times(slot._current(), hyperparameters[beta]))
        scattered((variable, *slots), rows, parts)
