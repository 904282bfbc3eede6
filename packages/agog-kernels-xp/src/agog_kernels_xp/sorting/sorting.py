"""Sorting: order, the largest elements, and searching in sorted ones. NaN counts as larger than any number."""

from __future__ import annotations

import math
from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.sort_keys import comparable


def sort(xp: Any, x: Array, *, descending: bool) -> Array:
    """The elements of each row in order."""
    ordered = xp.sort(comparable(x)).astype(x.dtype, copy=False)
    return xp.ascontiguousarray(ordered[..., ::-1]) if descending else ordered


def argsort(xp: Any, x: Array, *, descending: bool) -> Array:
    """Positions of the elements of each row in order; equal ones stay in theirs."""
    return _order(xp, x, descending).astype("int32")


def top_k(xp: Any, x: Array, *, k: int) -> tuple[Array, Array]:
    """The largest elements of each row in descending order, and their positions."""
    positions = _largest(xp, comparable(x), k)
    return xp.take_along_axis(x, positions, -1), positions.astype("int32")


def _largest(xp: Any, x: Array, k: int) -> Array:
    """Positions of the k largest elements of each row in descending order. Few of many are found by a partial sort, in
    a tenth of the time; it does not say which of those that equal the least one come first.
    """
    length = x.shape[-1]
    if not (length >= 64 and 0 < k <= length // 8):
        return _order(xp, x, True)[..., :k]
    some = xp.sort(xp.argpartition(x, length - k, axis=-1)[..., length - k :], axis=-1)
    least = xp.min(xp.take_along_axis(x, some, -1), axis=-1, keepdims=True)
    candidates = xp.sum(x >= least, axis=-1)
    if not bool((candidates >= k).all()):  # a NaN, which equals nothing
        return _order(xp, x, True)[..., :k]
    if not bool((candidates == k).all()):
        larger, equal = x > least, x == least
        missing = k - xp.sum(larger, axis=-1, keepdims=True)
        some = xp.nonzero(larger | (equal & (xp.cumsum(equal, axis=-1) <= missing)))[-1].reshape(some.shape)
    return xp.take_along_axis(some, _order(xp, xp.take_along_axis(x, some, -1), True), -1)


def _order(xp: Any, x: Array, descending: bool) -> Array:
    x = comparable(x)
    if descending:  # from behind, so that equal elements stay in their order
        return x.shape[-1] - 1 - xp.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    return xp.argsort(x, axis=-1, kind="stable")


def in_top_k(xp: Any, predictions: Array, targets: Array, *, k: int) -> Array:
    """Whether fewer than k predictions are larger than the target's."""
    x = comparable(predictions)
    classes = x.shape[1]
    is_class = (targets >= 0) & (targets < classes)
    if not classes:
        return is_class
    of_target = xp.take_along_axis(x, xp.where(is_class, targets, 0)[:, None], 1)
    larger = xp.sum(x > of_target, axis=1)
    return is_class & xp.all(xp.isfinite(x), axis=1) & (larger < k)


def nth_element(xp: Any, x: Array, *, n: int) -> Array:
    """The element of each row at a position in ascending order."""
    return xp.partition(comparable(x), n, axis=-1)[..., n].astype(x.dtype)


def searchsorted(xp: Any, sequence: Array, values: Array, *, side: str, dtype: Any) -> Array:
    """Positions of values in sorted rows."""
    batch = math.prod(values.shape[:-1])
    rows = comparable(sequence).reshape(batch, sequence.shape[-1])
    wanted = comparable(values).reshape(batch, values.shape[-1])
    found = xp.empty(wanted.shape, dtype)
    for row in range(batch):
        found[row] = xp.searchsorted(rows[row], wanted[row], side)
    return found.reshape(values.shape)
