"""Arguments of datasets' methods, checked."""

from __future__ import annotations

from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_core.threads.load import processors

AUTOTUNE = -1
"""Stands for a number of threads or elements that is chosen here."""


def integer(stage: str, name: str, value: Any) -> int:
    """The int of a Python or NumPy integer, or of a scalar integer tensor; else a TypeError, which names stage and
    argument."""
    try:
        number: int = value.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"{stage}: {name} must be an integer; got {value!r} of type {type(value).__name__}.") from None
    return number


def positive(stage: str, name: str, value: Any) -> int:
    """The int of what `integer` takes; an InvalidArgumentError below 1."""
    number = integer(stage, name, value)
    if number < 1:
        raise InvalidArgumentError(f"{stage}: {name} must be greater than zero; got {number}.")
    return number


def parallel_calls(stage: str, value: Any) -> int | None:
    """The number of threads in ``num_parallel_calls``: None for none, and -1, ``tf.data.AUTOTUNE``, for one for each
    processor that this process may use."""
    if value is None:
        return None
    number = integer(stage, "num_parallel_calls", value)
    return processors() if number == AUTOTUNE else positive(stage, "num_parallel_calls", number)


def count(stage: str, value: Any, name: str = "count") -> int:
    """The int of what `integer` takes: a number of elements, or -1; an InvalidArgumentError below that."""
    number = integer(stage, name, value)
    if number < -1:
        raise InvalidArgumentError(f"{stage}: {name} must be -1 or greater; got {number}.")
    return number
