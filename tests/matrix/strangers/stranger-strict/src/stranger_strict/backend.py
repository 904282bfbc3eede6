"""Backend: how arrays come to the device, leave it, and are copied on it."""

from __future__ import annotations

from typing import Any

import array_api_strict as xp
import numpy as np

from stranger_strict.array import Array


def from_host(host: np.ndarray[Any, Any], index: int) -> Array:
    """A copy of a host array on the device."""
    return Array(xp.asarray(host, copy=True))


def to_host(array: Array) -> np.ndarray[Any, Any]:
    """A copy on the host."""
    return np.array(array.native)


def copy(array: Array) -> Array:
    """A copy on the device."""
    return Array(xp.asarray(array.native, copy=True))


def base(array: Array) -> Array:
    """The array that owns the memory of a view."""
    return array.base or array


def synchronize(index: int) -> None:
    """Nothing: the library computes at once."""
