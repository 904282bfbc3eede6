"""Logic: facts about the ops of agog_core.ops.math.logic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import (
    FLOATING,
    NUMERIC_OR_BOOL,
    ORDERED,
    SHAPES,
    Rng,
    binary,
    binary_samples,
    binary_sized,
    constant,
    invalid,
    is_float,
    large,
    pair_errors,
    rejected,
    ties,
    unary,
    unary_samples,
    unary_sized,
    uniform,
)

_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0)
_BOOLS = np.array([True, False])


def _comparison(name: str, reference: Callable[..., Any]) -> OpInfo:
    return binary(name, reference, ties, ties, _SPECIAL, allowed=ORDERED, differentiable=False)


def _equality(name: str, reference: Callable[..., Any]) -> OpInfo:
    return OpInfo(
        name=name,
        samples=binary_samples(ties, ties, _SPECIAL),
        sized=binary_sized(ties, ties),
        elementwise=True,
        reference=reference,
        differentiable=False,
        errors=pair_errors(name),
    )


def _connective(name: str, reference: Callable[..., Any]) -> OpInfo:
    return OpInfo(
        name=name,
        samples=binary_samples(uniform, uniform, ()),
        sized=binary_sized(uniform, uniform),
        elementwise=True,
        reference=reference,
        differentiable=False,
        errors=(
            *pair_errors(name, "bool"),
            rejected(name, "int32", "bool", (np.array([1], np.int32), np.array([1], np.int32)), "bool"),
        ),
    )


def _where_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for condition, x, y in (
        ((), (), ()),
        ((3,), (3,), (3,)),
        ((2, 3), (2, 3), (2, 3)),
        ((2, 1), (3,), ()),
        ((), (2, 3), (3,)),
        ((4, 1, 1), (3, 1), (2,)),
        ((0,), (1,), (0,)),
        ((67,), (67,), (1,)),
    ):
        choice = uniform("bool", rng, condition)
        yield Sample(f"shapes {condition}, {x} and {y}", (choice, uniform(dtype, rng, x), uniform(dtype, rng, y)))
    if is_float(dtype):
        special = constant(dtype, [np.nan, -0.0])
        yield Sample("NaN on the other side", (_BOOLS, constant(dtype, [1.0, 2.0]), special), smooth=False)
        yield Sample("NaN on the chosen side", (_BOOLS, special, constant(dtype, [1.0, 2.0])), smooth=False)


def _where_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for condition, x, y in (((size,), (size,), (size,)), ((2, 1), (size,), ()), ((size, 1), (size, 2), (2,))):
        arrays = uniform("bool", rng, condition), uniform(dtype, rng, x), large(dtype, rng, y)
        yield Sample(f"shapes {condition}, {x} and {y}", arrays)


_TWO = np.ones(2, np.float32)
_WHERE_ERRORS = (
    invalid((_TWO, _TWO, _TWO), "where: condition must be bool; got dtype float32 and shape (2,). Compare first."),
    invalid(
        (_BOOLS, _TWO, np.ones(2)),
        "where: x has dtype float32 and y has dtype float64 (shapes (2,) and (2,)), but they must be of one dtype; "
        "cast one of them, such as tf.cast(y, tf.float32).",
    ),
    invalid(
        (_BOOLS, np.ones(3, np.float32), np.ones(3, np.float32)),
        "where: Incompatible shapes: [2] vs. [3]: sizes 2 and 3 differ and neither is 1. Reshape, tile or slice "
        "one of them.",
    ),
)


def _masked_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in SHAPES:
        yield Sample(f"shape {shape}", (uniform(dtype, rng, shape), uniform("bool", rng, shape)))
    yield Sample("a column and a row", (uniform(dtype, rng, (3, 1)), np.array([True, False, True])))
    yield Sample("a scalar", (uniform(dtype, rng, ()), np.array([[True], [False]])))
    special = np.array([True, False] * 4)
    yield Sample(
        "NaN and infinities", (constant(dtype, np.repeat([np.nan, np.inf, -np.inf, -0.0], 2)), special), smooth=False
    )


def _argwhere_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in SHAPES:
        yield Sample(f"shape {shape}", (ties(dtype, rng, shape),))
    yield Sample("nowhere", (constant(dtype, [0, 0]),))
    yield Sample("a scalar that holds", (constant(dtype, 1),))
    if is_float(dtype):
        yield Sample("NaN, infinity and zeros", (constant(dtype, [np.nan, np.inf, -0.0, 0.0]),))


def _argwhere(condition: Array) -> Array:
    found = [index for index in np.ndindex(*condition.shape) if condition[index] != 0]
    return np.array(found, np.int64).reshape(len(found), condition.ndim)


INFOS = (
    _equality("equal", lambda x, y: x == y),
    _equality("not_equal", lambda x, y: x != y),
    _comparison("less", lambda x, y: x < y),
    _comparison("less_equal", lambda x, y: x <= y),
    _comparison("greater", lambda x, y: x > y),
    _comparison("greater_equal", lambda x, y: x >= y),
    _connective("logical_and", lambda x, y: x & y),
    _connective("logical_or", lambda x, y: x | y),
    _connective("logical_xor", lambda x, y: x != y),
    unary("is_nan", lambda x: x != x, special=_SPECIAL, differentiable=False),
    unary("is_inf", lambda x: np.abs(x) == np.inf, special=_SPECIAL, differentiable=False),
    unary("is_finite", lambda x: np.abs(x) < np.inf, special=_SPECIAL, differentiable=False),
    OpInfo(
        name="logical_not",
        samples=unary_samples(uniform, ()),
        sized=unary_sized(uniform),
        elementwise=True,
        reference=lambda x: x == np.False_,
        differentiable=False,
        errors=(rejected("logical_not", "int32", "bool", (np.array([1], np.int32),), "bool"),),
    ),
    OpInfo(
        name="where",
        samples=_where_samples,
        sized=_where_sized,
        elementwise=True,
        signed_zeros=True,
        reference=lambda condition, x, y: np.where(condition, x, y),
        errors=_WHERE_ERRORS,
    ),
    OpInfo(
        name="masked",
        samples=_masked_samples,
        reference=lambda x, mask: np.where(mask, x, x.dtype.type(0)),
        errors=(
            rejected("masked", "int32", FLOATING, (np.array([1], np.int32), _BOOLS[:1])),
            invalid(
                (_TWO, np.ones(2, np.int32)),
                "masked: mask must be bool; got dtype int32 and shape (2,). Compare first.",
            ),
            invalid(
                (np.ones(3, np.float32), _BOOLS),
                "masked: Incompatible shapes: [3] vs. [2]: sizes 3 and 2 differ and neither is 1. Reshape, tile "
                "or slice one of them.",
            ),
        ),
    ),
    OpInfo(
        name="argwhere",
        samples=_argwhere_samples,
        sized=lambda dtype, rng, size: [Sample(f"shape {(size,)}", (ties(dtype, rng, (size,)),))],
        reference=_argwhere,
        differentiable=False,
        errors=(rejected("argwhere", "string", NUMERIC_OR_BOOL, (np.array([b"a"], object),)),),
    ),
)
