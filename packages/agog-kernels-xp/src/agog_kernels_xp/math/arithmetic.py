"""Arithmetic of several functions of the array library."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.divisors import check_divisor


def add_n(xp: Any, *inputs: Array) -> Array:
    """Sum of arrays of one shape."""
    total = xp.add(inputs[0], inputs[1]) if len(inputs) > 1 else inputs[0].copy()
    for each in inputs[2:]:
        xp.add(total, each, out=total if total.ndim else None)
        total = total if total.ndim else xp.add(total, each)
    return total


def floordiv(xp: Any, x: Array, y: Array) -> Array:
    """Quotient, rounded down."""
    check_divisor(xp, "floordiv", y)
    return xp.floor_divide(x, y)


def floormod(xp: Any, x: Array, y: Array) -> Array:
    """Remainder with the divisor's sign."""
    check_divisor(xp, "floormod", y)
    return xp.remainder(x, y)


def squared_difference(xp: Any, x: Array, y: Array) -> Array:
    """Square of the difference."""
    return xp.square(xp.subtract(x, y))


def cross(xp: Any, a: Array, b: Array) -> Array:
    """Cross product along the last axis."""
    a1, b1, a2, b2 = (xp.concatenate([x[..., n:], x[..., :n]], axis=-1) for n in (1, 2) for x in (a, b))
    return a1 * b2 - a2 * b1
