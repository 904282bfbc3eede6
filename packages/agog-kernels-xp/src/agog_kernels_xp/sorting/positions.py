"""Positions: inverse permutations, and positions along axes from positions in a flat array."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.deferral import check


def invert_permutation(xp: Any, x: Array) -> Array:
    """Where each number is."""
    inverse = xp.argsort(x)
    check(xp, partial(_look_at_permutation, x.shape, x.size), (x[inverse] == xp.arange(x.size)).all())
    return inverse.astype(x.dtype)


def _look_at_permutation(shape: tuple[int, ...], size: int, is_one: Any) -> None:
    if not is_one:
        raise InvalidArgumentError(
            f"invert_permutation: x of shape {shape} must hold each of the numbers from 0 to {size - 1} once."
        )


def unravel_index(xp: Any, indices: Array, *, dims: tuple[int, ...]) -> Array:
    """Positions in a flat array as positions along axes."""
    count = math.prod(dims)
    if indices.size:
        check(xp, partial(_look_at_indices, count, dims), indices.min(), indices.max())
    parts = xp.empty((len(dims), *indices.shape), indices.dtype)
    for axis, size in enumerate(dims):
        parts[axis] = indices // max(math.prod(dims[axis + 1 :]), 1) % max(size, 1)
    return parts


def _look_at_indices(count: int, dims: tuple[int, ...], lowest: Any, highest: Any) -> None:
    if not 0 <= int(lowest) <= int(highest) < count:
        raise InvalidArgumentError(
            f"unravel_index: indices must be from 0 to {count - 1} for dims {dims}; got numbers from {int(lowest)} to "
            f"{int(highest)}."
        )
