"""Accumulation: updates of numbered rows of an array, for scatters and segments."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.deferral import check, deferring

Combine = Callable[[str, Array, Array, Array], Any]

# Array libraries whose plugin combines rows by itself, with its function for that; it may decline.
combining: dict[Any, Combine] = {}

_CHUNK = 1 << 20  # elements at a time, so that their positions take little memory


def accumulate(xp: Any, operation: str, target: Array, rows: Array, updates: Array) -> None:
    """Combine rows ``(n, ...)`` into a contiguous array ``(size, ...)`` in place, by a binary function of the library.

    A row that is named several times takes all its updates.

    >>> import numpy
    >>> sums = numpy.zeros(3)
    >>> accumulate(numpy, "add", sums, numpy.array([2, 0, 2]), numpy.array([1.0, 2.0, 3.0]))
    >>> sums.tolist()
    [2.0, 0.0, 4.0]
    """
    flat, values = target.reshape(-1), updates.reshape(-1)
    if not values.size:
        return
    if xp in combining and combining[xp](operation, target, rows, updates) is not NotImplemented:
        return
    # One element at a time: libraries are fast at that, and slow at rows.
    width = values.size // len(rows)
    step = max(1, _CHUNK // width)
    for start in range(0, len(rows), step):
        chosen = rows[start : start + step]
        positions = chosen if width == 1 else (chosen[:, None] * width + xp.arange(width)).reshape(-1)
        part = values[start * width : start * width + len(positions)]
        try:
            getattr(xp, operation).at(flat, positions, part)
        except (NotImplementedError, TypeError):  # a library need not have `at` for every function and dtype
            in_turns(xp, operation, flat, positions, part)


def in_turns(xp: Any, operation: str, target: Array, positions: Array, updates: Array) -> None:
    """Combine the first update of each position into a vector in place, then the second of each, and so on."""
    order = xp.argsort(positions, kind="stable")
    ordered = positions[order]
    turns = xp.arange(len(ordered)) - xp.searchsorted(ordered, ordered, side="left")
    for turn in range(int(turns.max()) + 1):
        chosen = order[turns == turn]
        at = positions[chosen]
        target[at] = getattr(xp, operation)(target[at], updates[chosen])


def row_numbers(xp: Any, op: str, indices: Array, shape: tuple[int, ...], name: str) -> Array:
    """Positions along leading axes, ``(..., depth)``, as row numbers of an array in which those ``depth`` axes are one.

    >>> import numpy
    >>> row_numbers(numpy, "scatter_nd", numpy.array([[1, 2], [0, 1]]), (2, 3, 4), "shape").tolist()
    [5, 1]
    """
    depth = indices.shape[-1]
    listed = indices.reshape(math.prod(indices.shape[:-1]), depth)
    rows = xp.zeros(len(listed), "int64")
    for axis in range(depth):
        positions = listed[:, axis]
        if positions.size and (
            xp in deferring or not (int(positions.min()) >= 0 and int(positions.max()) < shape[axis])
        ):
            look = partial(_look_at_row, xp, op, listed, axis, indices.shape[:-1], shape, name)
            check(xp, look, positions.min(), positions.max())
        rows = rows * shape[axis] + positions
    return rows


def _look_at_row(
    xp: Any,
    op: str,
    listed: Array,
    axis: int,
    places: tuple[int, ...],
    shape: tuple[int, ...],
    name: str,
    lowest: Any,
    highest: Any,
) -> None:
    if int(lowest) >= 0 and int(highest) < shape[axis]:
        return
    positions = listed[:, axis]
    first = int(xp.argmax((positions < 0) | (positions >= shape[axis])))
    raise InvalidArgumentError(
        f"{op}: indices{_place(first, places)} = {listed[first].tolist()} does not index into {name} {tuple(shape)}."
    )


def check_positions(xp: Any, op: str, name: str, indices: Array, size: int, what: str) -> None:
    """Raise InvalidArgumentError where integers are not in [0, size); ``what`` says where the limit comes from."""
    if indices.size and (xp in deferring or not (int(indices.min()) >= 0 and int(indices.max()) < size)):
        look = partial(_look_at_positions, xp, op, name, indices, size, what)
        check(xp, look, indices.min(), indices.max())


def _look_at_positions(
    xp: Any, op: str, name: str, indices: Array, size: int, what: str, lowest: Any, highest: Any
) -> None:
    if int(lowest) >= 0 and int(highest) < size:
        return
    flat = indices.reshape(-1)
    first = int(xp.argmax((flat < 0) | (flat >= size)))
    raise InvalidArgumentError(
        f"{op}: {name}{_place(first, indices.shape)} = {int(flat[first])} is not in [0, {size}): {what}."
    )


def _place(position: int, shape: tuple[int, ...]) -> str:
    """The index of an element, as it is written behind an array's name; nothing for a scalar."""
    index: list[int] = []
    for size in reversed(shape):
        position, last = divmod(position, size)
        index.insert(0, last)
    return f"{index}" if index else ""
