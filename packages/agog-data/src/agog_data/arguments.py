"""The arguments of datasets' methods, checked."""

from __future__ import annotations

from typing import Any

from agog_core.errors import InvalidArgumentError


def integer(stage: str, name: str, value: Any) -> int:
    """Check that an argument is an integer.

    Args:
        stage: the method, for the error.
        name: the argument, for the error.
        value: a Python or NumPy integer, or a scalar integer tensor.

    Returns:
        It.

    Raises:
        TypeError: it is no integer.
    """
    try:
        number: int = value.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"{stage}: {name} must be an integer; got {value!r} of type {type(value).__name__}.") from None
    return number


def positive(stage: str, name: str, value: Any) -> int:
    """Check that an argument is an integer above zero.

    Args:
        stage: the method, for the error.
        name: the argument, for the error.
        value: as for `integer`.

    Returns:
        It.

    Raises:
        TypeError: it is no integer.
        InvalidArgumentError: it is below 1.
    """
    number = integer(stage, name, value)
    if number < 1:
        raise InvalidArgumentError(f"{stage}: {name} must be greater than zero; got {number}.")
    return number


def count(stage: str, value: Any, name: str = "count") -> int:
    """Check that an argument is a number of elements, or -1.

    Args:
        stage: the method, for the error.
        value: as for `integer`.
        name: the argument, for the error.

    Returns:
        It.

    Raises:
        TypeError: it is no integer.
        InvalidArgumentError: it is below -1.
    """
    number = integer(stage, name, value)
    if number < -1:
        raise InvalidArgumentError(f"{stage}: {name} must be -1 or greater; got {number}.")
    return number
