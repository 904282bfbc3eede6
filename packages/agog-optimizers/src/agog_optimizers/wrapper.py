"""OptimizerWrapper: the base of optimizers around another one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agog_core import GradientTape, TensorLike, Variable
from agog_optimizers.optimizer import Optimizer
from agog_optimizers.slots import Slots
from agog_optimizers.step import coarsest


class OptimizerWrapper(Optimizer, step_unit="element"):
    """Lets another optimizer take the steps, and does nothing else; raises ValueError if ``opt`` is no optimizer."""

    def __init__(self, opt: Optimizer, name: str) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f"{name}: opt must be an Optimizer; got {opt!r} of type {type(opt).__name__}.")
        self.optimizer = opt
        self._name = name
        self._slots = Slots()

    @property
    def step_unit(self) -> str:
        return coarsest(super().step_unit, self.optimizer.step_unit)

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list[tuple[Any, Variable]]:
        return self.optimizer.compute_gradients(loss, *args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[TensorLike, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> None:
        self.optimizer.apply_gradients(grads_and_vars, global_step, name)

    def gradient_tape(self, watch_accessed_variables: bool = True) -> GradientTape:
        return self.optimizer.gradient_tape(watch_accessed_variables)

    def prepare(self, variables: Iterable[Variable]) -> None:
        variables = list(variables)
        super().prepare(variables)
        self.optimizer.prepare(variables)

    def _shown(self) -> dict[str, Any]:
        return {**super()._shown(), "optimizer": self.optimizer}

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """See `Optimizer.get_slot`; the slot is this optimizer's, or else the other one's."""
        own = super().get_slot(var, name)
        return self.optimizer.get_slot(var, name) if own is None else own

    def get_slot_names(self) -> list[str]:
        """See `Optimizer.get_slot_names`; the names are those of both optimizers."""
        return sorted({*super().get_slot_names(), *self.optimizer.get_slot_names()})

    def variables(self) -> list[Variable]:
        """See `Optimizer.variables`; the variables are those of both optimizers."""
        return sorted([*super().variables(), *self.optimizer.variables()], key=lambda variable: variable.name)
