"""Math: rules of elementwise arithmetic, logic and special functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agog_export.writer import Operand, Writer

__all__ = [
    "add_n",
    "argwhere",
    "atan2",
    "cross",
    "div_no_nan",
    "erfc",
    "expm1",
    "floordiv",
    "floormod",
    "is_finite",
    "left_shift",
    "log1p",
    "masked",
    "not_equal",
    "right_shift",
    "rsqrt",
    "square",
    "squared_difference",
    "truncatemod",
    "where",
]


def add_n(op: Writer, *inputs: Operand) -> Any:
    total = inputs[0]
    for x in inputs[1:]:
        total = op.Add(total, x)
    return total


def argwhere(op: Writer, condition: Operand) -> Any:
    """NonZero takes no scalars; one more axis has a coordinate that is left out."""
    whole = condition if condition.rank else op.Unsqueeze(condition, [0])
    places = op.Transpose(op.NonZero(whole), perm=[1, 0])
    return places if condition.rank else op.Slice(places, [0], [0], [1])


def atan2(op: Writer, y: Operand, x: Operand) -> Any:
    """The angle of y/x, then the half plane; where both are 0 the quotient says nothing."""
    is_left = op.Or(op.Less(x, 0.0), op.And(op.Equal(x, 0.0), op.Less(op.Reciprocal(x), 0.0)))
    is_below = op.Or(op.Less(y, 0.0), op.And(op.Equal(y, 0.0), op.Less(op.Reciprocal(y), 0.0)))
    both_infinite = op.And(op.IsInf(x), op.IsInf(y))
    both_zero = op.And(op.Equal(x, 0.0), op.Equal(y, 0.0))
    ones = op.Where(op.Equal(op.Sign(x), op.Sign(y)), np.array(1, x.dtype), np.array(-1, x.dtype))
    signed_zero = op.Where(op.Xor(is_left, is_below), np.array(-0.0, x.dtype), np.array(0.0, x.dtype))
    quotient = op.Where(both_infinite, ones, op.Where(both_zero, signed_zero, op.Div(y, x)))
    turn = op.Where(is_below, np.array(-math.pi, x.dtype), np.array(math.pi, x.dtype))
    angle = op.Atan(quotient)
    return op.Where(is_left, op.Add(angle, turn), angle)


def cross(op: Writer, a: Operand, b: Operand) -> Any:
    def turned(x: Operand, places: list[int]) -> Any:
        return op.Gather(x, np.array(places), axis=-1)

    one = op.Mul(turned(a, [1, 2, 0]), turned(b, [2, 0, 1]))
    return op.Sub(one, op.Mul(turned(a, [2, 0, 1]), turned(b, [1, 2, 0])))


def div_no_nan(op: Writer, x: Operand, y: Operand) -> Any:
    return op.Where(op.Equal(y, 0), np.array(0, x.dtype), op.Div(x, y))


def erfc(op: Writer, x: Operand) -> Any:
    return op.Sub(np.array(1, x.dtype), op.Erf(x))


def expm1(op: Writer, x: Operand) -> Any:
    """Near 0 by tanh, where the difference would cancel: 2 t / (1 - t), t = tanh(x / 2)."""
    half = op.Tanh(op.Mul(x, 0.5))
    near = op.Div(op.Mul(half, 2.0), op.Sub(np.array(1, x.dtype), half))
    return op.Where(op.Less(op.Abs(x), 1.0), near, op.Sub(op.Exp(x), 1.0))


def floordiv(op: Writer, x: Operand, y: Operand) -> Any:
    if x.is_floating:
        return op.Floor(op.Div(x, y))
    quotient = op.Div(x, y)
    rest = op.Sub(x, op.Mul(quotient, y))
    return op.Where(_differ(op, rest, y), op.Sub(quotient, 1), quotient)


def floormod(op: Writer, x: Operand, y: Operand) -> Any:
    if x.is_integer:
        return op.Mod(x, y)
    rest = op.Mod(x, y, fmod=1)  # with the sign of x
    return op.Where(_differ(op, rest, y), op.Add(rest, y), rest)


def _differ(op: Writer, rest: Operand, y: Operand) -> Any:
    """Whether there is a rest whose sign is not that of y."""
    return op.And(op.Not(op.Equal(rest, 0)), op.Xor(op.Less(rest, 0), op.Less(y, 0)))


def is_finite(op: Writer, x: Operand) -> Any:
    return op.Not(op.Or(op.IsNaN(x), op.IsInf(x)))


def left_shift(op: Writer, x: Operand, y: Operand) -> Any:
    return op.Mul(x, _power_of_two(op, y, 8 * y.dtype.itemsize - 1))


def log1p(op: Writer, x: Operand) -> Any:
    """x log(u) / (u - 1), u = 1 + x as it is rounded; x itself where that is 1."""
    u = op.Add(x, 1.0)
    near = op.Div(op.Mul(x, op.Log(u)), op.Sub(u, 1.0))
    far = op.Log(u)
    is_near = op.And(op.Less(op.Abs(x), 0.5), op.Not(op.Equal(u, 1.0)))
    return op.Where(op.Equal(u, 1.0), x, op.Where(is_near, near, far))


def masked(op: Writer, x: Operand, mask: Operand) -> Any:
    """Zeros where the mask is false, also in the place of what is no number."""
    return op.Where(mask, x, np.array(0, x.dtype))


def not_equal(op: Writer, x: Operand, y: Operand) -> Any:
    return op.Not(op.Equal(x, y))


def right_shift(op: Writer, x: Operand, y: Operand) -> Any:
    """A division that rounds down; the highest power of two is negative, and by the one before it is the sign left."""
    return floordiv(op, x, _power_of_two(op, y, 8 * y.dtype.itemsize - 2))


def _power_of_two(op: Writer, y: Operand, most: int) -> Any:
    """By a table, since powers of integers are computed in floating point."""
    within = op.cast(op.Max(op.Min(y, most), 0), np.int64)
    return op.Gather(np.left_shift(np.array(1, y.dtype), np.arange(most + 1, dtype=y.dtype)), within)


def rsqrt(op: Writer, x: Operand) -> Any:
    return op.Reciprocal(op.Sqrt(x))


def square(op: Writer, x: Operand) -> Any:
    return op.Mul(x, x)


def squared_difference(op: Writer, x: Operand, y: Operand) -> Any:
    difference = op.Sub(x, y)
    return op.Mul(difference, difference)


def truncatemod(op: Writer, x: Operand, y: Operand) -> Any:
    return op.Mod(x, y, fmod=1)


def where(op: Writer, condition: Operand, x: Operand, y: Operand) -> Any:
    if x.dtype == np.dtype(bool):  # for which runtimes have no Where
        return op.Or(op.And(condition, x), op.And(op.Not(condition), y))
    return op.Where(condition, x, y)
