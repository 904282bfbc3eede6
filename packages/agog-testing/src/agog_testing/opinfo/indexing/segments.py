"""Segments: facts about the ops of agog_core.ops.indexing.segments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample, Sized
from agog_testing.opinfo.values import (
    NUMERIC,
    ORDERED,
    SUMS,
    Rng,
    Values,
    constant,
    invalid,
    is_float,
    rejected,
    ties,
    uniform,
    units,
)

_CASES = (
    ((), (), 2),
    ((3,), (3,), 2),
    ((4, 2), (4,), 3),
    ((2, 3), (2, 3), 2),
    ((2, 2, 2), (2, 2), 5),
    ((0,), (0,), 2),
    ((3, 0), (3,), 2),
    ((0, 2), (0,), 0),
    ((67,), (67,), 30),
)


def _samples(values: Values) -> Callable[[str, Rng], Iterator[Sample]]:
    def samples(dtype: str, rng: Rng) -> Iterator[Sample]:
        for data, ids, count in _CASES:
            numbers = np.asarray(rng.integers(-1, max(count, 1), ids))  # rows of number -1 are left out
            if values is _distinct:  # what an empty segment gives depends on the dtype, which a reference is not told
                count = min(count, numbers.size)
                numbers.reshape(-1)[:count] = range(count)
            at = numbers.astype("int32" if len(data) % 2 else "int64")
            yield Sample(f"{ids} of {data}, {count} segments", (values(dtype, rng, data), at, count))
        zeros = constant(dtype, [0, 2, 3, 0, 0, 2, 2, 0, 0, 0])
        numbers = np.array([0, 0, 0, 1, 1, 1, 2, 3, 3, 3], np.int32)
        yield Sample("zeros", (zeros, numbers, 4), smooth=values is not _distinct)
        if is_float(dtype):
            special = constant(dtype, [np.nan, 1.0, np.inf, 2.0, -np.inf])
            yield Sample("NaN and infinities", (special, np.array([0, 0, 1, 1, 2], np.int32), 3), smooth=False)

    return samples


def _sized(values: Values) -> Sized:
    def sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
        for data, count in (((size,), 3), ((size, 2), 2), ((5, size), 2)):
            at = np.arange(data[0], dtype=np.int32) % count
            count = min(count, data[0])
            yield Sample(f"{data}, {count} segments", (values(dtype, rng, data), at, count))

    return sized


def _factors(dtype: str, rng: Rng, shape: tuple[int, ...]) -> Array:
    """So small that products do not overflow."""
    return uniform(dtype, rng, shape, -2, 2)


def _distinct(dtype: str, rng: Rng, shape: tuple[int, ...]) -> Array:
    """Floats without ties, so that extremes are smooth."""
    if not is_float(dtype):
        return uniform(dtype, rng, shape)
    count = int(np.prod(shape))
    return rng.permutation(np.arange(count) / 16).reshape(shape).astype(as_dtype(dtype).numpy_dtype)


def _reference(function: Callable[..., Any], empty: float) -> Callable[..., Array]:
    def reference(data: Array, ids: Array, count: int) -> Array:
        out = np.full((count, *data.shape[ids.ndim :]), empty, data.dtype)
        for segment in range(count):
            rows = data[ids == segment]
            if len(rows):
                out[segment] = function(rows, axis=0)
        return out

    return reference


def _errors(op: str, allowed: str) -> tuple[ErrorSample, ...]:
    two = np.ones(2, np.float32)
    return (
        invalid((two, np.array([0, 3], np.int32), 3), f"{op}: segment_ids[1] = 3 is not in [0, 3): num_segments is 3."),
        invalid(
            (two, np.array([0], np.int32), 3),
            f"{op}: data of shape (2,) must begin with the shape of segment_ids, which is (1,).",
        ),
        invalid((two, np.array([0, 0], np.int32), -1), f"{op}: num_segments must not be negative; got -1."),
        rejected(op, "bool", allowed, (np.array([True]), np.array([0], np.int32), 1)),
    )


def _info(name: str, values: Values, combine: Callable[..., Any], empty: float, allowed: str, **facts: Any) -> OpInfo:
    return OpInfo(
        name=name,
        samples=_samples(values),
        sized=_sized(units if values is _factors else ties if values is uniform else values),
        reference=_reference(combine, empty),
        errors=_errors(name, allowed),
        **facts,
    )


INFOS = (
    _info("unsorted_segment_sum", uniform, np.sum, 0, NUMERIC, tolerances=SUMS),
    _info("unsorted_segment_prod", _factors, np.prod, 1, NUMERIC, tolerances=SUMS),
    _info("unsorted_segment_max", _distinct, np.max, 0, ORDERED),
    _info("unsorted_segment_min", _distinct, np.min, 0, ORDERED),
)
