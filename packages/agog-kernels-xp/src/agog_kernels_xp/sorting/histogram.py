"""Histogram: how often numbers occur, or the sums of their weights."""

from __future__ import annotations

from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.accumulation import accumulate
from agog_kernels_xp.parts.deferral import check


def bincount(xp: Any, arr: Array, weights: Array, *, size: int) -> Array:
    """Sums of the weights of each number that is less than the size."""
    if arr.size:
        check(xp, _look, arr.min())
    # CuPy adds no signed integers of 64 bits like this; unsigned ones wrap around in the same way.
    dtype = "uint64" if weights.dtype.kind == "i" else weights.dtype
    totals = xp.zeros(size + 1, dtype)  # the last is that of all larger numbers
    rows = xp.minimum(arr, arr.dtype.type(size)).reshape(-1)
    accumulate(xp, "add", totals, rows, weights.astype(dtype).reshape(-1))
    return totals[:size].astype(weights.dtype)


def _look(least: Any) -> None:
    if least < 0:
        raise InvalidArgumentError(f"bincount: Input arr must be non-negative; got {int(least)}.")
