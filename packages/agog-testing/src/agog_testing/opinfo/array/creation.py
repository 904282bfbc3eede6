"""Creation: facts about the ops of agog_core.ops.array.creation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import FLOATING, INTEGERS, Rng, invalid, is_float, rejected, uniform


def _fill_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in ((), (3,), (2, 3), (0,), (67,)):
        value = uniform(dtype, rng, ())[()]
        yield Sample(f"shape {shape} with {value}", (shape, value))
    if is_float(dtype):
        yield Sample("NaN", ((2,), as_dtype(dtype).as_numpy_dtype(np.nan)))


def _fill_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    yield Sample(f"shape {(size,)}", ((size,), uniform(dtype, rng, ())[()]))


def _fill(shape: tuple[int, ...], value: Any) -> Array:
    out = np.empty(shape, object if isinstance(value, bytes) else complex if np.iscomplexobj(value) else float)
    out[...] = value
    return out


def _range_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for start, limit, delta in ((0, 5, 1), (3, 3, 1), (2, 10, 3), (5, 0, 1), (0, 100, 1), (0, 67, 1)):
        yield Sample(f"from {start} to {limit} by {delta}", (start, limit, delta, dtype))
    if not as_dtype(dtype).is_unsigned:
        yield Sample("downwards", (5, -4, -2, dtype))
    if is_float(dtype):
        yield Sample("fractions", (0.5, 3.0, 0.25, dtype))


def _range(start: float, limit: float, delta: float, dtype: str) -> Array:
    values = []
    value = start
    while (value < limit) if delta > 0 else (value > limit):
        values.append(value)
        value = start + len(values) * delta
    return np.array(values, np.float64)


_RANGE_ERRORS = (
    invalid((0, 3, 0), "range: delta must not be zero."),
    invalid((np.zeros(2, np.float32), 3.0), "range: start, limit and delta must be scalars; got shapes (2,), (), ()."),
    invalid(
        (0, 3),
        "range: dtype bool is not supported; use one of bfloat16, float16, float32, float64, int16, int32, int64, "
        "int8, uint16, uint32, uint64, uint8. Cast with tf.cast.",
        dtype="bool",
    ),
)


def _linspace_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    kind = as_dtype(dtype).numpy_dtype.type
    for start, stop, num in ((0, 1, 5), (-2, 3, 11), (5, 1, 3), (2, 2, 4), (1, 9, 1), (0, 66, 67)):
        yield Sample(f"{num} from {start} to {stop}", (kind(start), kind(stop), num))


def _linspace(start: float, stop: float, num: int) -> Array:
    parts = max(num - 1, 1)
    return np.array([(float(start) * (parts - n) + float(stop) * n) / parts for n in range(num)])


_LINSPACE_ERRORS = (
    invalid((0.0, 1.0, 0), "linspace: num must be at least 1; got 0."),
    invalid(([0.0], 1.0, 2), "linspace: start and stop must be scalars; got shapes (1,) and ()."),
    rejected("linspace", "bool", FLOATING, (False, True, 2)),
)


def _one_hot_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in ((), (3,), (2, 3), (0,), (67,)):
        yield Sample(f"shape {shape}", (uniform(dtype, rng, shape, -1, 4), 4))
    x = uniform(dtype, rng, (2, 3), 0, 4)
    yield Sample("axis 0", (x, 5), {"axis": 0})
    yield Sample("axis in the middle", (x, 5), {"axis": 1})
    yield Sample("values", (x, 5), {"on_value": 5.0, "off_value": -1.0})
    yield Sample("depth 0", (x, 0))
    for kind in ("float64", "int64", "bool", "bfloat16"):
        yield Sample(f"dtype {kind}", (x, 5), {"dtype": kind})


def _one_hot(
    indices: Array,
    depth: int,
    on_value: float = 1,
    off_value: float = 0,
    axis: int = -1,
    dtype: str = "float32",
) -> Array:
    out = np.full((*indices.shape, depth), off_value, np.float64)
    for position in np.ndindex(*indices.shape):
        if 0 <= indices[position] < depth:
            out[(*position, int(indices[position]))] = on_value
    return np.moveaxis(out, -1, axis)


_ONE_HOT_ERRORS = (
    invalid(
        (np.array([1], np.int32), 3),
        "one_hot: axis 2 is out of range for a tensor of rank 2; use -2 to 1.",
        "int32",
        axis=2,
    ),
    rejected("one_hot", "float32", INTEGERS, (np.ones(2, np.float32), 3), "int32"),
)


INFOS = (
    OpInfo(
        name="fill",
        samples=_fill_samples,
        sized=_fill_sized,
        reference=_fill,
        differentiable=False,
        errors=(invalid(((2,), [1.0, 2.0]), "fill: value must be a scalar; got shape (2,)."),),
    ),
    OpInfo(name="range", samples=_range_samples, reference=_range, differentiable=False, errors=_RANGE_ERRORS),
    OpInfo("linspace", _linspace_samples, _linspace, differentiable=False, errors=_LINSPACE_ERRORS),
    OpInfo(name="one_hot", samples=_one_hot_samples, reference=_one_hot, differentiable=False, errors=_ONE_HOT_ERRORS),
)
