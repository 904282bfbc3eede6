"""Python values among the arguments of traced functions: each that is another one has a trace of its own."""

from __future__ import annotations

import enum
import itertools
import math
import warnings
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import TracingWarning
from agog_core.tracing.functions.function import function


class Colour(enum.Enum):
    RED = 1
    BLUE = 1.0 + 1


class Number(enum.IntEnum):
    ONE = 1


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass(frozen=True)
class Settings:
    scale: float
    names: Any = ()


ZEROS = [0, 0.0, -0.0, False, 0j, complex(0.0, -0.0), complex(-0.0, 0.0), complex(-0.0, -0.0)]
SCALARS = [
    np.dtype(kind).type(sign * 0.0)
    for kind in ("float16", "float32", "float64", "complex64", "complex128")
    for sign in (1, -1)
] + [np.int8(0), np.uint8(0), np.int64(0), np.bool_(False), ag.bfloat16.numpy_dtype.type(-0.0)]
ONES = [1, True, 1.0, "1", b"1", 1 + 0j, np.float32(1), np.int32(1), Number.ONE, Decimal(1), Fraction(1)]
OTHERS = [
    *(None, "", b"", "a", b"a", np.str_("a"), Colour.RED, Colour.BLUE, float("nan"), np.float32("nan"), math.inf, int),
    *(complex("nan"), complex("nan-1j"), np.complex64(complex(math.nan, -0.0)), np.datetime64(1, "s")),
    *(np.datetime64(1, "m"), Decimal("-0"), Decimal("1.00"), Decimal(0), range(0), range(1, 1)),
]
NESTED = [
    wrap(value)
    for value in (0.0, -0.0, 0, False, np.float32(-0.0))
    for wrap in (
        lambda x: frozenset([x]),
        lambda x: frozenset([(x, 2)]),
        lambda x: {x: 1.0},
        lambda x: {(x, (x,)): 1.0},
        lambda x: {frozenset([x]): 1},
        lambda x: [x],
        lambda x: (x,),
        lambda x: Pair(x, 2),
        lambda x: {"a": (x, [x])},
        lambda x: Settings(x),
        lambda x: Settings(1.0, (x,)),
    )
]
VALUES = [*ZEROS, *SCALARS, *ONES, *OTHERS, *NESTED, {"a": 1, "b": 2}, {"b": 2, "a": 1}]


def shown(value: Any) -> str:
    """A text that is another one for each other value."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{shown(key)}: {shown(each)}' for key, each in value.items())}}}"
    if isinstance(value, (list, tuple, frozenset)):
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    if isinstance(value, Settings):
        return f"Settings({shown(value.scale)}, {shown(value.names)})"
    return f"{type(value).__name__}:{value!r}:{getattr(value, 'dtype', None)}"


def test_each_value_has_its_trace() -> None:
    texts = [shown(value) for value in VALUES]
    assert len(set(texts)) == len(VALUES)
    traced = function(lambda x, value: (x, ag.constant(shown(value))))
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TracingWarning)
            assert [traced(ag.constant(1.0), value)[1].numpy().decode() for value in VALUES] == texts
    for value, text in zip(VALUES, texts, strict=True):
        for _ in range(70):  # some run without a look
            assert traced(ag.constant(1.0), value)[1].numpy().decode() == text
    assert len(traced.traces()) == len(VALUES)


def test_by_name() -> None:
    traced = function(lambda x, **values: (x, ag.constant(shown(values))))
    for value in ZEROS:
        assert traced(ag.constant(1.0), value=value)[1].numpy().decode() == shown({"value": value})


def test_values_that_are_not_equal_to_themselves_have_one_trace() -> None:
    for make in (lambda: float("nan"), lambda: np.float32("nan"), lambda: np.float64("nan"), lambda: complex("nan")):
        traced = function(lambda x, value: x * value)
        for _ in range(3):
            traced(ag.constant(1.0 + 0j if isinstance(make(), complex) else 1.0), make())
        assert len(traced.traces()) == 1


def test_numbers_of_numpy_that_change_are_warned_of() -> None:
    traced = function(lambda x, n: x * n)
    for n in range(8):
        traced(ag.constant(1.0), np.float32(n))
    with pytest.warns(TracingWarning, match="for more than 8 kinds of arguments that differ in Python numbers alone"):
        traced(ag.constant(1.0), np.float32(8))


def test_attributes_of_ops_are_told_apart() -> None:
    """Equal calls are merged, and those with a zero of another sign are none."""
    zeros = [0.0, -0.0]
    traced = function(lambda x: [ag.nn.leaky_relu(x, alpha) for alpha in zeros])
    for x in (ag.constant(-1.0), ag.constant(-1.0)):
        signs = [math.copysign(1, each.numpy()) for each in traced(x)]
        assert signs == [math.copysign(1, ag.nn.leaky_relu(x, alpha).numpy()) for alpha in zeros]


def test_pairs_of_values_in_either_order() -> None:
    for one, other in itertools.permutations(ZEROS, 2):
        traced = function(lambda x, value: (x, ag.constant(shown(value))))
        for value in (one, other, one):
            assert traced(ag.constant(1.0), value)[1].numpy().decode() == shown(value)
