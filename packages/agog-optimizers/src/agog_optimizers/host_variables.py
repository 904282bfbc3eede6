"""Host variables: counters of an optimizer in host memory, so that reads wait for no device."""

from __future__ import annotations

from agog_core import Variable, constant, device


def host_variable(value: float, dtype: str, name: str) -> Variable:
    """Make a variable that holds a number in host memory."""
    with device(None):
        return Variable(constant(value, dtype), trainable=False, name=name)
