"""Unique: distinct elements."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.sort_keys import comparable


def unique_with_counts(xp: Any, x: Array, *, dtype: Any) -> tuple[Array, Array, Array]:
    """The different elements in the order in which they first occur, which of them each element is, and how often."""
    _, first, of_sorted, counts = xp.unique(
        comparable(x), return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    order = xp.argsort(first)
    rank = xp.empty_like(order)
    rank[order] = xp.arange(order.size)
    return x[first[order]], rank[of_sorted].astype(dtype), counts[order].astype(dtype)


def setdiff1d(xp: Any, x: Array, y: Array, *, dtype: Any) -> tuple[Array, Array]:
    """The elements of one vector that are not in another, and their positions."""
    (positions,) = xp.nonzero(~xp.isin(comparable(x), comparable(y)))
    return x[positions], positions.astype(dtype)
