"""Traced steps: the steps of a model as traced functions, for ``compile(jit_compile=True)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.tracing.functions.function import function as traced


class TracedSteps:
    """The traced steps of one model, by the function that takes a step; a copy of the model traces its own."""

    def __init__(self) -> None:
        self._steps: dict[Any, Any] = {}

    def __call__(self, model: object, step: Callable[..., Any], *args: Any) -> Any:
        """The result of ``step(model, *args)``, by its trace if there is one for such arguments."""
        found = self._steps.get(step)
        if found is None:

            def run(*given: Any) -> Any:
                return step(model, *given)

            run.__name__ = getattr(step, "__name__", "step")
            found = self._steps[step] = traced(run)
        return found(*args)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()
