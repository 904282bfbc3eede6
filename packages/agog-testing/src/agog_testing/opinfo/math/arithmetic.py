"""Arithmetic: facts about the ops of agog_core.ops.math.arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import (
    DIFFERENTIABLE,
    NUMERIC,
    ORDERED,
    SUMS,
    Rng,
    binary,
    constant,
    invalid,
    is_float,
    large,
    nonzero,
    rejected,
    unary,
    uniform,
)

NAN, INF = np.nan, np.inf


def _sign(x: Array) -> Array:
    if np.iscomplexobj(x):
        return np.where(x == 0, 0, x / np.hypot(x.real, x.imag))
    return np.where(np.isnan(x), x, np.greater(x, 0) * 1 - np.less(x, 0) * 1)


def _cross_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in ((3,), (1, 3), (0, 3), (2, 4, 3), (67, 3)):
        yield Sample(f"shape {shape}", (uniform(dtype, rng, shape), uniform(dtype, rng, shape)))
    if is_float(dtype):
        yield Sample("NaN", (constant(dtype, [NAN, 1.0, 2.0]), constant(dtype, [0.0, INF, 1.0])), smooth=False)


def _cross(a: Array, b: Array) -> Array:
    a, b = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], -1)


def _add_n_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for count, shape in ((1, (3,)), (2, ()), (3, ()), (3, (2, 3)), (5, (67,)), (3, (0, 2))):
        yield Sample(f"{count} of shape {shape}", ([uniform(dtype, rng, shape) for _ in range(count)],))
    if is_float(dtype):
        special = [constant(dtype, [NAN, INF, 1.0]), constant(dtype, [1.0, -INF, INF])]
        yield Sample("NaN and infinities", (special,), smooth=False)


def _cross_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    yield Sample(f"shape {(size, 3)}", (uniform(dtype, rng, (size, 3)), uniform(dtype, rng, (size, 3))))


def _add_n_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for count in (2, 5):
        yield Sample(f"{count} of shape {(size,)}", ([large(dtype, rng, (size,)) for _ in range(count)],))


_TWO, _THREE = np.ones(2, np.float32), np.ones(3, np.float32)
_ADD_N_ERRORS = (
    ErrorSample(([],), {}, ValueError, "add_n: inputs is empty; give at least one tensor."),
    invalid(([_TWO, _THREE],), "add_n: the inputs must be of one shape; got (2,), (3,)."),
    invalid(
        ([_TWO, np.ones(2)],),
        "add_n: inputs[0] has dtype float32 and inputs[1] has dtype float64 (shapes (2,) and (2,)), but they must be "
        "of one dtype; cast one of them, such as tf.cast(inputs[1], tf.float32).",
    ),
    rejected("add_n", "bool", NUMERIC, ([np.array([True])],)),
)

INFOS = (
    binary("add", lambda x, y: x + y, allowed=NUMERIC.replace("uint16", "string, uint16")),
    binary("subtract", lambda x, y: x - y, allowed=NUMERIC),
    binary("multiply", lambda x, y: x * y, allowed=NUMERIC),
    binary("squared_difference", lambda x, y: (x - y) ** 2, allowed=NUMERIC),
    binary("realdiv", lambda x, y: x / y, y=nonzero, allowed=DIFFERENTIABLE),
    binary("maximum", lambda x, y: np.where(np.isnan(x) | (x >= y), x, y), signed_zeros=False),
    binary("minimum", lambda x, y: np.where(np.isnan(x) | (x <= y), x, y), signed_zeros=False),
    unary("negative", lambda x: -x, allowed=NUMERIC),
    unary(
        "abs",
        lambda x: np.hypot(x.real, x.imag) if np.iscomplexobj(x) else np.where(x < 0, -x, x + 0),
        nonzero,
        allowed=NUMERIC,
    ),
    unary("sign", _sign, nonzero, allowed=NUMERIC, signed_zeros=False),
    OpInfo(
        name="cross",
        samples=_cross_samples,
        sized=_cross_sized,
        reference=_cross,
        errors=(
            invalid((_TWO, _TWO), "cross: a and b must be of one shape (..., 3); got (2,) and (2,)."),
            rejected("cross", "bool", ORDERED, (np.array([True] * 3), np.array([True] * 3))),
        ),
        tolerances=SUMS,
    ),
    OpInfo(
        name="add_n",
        samples=_add_n_samples,
        sized=_add_n_sized,
        reference=lambda arrays: np.sum(arrays, axis=0),
        errors=_ADD_N_ERRORS,
        tolerances=SUMS,
    ),
)
