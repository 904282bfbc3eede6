"""Elementary: facts about the ops of agog_core.ops.math.elementary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import (
    DIFFERENTIABLE,
    NUMERIC,
    Rng,
    Values,
    between,
    binary,
    binary_samples,
    binary_sized,
    constant,
    invalid,
    is_float,
    unary,
    uniform,
)

NAN, INF = np.nan, np.inf


def _pow_values(dtype: str) -> tuple[Values, Values]:
    base = between(0.5, 2) if as_dtype(dtype).is_differentiable else uniform
    return base, uniform if is_float(dtype) else between(0, 3)


def _pow_sized(dtype: str, rng: Rng, size: int) -> Iterable[Sample]:
    return binary_sized(*_pow_values(dtype))(dtype, rng, size)


def _pow_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    base, exponent = _pow_values(dtype)
    yield from binary_samples(base, exponent, (), any_integers=False)(dtype, rng)
    if is_float(dtype):
        yield Sample("powers of 0", (base(dtype, rng, (3,)), constant(dtype, [0.0, 0.0, 1.0])))
        bases, exponents = constant(dtype, [[-2.0], [0.0], [1.0], [NAN], [INF]]), constant(dtype, [0.0, 1.0, 2.0, 3.0])
        yield Sample("negative, zero, infinite and NaN bases", (bases, exponents), smooth=False)
        yield Sample("roots of negative numbers", (constant(dtype, [-2.0, -1.0]), constant(dtype, 0.5)), smooth=False)


_POW_ERROR = invalid(
    (np.array([2, 3], np.int32), np.array([1, -1], np.int32)),
    "pow: Integers to negative integer powers are not integers: y of shape (2,) and dtype int32 holds a negative one; "
    "cast x and y to a float dtype.",
    "int32",
)


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


# x and y are subtracted: their difference is as exact as the larger of them, not as itself.
_POWERS = {
    "float16": (1e-2, 1e-3),
    "bfloat16": (5e-2, 1e-2),
    "float32": (1e-5, 1e-6),
    "float64": (1e-12, 1e-13),
    "complex64": (1e-5, 1e-6),
    "complex128": (1e-12, 1e-13),
}

INFOS = (
    OpInfo(
        name="pow",
        samples=_pow_samples,
        sized=_pow_sized,
        elementwise=True,
        reference=lambda x, y: x**y,
        errors=(_POW_ERROR,),
        tolerances=_POWERS,
    ),
    unary("floor", np.floor, special=(NAN, INF, -INF, 0.0, 2.0, -2.0, -0.5), differentiable=False),
    unary("square", lambda x: x * x, allowed=NUMERIC),
    unary("sqrt", np.sqrt, between(0.3, 4), allowed=DIFFERENTIABLE),
    unary("rsqrt", lambda x: x**-0.5, between(0.3, 4), special=(NAN, INF, 0.0, 1.0, -1.0), allowed=DIFFERENTIABLE),
    unary("exp", np.exp, special=(NAN, INF, -INF, 0.0, 1.0, -1000.0, 1000.0), allowed=DIFFERENTIABLE),
    unary("expm1", np.expm1, special=(NAN, INF, -INF, 0.0, 1e-4, -1000.0, 1000.0), allowed=DIFFERENTIABLE),
    unary("log", np.log, between(0.3, 4), allowed=DIFFERENTIABLE),
    unary("log1p", np.log1p, between(-0.6, 3), special=(NAN, INF, 0.0, 1e-4, -1.0, -2.0), allowed=DIFFERENTIABLE),
    unary("sin", np.sin, special=(NAN, INF, -INF, 0.0, 100.0), allowed=DIFFERENTIABLE),
    unary("cos", np.cos, special=(NAN, INF, -INF, 0.0, 100.0), allowed=DIFFERENTIABLE),
    unary("tanh", np.tanh, special=(NAN, INF, -INF, 0.0, 1e-4, 50.0, -50.0), allowed=DIFFERENTIABLE),
    unary("sigmoid", _sigmoid, special=(NAN, INF, -INF, 0.0, 50.0, -50.0, 1000.0), allowed=DIFFERENTIABLE),
    binary(
        "sigmoid_grad",
        lambda g, out: g * out * (1 - out),
        y=between(0.1, 0.9),
        special=(NAN, 0.0, 0.5, 1.0),
        allowed=DIFFERENTIABLE,
        names=("gradients", "outputs"),
    ),
    binary(
        "tanh_grad",
        lambda g, out: g * (1 - out * out),
        y=between(-0.9, 0.9),
        special=(NAN, 0.0, 0.5, 1.0, -1.0),
        allowed=DIFFERENTIABLE,
        names=("gradients", "outputs"),
    ),
    unary("softplus", lambda x: np.logaddexp(x, 0), special=(NAN, INF, -INF, 0.0, 50.0, -50.0, 1000.0)),
)
