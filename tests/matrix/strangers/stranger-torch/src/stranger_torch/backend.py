"""Backend: how arrays come to the device, leave it, and are copied on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from stranger_torch.array import Array


def from_host(host: np.ndarray[Any, Any], index: int) -> Array:
    """A copy of a host array on the device."""
    return Array(torch.from_numpy(np.array(host)))


def to_host(array: Array) -> np.ndarray[Any, Any]:
    """A copy on the host."""
    return np.array(array.native.resolve_conj().resolve_neg().numpy())


def copy(array: Array) -> Array:
    """A copy on the device, one row after the other in memory."""
    return Array(array.native.clone(memory_format=torch.contiguous_format))


def base(array: Array) -> Array:
    """The array that owns the memory of a view."""
    return array.base or array


def synchronize(index: int) -> None:
    """Nothing: on the CPU the library computes at once."""
