"""Division: facts about the ops of agog_core.ops.math.division, and about floordiv and floormod."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import (
    DIFFERENTIABLE,
    FLOATING,
    INTEGERS,
    Rng,
    binary,
    binary_samples,
    binary_sized,
    constant,
    invalid,
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
    yield from binary_samples(_inside, _whole, (), any_integers=False)(dtype, rng)
    if is_float(dtype):
        x, y = uniform(dtype, rng, (5, 7), -20, 20), nonzero(dtype, rng, (7,))
        yield Sample("any floats", (x, y), smooth=False)
        yield Sample("NaN", (constant(dtype, [NAN, 1.0]), constant(dtype, [2.0, NAN])), smooth=False)


def _division_info(
    name: str, reference: Callable[..., Any], errors: tuple[ErrorSample, ...] = (), **facts: Any
) -> OpInfo:
    return OpInfo(
        name=name,
        samples=_division_samples,
        sized=binary_sized(_inside, _whole),
        elementwise=True,
        reference=reference,
        errors=(_division_error(name), *errors),
        **facts,
    )


def _division_error(op: str) -> ErrorSample:
    x, y = np.array([1, 2], np.int32), np.array([1, 0], np.int32)
    text = f"{op}: Integer division by zero: y of shape (2,) and dtype int32 holds a zero."
    return invalid((x, y), text, "int32")


def _truncated(x: Array, y: Array) -> Array:
    if np.result_type(x, y).kind == "f":
        return np.trunc(x / y)
    quotient = np.abs(x) // np.abs(y)
    return np.where((x < 0) == (y < 0), quotient, -quotient) if np.result_type(x, y).kind == "i" else quotient


INFOS = (
    _division_info("floordiv", _quotient, differentiable=False),
    _division_info("floormod", _remainder),
    _division_info(
        "truncatediv",
        _truncated,
        (rejected("truncatediv", "float32", INTEGERS, (np.ones(1, np.float32), np.ones(1, np.float32)), "int32"),),
        differentiable=False,
    ),
    _division_info("truncatemod", lambda x, y: x - _truncated(x, y) * y),
    binary(
        "div_no_nan",
        lambda x, y: np.where(y == 0, 0, x / np.where(y == 0, 1, y)),
        y=nonzero,
        allowed=FLOATING,
    ),
    unary("reciprocal", lambda x: x**-1.0, nonzero, allowed=DIFFERENTIABLE),
)
