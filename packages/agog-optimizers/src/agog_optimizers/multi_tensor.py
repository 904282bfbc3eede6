"""Multi-tensor steps: one launch for the steps of many variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agog_core import Tensor, Variable

Steps = list[tuple[Any, Variable]]


def take_several(
    step: Any, steps: Steps, slots_of: Callable[[Variable], Mapping[str, Variable]], hyperparameters: dict[str, Any]
) -> Steps:
    """Take one joint step for the variables that allow it; return the other (gradient, variable) pairs.

    These are the gradients of lookups, variables with a constraint, and all where the first variable's device takes
    each alone, or where a variable comes twice: its second step takes what the first has left.
    """
    if not hasattr(step, "several") or not step.takes_several(steps[0][1]):
        return steps
    if len({id(variable) for _, variable in steps}) < len(steps):
        return steps
    together, left = [], []
    for gradient, variable in steps:
        slots = slots_of(variable)  # made in the order of the variables, whichever go together
        if type(gradient) is Tensor and variable._constraint is None:
            together.append(((variable, *slots.values()), (gradient,)))
        else:
            left.append((gradient, variable))
    step.several(together, **hyperparameters)
    return left
