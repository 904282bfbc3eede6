"""Facts about the ops of agog_core.ops.math."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_core.dtypes import as_dtype
from agog_core.errors import InvalidArgumentError
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import (
    FLOATING,
    ORDERED,
    SUMS,
    Rng,
    between,
    binary,
    binary_samples,
    constant,
    is_float,
    nonzero,
    rejected,
    unary,
    uniform,
)

NAN, INF = np.nan, np.inf


def _inside(dtype: str, rng: Rng, shape: tuple[int, ...]) -> Array:
    """Dividends between 0.2 and 0.8 of a divisor of 1: the quotient with one of ``_whole`` is never near an integer."""
    if not is_float(dtype):
        return uniform(dtype, rng, shape, -20, 20)
    return np.asarray(rng.integers(-4, 4, shape) + rng.uniform(0.2, 0.8, shape)).astype(as_dtype(dtype).numpy_dtype)


def _whole(dtype: str, rng: Rng, shape: tuple[int, ...]) -> Array:
    """Divisors: 1 and -1 for floats, any but 0 for integers."""
    if not is_float(dtype):
        return nonzero(dtype, rng, shape)
    return np.asarray(rng.integers(0, 2, shape) * 2 - 1).astype(as_dtype(dtype).numpy_dtype)


def _quotient(x: Array, y: Array) -> Array:
    return np.asarray(np.floor(x / y) if np.result_type(x, y).kind == "f" else x // y)


def _remainder(x: Array, y: Array) -> Array:
    return np.asarray(x - _quotient(x, y) * y)


def _division_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    yield from binary_samples(_inside, _whole, ())(dtype, rng)
    if is_float(dtype):
        x, y = uniform(dtype, rng, (5, 7), -20, 20), nonzero(dtype, rng, (7,))
        yield Sample("any floats", (x, y), smooth=False)
        yield Sample("NaN", (constant(dtype, [NAN, 1.0]), constant(dtype, [2.0, NAN])), smooth=False)


def _division_error(op: str) -> ErrorSample:
    x, y = np.array([1, 2], np.int32), np.array([1, 0], np.int32)
    text = f"{op}: Integer division by zero: y of shape (2,) and dtype int32 holds a zero."
    return ErrorSample((x, y), {}, InvalidArgumentError, text, "int32")


def _pow_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    base = between(0.5, 2) if is_float(dtype) else uniform
    exponent = uniform if is_float(dtype) else between(0, 3)
    yield from binary_samples(base, exponent, ())(dtype, rng)
    if is_float(dtype):
        bases, exponents = constant(dtype, [[-2.0], [0.0], [1.0], [NAN], [INF]]), constant(dtype, [0.0, 1.0, 2.0, 3.0])
        yield Sample("negative, zero, infinite and NaN bases", (bases, exponents), smooth=False)
        yield Sample("roots of negative numbers", (constant(dtype, [-2.0, -1.0]), constant(dtype, 0.5)), smooth=False)


_POW_ERROR = ErrorSample(
    (np.array([2, 3], np.int32), np.array([1, -1], np.int32)),
    {},
    InvalidArgumentError,
    "pow: Integers to negative integer powers are not integers: y of shape (2,) and dtype int32 holds a negative one; "
    "cast x and y to "
    "a float dtype.",
    "int32",
)


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _add_n_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for count, shape in ((1, (3,)), (2, ()), (3, ()), (3, (2, 3)), (5, (67,)), (3, (0, 2))):
        yield Sample(f"{count} of shape {shape}", ([uniform(dtype, rng, shape) for _ in range(count)],))
    if is_float(dtype):
        special = [constant(dtype, [NAN, INF, 1.0]), constant(dtype, [1.0, -INF, INF])]
        yield Sample("NaN and infinities", (special,), smooth=False)


_TWO, _THREE = np.ones(2, np.float32), np.ones(3, np.float32)
_ADD_N_ERRORS = (
    ErrorSample(([],), {}, ValueError, "add_n: inputs is empty; give at least one tensor."),
    ErrorSample(([_TWO, _THREE],), {}, InvalidArgumentError, "add_n: the inputs must be of one shape; got (2,), (3,)."),
    ErrorSample(
        ([_TWO, np.ones(2)],),
        {},
        InvalidArgumentError,
        "add_n: inputs[0] has dtype float32 and inputs[1] has dtype float64 (shapes (2,) and (2,)), but they must be "
        "of one dtype; cast "
        "one of them, such as tf.cast(inputs[1], tf.float32).",
    ),
    rejected("add_n", "bool", ORDERED, ([np.array([True])],)),
)

# x and y are subtracted: their difference is as exact as the larger of them, not as itself.
_POWERS = {"float16": (1e-2, 1e-3), "bfloat16": (5e-2, 1e-2), "float32": (1e-5, 1e-6), "float64": (1e-12, 1e-13)}

INFOS = (
    binary("add", lambda x, y: x + y),
    binary("subtract", lambda x, y: x - y),
    binary("multiply", lambda x, y: x * y),
    binary("realdiv", lambda x, y: x / y, y=nonzero, allowed=FLOATING),
    OpInfo(
        name="floordiv",
        samples=_division_samples,
        reference=_quotient,
        differentiable=False,
        errors=(_division_error("floordiv"),),
    ),
    OpInfo(name="floormod", samples=_division_samples, reference=_remainder, errors=(_division_error("floormod"),)),
    OpInfo(name="pow", samples=_pow_samples, reference=lambda x, y: x**y, errors=(_POW_ERROR,), tolerances=_POWERS),
    binary("maximum", lambda x, y: np.where(np.isnan(x) | (x >= y), x, y)),
    binary("minimum", lambda x, y: np.where(np.isnan(x) | (x <= y), x, y)),
    unary("negative", lambda x: -x, allowed=ORDERED),
    unary("abs", lambda x: np.where(x < 0, -x, x + 0), nonzero, allowed=ORDERED),
    unary(
        "sign", lambda x: np.where(np.isnan(x), x, np.greater(x, 0) * 1 - np.less(x, 0) * 1), nonzero, allowed=ORDERED
    ),
    unary("floor", np.floor, special=(NAN, INF, -INF, 0.0, 2.0, -2.0, -0.5), differentiable=False),
    unary("square", lambda x: x * x, allowed=ORDERED),
    unary("sqrt", np.sqrt, between(0.3, 4)),
    unary("exp", np.exp, special=(NAN, INF, -INF, 0.0, 1.0, -1000.0, 1000.0)),
    unary("log", np.log, between(0.3, 4)),
    unary("log1p", np.log1p, between(-0.6, 3), special=(NAN, INF, 0.0, 1e-4, -1.0, -2.0)),
    unary("sin", np.sin, special=(NAN, INF, -INF, 0.0, 100.0)),
    unary("cos", np.cos, special=(NAN, INF, -INF, 0.0, 100.0)),
    unary("tanh", np.tanh, special=(NAN, INF, -INF, 0.0, 1e-4, 50.0, -50.0)),
    unary("sigmoid", _sigmoid, special=(NAN, INF, -INF, 0.0, 50.0, -50.0, 1000.0)),
    OpInfo(
        name="add_n",
        samples=_add_n_samples,
        reference=lambda arrays: np.sum(arrays, axis=0),
        errors=_ADD_N_ERRORS,
        tolerances=SUMS,
    ),
)
