"""Check numerics: counts of numbers that are not finite."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def check_numerics(xp: Any, tensor: Array, *, message: str) -> tuple[Array, Array]:
    """The array itself, and how many NaN and infinities it has."""
    return tensor, xp.stack([xp.isnan(tensor).sum(dtype="int64"), xp.isinf(tensor).sum(dtype="int64")])
