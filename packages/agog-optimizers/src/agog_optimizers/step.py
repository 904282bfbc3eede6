"""Step: what the class of an optimizer says of its step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _no_step(*arrays: Any, **hyperparameters: Any) -> None:
    """The step of an optimizer that names none; see `Optimizer.step_op`."""
    raise NotImplementedError(
        "Optimizer: `update` must be overridden, or `step_op` be the op that changes a variable; neither is so."
    )


def coarsest(*units: str) -> str:
    """The one of several `Optimizer.step_unit` that comprises the others."""
    return max(units, key=("element", "variable", "all").index)


class Step:
    """What a subclass says of its step, in its class: ``class MyOptimizer(Optimizer, step_op=...)``."""

    step_op: Callable[..., None] = staticmethod(_no_step)
    """The op that takes a step: ``step_op(variable, *slots, gradient, **hyperparameters)``. Where `update` is not
    overridden, a device may take it for all variables at once."""

    touches_rows_only = False
    """Whether the gradient of a lookup changes only the rows, of the variable and of its slots, that were looked up.
    Otherwise it counts as 0 in the others, and they move as their slots have it."""

    _step_unit = "element"

    def __init_subclass__(
        cls,
        *,
        step_op: Callable[..., None] | None = None,
        step_unit: str | None = None,
        touches_rows_only: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init_subclass__(**kwargs)
        if step_unit is None and "apply_gradients" in vars(cls):
            step_unit = "all"  # which may be clipped by their global norm there
        if step_unit is None and (step_op is not None or "update" in vars(cls)):
            step_unit = "variable"
        if step_unit is not None:
            cls._step_unit = step_unit
        if step_op is not None:
            cls.step_op = staticmethod(step_op)
        if touches_rows_only is not None:
            cls.touches_rows_only = touches_rows_only

    @property
    def step_unit(self) -> str:
        """What a step looks at together: ``"element"``, ``"variable"`` (of which it takes the norm, say) or ``"all"``.
        A class says ``step_unit="element"`` of its own step, or it is taken for more; shared state is divided so."""
        return coarsest(*(vars(kind).get("_step_unit", "element") for kind in type(self).__mro__))
