"""Deferral: checks of values that a device makes when somebody waits for it anyway."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Array = Any
Check = Callable[..., None]
Defer = Callable[[tuple[Array, ...], Check], None]

# Array libraries whose plugin defers checks, with its function for that.
_deferring: dict[Any, Defer] = {}


def set_defer(xp: Any, defer: Defer) -> None:
    """Let the checks of a library's values be made later, by a function that takes the values and the check."""
    _deferring[xp] = defer


def check(xp: Any, look: Check, *values: Array) -> None:
    """Have values of rank 0 looked at by a function that raises where they are wrong: now, or when they are there.

    >>> import numpy
    >>> def look(lowest):
    ...     if lowest < 0:
    ...         raise ValueError(f"{lowest} is negative")
    >>> check(numpy, look, numpy.array([1, 2]).min())
    """
    if xp in _deferring:
        _deferring[xp](values, look)
    else:
        look(*values)
