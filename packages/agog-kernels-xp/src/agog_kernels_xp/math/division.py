"""Division: reciprocals, quotients rounded towards zero, and quotients with 0 for divisors of 0."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.divisors import check_divisor


def div_no_nan(xp: Any, x: Array, y: Array) -> Array:
    """Quotient, 0 where the divisor is 0."""
    zero, one = y.dtype.type(0), y.dtype.type(1)
    is_zero = y == zero
    return xp.where(is_zero, zero, xp.true_divide(x, xp.where(is_zero, one, y)))


def reciprocal(xp: Any, x: Array) -> Array:
    """One divided by an array."""
    return xp.true_divide(x.dtype.type(1), x)


def truncatediv(xp: Any, x: Array, y: Array) -> Array:
    """Quotient, rounded towards zero: the rounded-down one and one more where it is negative and not exact."""
    check_divisor(xp, "truncatediv", y)
    quotient = xp.floor_divide(x, y)
    if y.dtype.kind == "u":
        return quotient
    is_rounded = (xp.remainder(x, y) != 0) & ((x < 0) != (y < 0))
    return quotient + is_rounded.astype(quotient.dtype)


def truncatemod(xp: Any, x: Array, y: Array) -> Array:
    """Remainder with the dividend's sign."""
    check_divisor(xp, "truncatemod", y)
    return xp.fmod(x, y)
