"""Bitwise: facts about the ops of agog_core.ops.math.bitwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import OpInfo, Sample
from agog_testing.opinfo.values import (
    INTEGERS,
    Rng,
    Values,
    between,
    binary_samples,
    binary_sized,
    constant,
    pair_errors,
    rejected,
    unary_samples,
    unary_sized,
    uniform,
)

_FLOATS = np.ones(1, np.float32)
_any = between(-100, 100)
_BITS = between(0, 6)


def _binary(
    name: str, reference: Callable[..., Any], samples: Callable[[str, Rng], Iterator[Sample]], y: Values = _any
) -> OpInfo:
    return OpInfo(
        name=name,
        samples=samples,
        sized=binary_sized(_any, y),
        elementwise=True,
        reference=reference,
        differentiable=False,
        errors=(*pair_errors(name, "int32"), rejected(name, "float32", INTEGERS, (_FLOATS, _FLOATS), "int32")),
    )


def _shift_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    yield from binary_samples(_any, _BITS, (), any_integers=False)(dtype, rng)
    bits = 8 * as_dtype(dtype).size
    yield Sample("one less than all bits", (uniform(dtype, rng, (5,), -100, 100), constant(dtype, [bits - 1])))


INFOS = (
    _binary("bitwise_and", lambda x, y: x & y, binary_samples(_any, _any, ())),
    _binary("bitwise_or", lambda x, y: x | y, binary_samples(_any, _any, ())),
    _binary("bitwise_xor", lambda x, y: x ^ y, binary_samples(_any, _any, ())),
    _binary("left_shift", lambda x, y: x << y, _shift_samples, _BITS),
    _binary("right_shift", lambda x, y: x >> y, _shift_samples, _BITS),
    OpInfo(
        name="invert",
        samples=unary_samples(_any, ()),
        sized=unary_sized(_any),
        elementwise=True,
        reference=lambda x: -1 - x if x.dtype.kind == "i" else np.uint64(2**64 - 1) - x,
        differentiable=False,
        errors=(rejected("invert", "float32", INTEGERS, (_FLOATS,), "int32"),),
    ),
)
