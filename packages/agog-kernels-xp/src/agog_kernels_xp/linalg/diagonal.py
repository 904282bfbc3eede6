"""Diagonal: matrices with ones on it."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def eye(xp: Any, *, rows: int, columns: int, dtype: Any, index: int) -> Array:
    """Ones on the diagonal, zeros elsewhere."""
    return xp.eye(rows, columns, dtype=dtype)
