"""Global step: the variable with the number of a program's steps."""

from __future__ import annotations

import threading
from typing import Any

from agog_core.dispatch.devices.lookup import device
from agog_core.tensors.constant import constant
from agog_core.variables.variable import Variable

__all__ = ["create_global_step", "get_global_step", "get_or_create_global_step"]

# Held while the global step is made.
_lock = threading.Lock()
# The global step, once it is made.
_global_step: Variable | None = None


def get_global_step(graph: Any = None) -> Variable | None:
    """The global step, if there is one.

    Returns:
        The variable, or None before `get_or_create_global_step` was called.
    """
    return _global_step


def create_global_step(graph: Any = None) -> Variable:
    """Make the global step: an int64 variable that is not trained and starts at 0.

    Returns:
        The variable.

    Raises:
        ValueError: there is one already.

    >>> step = get_or_create_global_step()
    >>> create_global_step()
    Traceback (most recent call last):
    ValueError: create_global_step: the global step already exists; get_or_create_global_step() returns it.
    """
    if _global_step is not None:
        raise ValueError("create_global_step: the global step already exists; get_or_create_global_step() returns it.")
    return get_or_create_global_step()


def get_or_create_global_step(graph: Any = None) -> Variable:
    """The global step, made on the first call: an int64 variable that is not trained and starts at 0.

    Returns:
        The variable, the same one in all of the process.

    >>> step = get_or_create_global_step()
    >>> step is get_or_create_global_step(), step.dtype
    (True, tf.int64)
    """
    global _global_step
    with _lock:
        if _global_step is None:
            with device(None):  # in host memory, where counting is cheap
                _global_step = Variable(constant(0, "int64"), trainable=False, name="global_step")
    return _global_step


def forget_global_step() -> None:
    """Let the next `get_or_create_global_step` make another one, as a test of TensorFlow finds a new graph."""
    global _global_step
    with _lock:
        _global_step = None
