"""Deferral: checks of values, deferred to the next wait for the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_kernels_xp.arrays import Array

Check = Callable[..., None]
Defer = Callable[[tuple[Array, ...], Check], None]

# Array libraries whose plugin defers checks, with its function for that. Kernels that are called often ask it
# themselves, so that NumPy's pay for no call.
deferring: dict[Any, Defer] = {}


def check(xp: Any, look: Check, *values: Array) -> None:
    """Have values of rank 0 looked at by a function that raises where they are wrong: now, or when they are there.

    >>> import numpy
    >>> def look(lowest):
    ...     if lowest < 0:
    ...         raise ValueError(f"{lowest} is negative")
    >>> check(numpy, look, numpy.array([1, 2]).min())
    """
    if xp in deferring:
        deferring[xp](values, look)
    else:
        look(*values)
