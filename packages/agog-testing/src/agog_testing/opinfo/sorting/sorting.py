"""Sorting: facts about the ops of agog_core.ops.sorting.sorting."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import (
    FLOATING,
    ORDERED,
    Rng,
    constant,
    invalid,
    is_float,
    large,
    of_size,
    rejected,
    ties,
    uniform,
)

_SHAPES: tuple[tuple[int, ...], ...] = ((1,), (5,), (2, 3), (2, 3, 4), (67,), (0,), (2, 0), (0, 3))


def _distinct(dtype: str, rng: Rng, shape: tuple[int, ...]) -> Array:
    """Integers of which no two are equal, in random order."""
    count = math.prod(shape)
    numbers = rng.permutation(count) - (0 if as_dtype(dtype).is_unsigned else count // 2)
    return np.asarray(numbers.reshape(shape)).astype(as_dtype(dtype).numpy_dtype)


def _rows(dtype: str, rng: Rng) -> Iterator[tuple[str, Array, bool]]:
    """Named arrays to sort, and whether the order stays the same nearby."""
    for shape in _SHAPES:
        yield f"shape {shape}", _distinct(dtype, rng, shape), True
    yield "large integers", large(dtype, rng, (2, 5)), False
    yield "ties", ties(dtype, rng, (3, 9)), False
    yield "many ties", ties(dtype, rng, (2, 70)), False
    few = _distinct(dtype, rng, (3, 70))
    few[0, 5:9] = few.max()
    few[1, 60:] = few.max()
    yield "few ties", few, False
    if is_float(dtype):
        some_nan = _distinct(dtype, rng, (2, 70))
        some_nan[1, [3, 50]] = np.nan
        yield "a few NaN", some_nan, False
        yield "NaN and infinities", constant(dtype, [1.0, np.nan, -np.inf, 2.0, np.inf, np.nan, 0.0, -0.0]), False


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for name, values, smooth in _rows(dtype, rng):
        for direction in ("ASCENDING", "DESCENDING"):
            yield Sample(f"{name}, {direction}", (values, -1, direction), smooth=smooth)
    yield Sample("first axis", (_distinct(dtype, rng, (4, 3)), 0))
    yield Sample("middle axis", (_distinct(dtype, rng, (2, 4, 3)), -2, "DESCENDING"))


_ROWS_OF_SIZE = of_size(ties, ((None,), {}), ((None, 2), {"axis": 0, "direction": "DESCENDING"}))


def _order(row: Array, descending: bool) -> list[int]:
    """Positions in order of their values; NaN is the largest, and equal values stay in their order."""

    def key(at: int) -> tuple[Any, ...]:
        is_nan = bool(np.isnan(row[at]))
        value = 0 if is_nan else row[at].item()
        return (not is_nan, -value) if descending else (is_nan, value)

    return sorted(range(len(row)), key=key)


def _argsort(values: Array, axis: int = -1, direction: str = "ASCENDING") -> Array:
    rows = np.moveaxis(values, axis, -1)
    out = np.empty(rows.shape, np.int64)
    for at in np.ndindex(*rows.shape[:-1]):
        out[at] = _order(rows[at], direction == "DESCENDING")
    return np.moveaxis(out, -1, axis)


def _sort(values: Array, axis: int = -1, direction: str = "ASCENDING") -> Array:
    rows, order = np.moveaxis(values, axis, -1), np.moveaxis(_argsort(values, axis, direction), axis, -1)
    out = np.empty(rows.shape, values.dtype)
    for at in np.ndindex(*rows.shape[:-1]):
        out[at] = [rows[at][place] for place in order[at]]
    return np.moveaxis(out, -1, axis)


def _sort_errors(op: str) -> tuple[ErrorSample, ...]:
    two = np.ones(2, np.float32)
    return (
        ErrorSample((two, -1, "UP"), {}, ValueError, f"{op}: direction is 'UP'; use 'ASCENDING' or 'DESCENDING'."),
        invalid((two, 1), f"{op}: axis 1 is out of range for a tensor of rank 1; use -1 to 0."),
        rejected(op, "bool", ORDERED, (np.array([True]),)),
    )


def _top_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for name, values, smooth in _rows(dtype, rng):
        size = values.shape[-1]
        for k in sorted({0, min(size, 1), size // 9, size // 4, size // 2, size}):
            yield Sample(f"{name}, k={k}", (values, k), smooth=smooth)


def _top_k(values: Array, k: int) -> tuple[Array, Array]:
    order = _argsort(values, -1, "DESCENDING")
    return _sort(values, -1, "DESCENDING")[..., :k], order[..., :k]


_TOP_ERRORS = (
    *(
        invalid(
            (np.ones(2, np.float32), k),
            f"top_k: k must be from 0 to the size of the input's last axis; got k={k} for shape (2,).",
        )
        for k in (3, -1)
    ),
    rejected("top_k", "bool", ORDERED, (np.array([True]),)),
)


def _in_top_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in ((1, 1), (3, 5), (67, 4), (0, 3), (2, 0)):
        for kind in ("int32", "int64"):
            targets = uniform(kind, rng, shape[:1], 0, max(shape[1] - 1, 0))
            for k in (1, 2, 9):
                yield Sample(f"shape {shape}, k={k}, {kind}", (_distinct(dtype, rng, shape), targets, k))
    equal = constant(dtype, [[1.0, 2.0, 2.0, 3.0]] * 4)
    yield Sample("equal predictions", (equal, np.array([0, 1, 2, 3], np.int32), 2))
    yield Sample("no such class", (equal, np.array([-1, 4, 3, 2], np.int32), 3))
    special = constant(dtype, [[np.nan, 1.0], [1.0, np.inf], [-np.inf, 1.0], [0.0, 1.0]])
    yield Sample("NaN and infinities", (special, np.array([1, 1, 1, 1], np.int32), 2))


def _in_top_k(predictions: Array, targets: Array, k: int) -> Array:
    found = []
    for row, target in zip(predictions, targets, strict=True):
        usable = 0 <= target < len(row) and bool(np.isfinite(row).all())
        found.append(usable and sum(each > row[target] for each in row) < k)
    return np.array(found, np.bool_)


_IN_TOP_ERRORS = (
    invalid(
        (np.ones((2, 3), np.float32), np.array([1], np.int32), 1),
        "in_top_k: predictions must have shape (batch, classes) and targets shape (batch,); got shapes (2, 3) and "
        "(1,).",
    ),
    rejected("in_top_k", "int32", FLOATING, (np.ones((1, 1), np.int32), np.array([0]), 1)),
)


def _nth_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for name, values, smooth in _rows(dtype, rng):
        size = values.shape[-1]
        for n in sorted({0, size // 2, size - 1} if size else set()):
            for reverse in (False, True):
                kwargs = {"reverse": True} if reverse else {}
                yield Sample(f"{name}, n={n}, {kwargs}", (values, n), kwargs, smooth=smooth)


def _nth_element(values: Array, n: int, reverse: bool = False) -> Array:
    ordered = _sort(values)
    return ordered[..., values.shape[-1] - 1 - n if reverse else n]


_NTH_ERRORS = (
    *(
        invalid((np.ones(2, np.float32), n), f"nth_element: n must be from 0 to 1 for an input of shape (2,); got {n}.")
        for n in (2, -1)
    ),
    invalid(
        (np.ones((2, 0), np.float32), 0),
        "nth_element: the input of shape (2, 0) has no elements along a last axis to choose from.",
    ),
)


def _search_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for batch, size, count in (
        *(((), 1, 1), ((), 4, 3), ((2,), 3, 5), ((2, 3), 4, 2), ((), 67, 5), ((), 0, 2), ((), 3, 0), ((0,), 2, 2)),
    ):
        sequence = np.sort(ties(dtype, rng, (*batch, size)).astype(float)).astype(as_dtype(dtype).numpy_dtype)
        values = uniform(dtype, rng, (*batch, count))
        for side in ("left", "right"):
            for out_type in ("int32", "int64"):
                kwargs = {"side": side, "out_type": out_type}
                yield Sample(f"{count} in {size}, rows {batch}, {kwargs}", (sequence, values), kwargs)
    if is_float(dtype):
        sequence = constant(dtype, [-np.inf, 0.0, 1.0, np.inf])
        yield Sample("infinities", (sequence, constant(dtype, [-np.inf, np.inf, 0.5])))


def _search(sequence: Array, values: Array, side: str = "left", out_type: str = "int32") -> Array:
    out = np.empty(values.shape, np.int64)
    for at in np.ndindex(*values.shape):
        row = sequence[at[:-1]]
        out[at] = sum(each < values[at] or (side == "right" and each == values[at]) for each in row)
    return out


_SEARCH_ERRORS = (
    invalid(
        (np.ones((2, 3), np.float32), np.ones((3, 3), np.float32)),
        "searchsorted: sorted_sequence and values must have the same sizes but for the last axis; got shapes (2, 3) "
        "and (3, 3).",
    ),
    ErrorSample(
        (np.ones(2, np.float32), np.ones(2, np.float32), "middle"),
        {},
        ValueError,
        "searchsorted: side is 'middle'; use 'left' or 'right'.",
    ),
)

INFOS = (
    OpInfo("sort", _samples, _sort, sized=_ROWS_OF_SIZE, errors=_sort_errors("sort")),
    OpInfo("argsort", _samples, _argsort, sized=_ROWS_OF_SIZE, differentiable=False, errors=_sort_errors("argsort")),
    OpInfo("top_k", _top_samples, _top_k, sized=of_size(ties, ((2, None), {"k": 1})), errors=_TOP_ERRORS),
    OpInfo("in_top_k", _in_top_samples, _in_top_k, differentiable=False, errors=_IN_TOP_ERRORS),
    OpInfo("nth_element", _nth_samples, _nth_element, sized=of_size(ties, ((2, None), {"n": 0})), errors=_NTH_ERRORS),
    OpInfo("searchsorted", _search_samples, _search, differentiable=False, errors=_SEARCH_ERRORS),
)
