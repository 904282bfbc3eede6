"""Host variables: counters of an optimizer in host memory, so that reads wait for no device."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from agog_core import Variable, constant, device
from agog_core.dispatch.devices.lookup import scopes
from agog_optimizers.hyperparameters import times


def host_variable(value: float, dtype: str, name: str) -> Variable:
    """Make a variable that holds a number in host memory."""
    with device(None):
        return Variable(constant(value, dtype), trainable=False, name=name)


def scale(variable: Variable, factor: Any) -> None:
    """Multiply such a variable by a number that `agog_core.tracers.late` gave, whatever device the program has chosen.

    >>> power = host_variable(0.5, "float64", "power")
    >>> scale(power, 0.5)
    >>> print(power.numpy())
    0.25
    """
    with device(None) if scopes else nullcontext():  # in a scope every op looks for its device
        variable.assign(times(variable._current(), factor))
