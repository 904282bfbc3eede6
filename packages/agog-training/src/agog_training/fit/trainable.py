"""Trainable: the protocol of models for `fit`, `evaluate` and `predict`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from agog_core import Tensor, Variable
from agog_core.replicas import Replicas
from agog_training.fit.objective import Objective
from agog_training.fit.traced_steps import TracedSteps

Gradients = list[tuple[Any, Variable]]


class Trainable(Protocol):
    """A compiled model; derived classes may override its ``train_step``, ``test_step``, ``predict_step``, ``metrics``
    and ``reset_metrics``."""

    optimizer: Any
    stop_training: bool
    # The variables that were trainable when `compile` was called; None if there were none.
    _trained: list[Variable] | None
    # Takes the gradients of each step, while `fit` runs.
    _on_gradients: Callable[[Gradients], None] | None
    # Those that share each batch; None where one process takes it all.
    _replicas: Replicas | None
    # Runs the steps as traced functions; None if they are called as they are.
    _compiled: TracedSteps | None

    @property
    def name(self) -> str: ...
    @property
    def objective(self) -> Objective: ...
    @property
    def metrics(self) -> list[Any]: ...
    @property
    def losses(self) -> list[Tensor]: ...
    @property
    def trainable(self) -> bool: ...
    @property
    def trainable_variables(self) -> list[Variable]: ...
    @property
    def variables(self) -> list[Variable]: ...
    @property
    def _input_symbols(self) -> list[Any] | None: ...
    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any: ...
    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any: ...
    def train_step(self, data: Any) -> dict[str, Any]: ...
    def test_step(self, data: Any) -> dict[str, Any]: ...
    def predict_step(self, data: Any) -> Any: ...
    def reset_metrics(self) -> None: ...
