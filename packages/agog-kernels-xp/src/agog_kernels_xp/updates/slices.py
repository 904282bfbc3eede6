"""Slices of variables, updated in place."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def assign_slice(xp: Any, variable: Array, value: Array, *, key: tuple[Any, ...], operation: str) -> None:
    """A slice of a variable, replaced by or combined with a value."""
    at = (*(slice(*entry) if isinstance(entry, tuple) else entry for entry in key), ...)
    part = variable[at]
    if operation == "update":
        part[...] = value
    else:
        getattr(xp, operation)(part, value, out=part)
