"""Recurrent: `lstm`, `gru` and their gradients, all times of some examples in one turn."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

LEAST_TIMES = 5
"""Times from which on calls are taken: to go through fewer takes the reference no longer."""

LEAST = 4096
"""Products of all times from which on calls of fewer times are taken too."""


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op; a gradient goes the way that its layer went."""
    return _gradient(op) if op.endswith("_grad") else _layer(op)


def _layer(op: str) -> Callable[..., Any]:
    def layer(x: Any, kernel: Any, recurrent_kernel: Any, *arrays: Any, **attributes: Any) -> Any:
        times, batch, features = x.shape
        units = len(recurrent_kernel)
        if times < LEAST_TIMES and times * batch * (features + units) * units < LEAST:
            return NotImplemented
        return _function(op)(x, kernel, recurrent_kernel, *arrays, **attributes)

    return layer


def _gradient(op: str) -> Callable[..., Any]:
    def gradient(*arrays: Any, **attributes: Any) -> Any:
        return _function(op)(*arrays, **attributes)

    return gradient


@cache
def _function(op: str) -> Callable[..., Any]:
    """The function of an op, whose file is imported for the first call that is taken."""
    function: Callable[..., Any] = getattr(import_module(f"{__name__}.{op.partition('_')[0]}"), op)
    return function
