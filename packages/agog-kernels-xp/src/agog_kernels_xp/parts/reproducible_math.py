"""Reproducible math: functions composed of sums, products, quotients and roots, with the same rounding on every device.

A device's own logarithm or exponential may differ from another's in the last bit; these do not. Each operation is a
call of its own, so that none is fused with the next one.
"""

from __future__ import annotations

import math
from typing import Any

from agog_kernels_xp.arrays import Array

# Cephes' logf: ln(1 + m) for sqrt(1/2) - 1 <= m < sqrt(2) - 1, and ln 2 in two parts (S. L. Moshier, "Methods and
# programs for mathematical functions", 1989).
_LOG = (
    *(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1),
    *(-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4
# The inverse error function over x, in w = -ln(1 - x * x), near the centre and in the tails (M. Giles, "Approximating
# the erfinv function", GPU Computing Gems, 2012).
_CENTRE = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087),
    *(-0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
)
_TAIL = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773),
    *(-0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)
# The share of standard normals between -2 and 2: erf(sqrt(2)).
_INSIDE_TWO = 0.9544997361036416
# ln 2 in two parts: the first has so few bits that its products with exponents are exact (fdlibm's e_log.c, 1993).
_LN2_HIGH_64, _LN2_LOW_64 = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LOG2_E = 1.4426950408889634
# The bits of 1 and of the root of 1/2: their difference moves mantissas from there up into the next exponent.
_ONE_32, _ROOT_HALF_32 = 0x3F800000, 0x3F3504F3
_ONE_64, _ROOT_HALF_64 = 0x3FF0000000000000, 0x3FE6A09E667F3BCD
_ATANH = tuple(1 / (2 * k + 1) for k in reversed(range(12)))
_EXP = tuple(1 / math.factorial(k) for k in reversed(range(15)))


def normal(xp: Any, bits: Array) -> Array:
    """Standard normals, float32, of uint32 bits: the inverse of the distribution function at the midpoints that the
    upper 23 bits choose.
    """
    return _quantile(xp, _symmetric(xp, bits))


def truncated_normal(xp: Any, bits: Array) -> Array:
    """Standard normals between -2 and 2, otherwise as `normal`."""
    two = xp.float32(2)
    values = _quantile(xp, xp.float32(_INSIDE_TWO) * _symmetric(xp, bits))
    return xp.minimum(xp.maximum(values, -two), two)


def _symmetric(xp: Any, bits: Array) -> Array:
    """Uniform in (-1, 1)."""
    f32 = xp.float32
    probability = ((bits >> xp.uint32(9)).astype("float32") + f32(0.5)) * f32(2.0**-23)
    return (probability + probability) - f32(1)


def _quantile(xp: Any, x: Array) -> Array:
    """sqrt(2) * erfinv(x)."""
    f32 = xp.float32
    w = -_log32(xp, (f32(1) - x) * (f32(1) + x))
    values = _polynomial(xp, w - f32(2.5), _CENTRE)
    (far,) = xp.nonzero(w >= f32(5))  # one in three hundred
    values[far] = _polynomial(xp, xp.sqrt(w[far]) - f32(3), _TAIL)
    values *= x
    values *= f32(math.sqrt(2))
    return values


def _log32(xp: Any, x: Array) -> Array:
    f32 = xp.float32
    shifted = x.view("uint32") + xp.uint32(_ONE_32 - _ROOT_HALF_32)
    exponent = ((shifted >> xp.uint32(23)).astype("int32") - 127).astype("float32")
    m = ((shifted & xp.uint32(0x7FFFFF)) + xp.uint32(_ROOT_HALF_32)).view("float32") - f32(1)
    square = m * m
    y = _polynomial(xp, m, _LOG)
    y *= m
    y *= square
    y += f32(_LN2_LOW) * exponent
    y += f32(-0.5) * square
    return (m + y) + f32(_LN2_HIGH) * exponent


def _polynomial(xp: Any, x: Array, coefficients: tuple[float, ...]) -> Array:
    """Horner's scheme, in place."""
    value = xp.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += x.dtype.type(coefficient)
    return value


def log(xp: Any, x: Array) -> Array:
    """Natural logarithm of contiguous float64, positive, finite and not subnormal: for x = m * 2**e with m near 1 it is
    2 * atanh((m - 1) / (m + 1)) + e * ln 2.
    """
    shifted = x.view("int64") + (_ONE_64 - _ROOT_HALF_64)
    exponent = ((shifted >> 52) - 1023).astype("float64")
    m = ((shifted & ((1 << 52) - 1)) + _ROOT_HALF_64).view("float64")
    s = (m - 1) / (m + 1)
    series = _polynomial(xp, s * s, _ATANH)
    return exponent * _LN2_HIGH_64 + ((s + s) * series + exponent * _LN2_LOW_64)


def exp(xp: Any, x: Array) -> Array:
    """Exponential of float64 below 709 and not NaN, 0 below -708: 2**n times the Taylor series of what is left."""
    given = xp.maximum(x, -708.0)
    n = xp.floor(given * _LOG2_E + 0.5)
    rest = (given - n * _LN2_HIGH_64) - n * _LN2_LOW_64
    power = ((n.astype("int64") + 1023) << 52).view("float64")
    return xp.where(x < -708.0, 0.0, _polynomial(xp, rest, _EXP) * power)
