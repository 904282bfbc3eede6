"""Hyperparameters: numbers, tensors, variables or functions, read at each step."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, Variable, device, multiply
from agog_core.tracers import called, operand

Number = Any
"""A number, a `Tensor` or `Variable` that holds one, or a function without arguments that returns one of these."""


def number(value: Number) -> float:
    """The present value of a hyperparameter.

    >>> number(0.5), number(lambda: 1)
    (0.5, 1.0)
    """
    if type(value) is float:
        return value
    if not callable(value):
        return float(value)
    with device("/cpu:0"):  # where nobody has to wait for what a schedule computes
        return float(called(value))


def times(x: Tensor, factor: float) -> Tensor:
    """A tensor times a number that `agog_core.tracers.late` gave.

    >>> from agog_core import constant
    >>> times(constant([1.0, 2.0]), 0.5).numpy().tolist()
    [0.5, 1.0]
    """
    return multiply(x, operand(factor, x.dtype))


def checked_number(optimizer: str, name: str, value: Number) -> Number:
    """A hyperparameter, Python numbers as float; raises TypeError if it is none, with both names in the text."""
    if callable(value) or isinstance(value, (Tensor, Variable)):
        return value
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise TypeError(
            f"{optimizer}: {name} must be a number, a tensor, a variable, or a function that returns one; got "
            f"{value!r} of type "
            f"{type(value).__name__}."
        )
    return float(value)


def shown(value: Number) -> str:
    """A hyperparameter as a text; functions are not called.

    >>> shown(0.5), shown(Variable(0.5, name="rate")), shown(number)
    ('0.5', '0.5', '<number>')
    """
    if callable(value):
        return f"<{getattr(value, '__name__', type(value).__name__)}>"
    return str(value.numpy() if isinstance(value, (Tensor, Variable)) else value)


def checked_positive(optimizer: str, name: str, value: float) -> float:
    """A number; raises ValueError if it is not positive, with both names in the text."""
    if not value > 0:
        raise ValueError(f"{optimizer}: {name} must be positive; got {value!r}.")
    return float(value)
