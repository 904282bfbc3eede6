"""From random bits to random numbers, with operations that every device rounds alike.

The bits come from the plugin, which knows how to make them on its device: each kernel takes ``bits(key, count)``, which
returns ``count`` uint64 values of Philox4x64-10 with the key's first two words, from the counter that is the third, as
`numpy.random.Philox(key=..., counter=...)` numbers the blocks. A 64-bit value gives its low 32 bits first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Array = Any
Key = tuple[int, int, int]
Bits = Callable[[Key, int], Array]

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
_CHUNK = 1 << 14  # values at a time, so that the temporaries stay in the cache


def random_uniform(xp: Any, bits: Bits, *, shape: tuple[int, ...], key: Key, dtype: Any, index: int) -> Array:
    """Floats in [0, 1), each with as many random bits as its dtype holds, so that none is rounded up to 1.

    Args:
        xp: the array library.
        bits: the source of random bits; float64 takes one value per element, other dtypes one per two.
        shape: the shape.
        key: the two words of the key, and the counter.
        dtype: a float dtype of the array library, or its name.
        index: the device.

    Returns:
        An array.
    """
    count = math.prod(shape)
    kind = xp.dtype(dtype)
    if kind == "float64":
        return ((bits(key, count) >> xp.uint64(11)) * 2.0**-53).reshape(shape)
    kept = 8 if kind.name == "bfloat16" else {2: 11, 4: 24}[kind.itemsize]
    values = (_halves(bits, key, count) >> xp.uint32(32 - kept)).astype("float32") * xp.float32(2.0**-kept)
    return values.astype(kind, copy=False).reshape(shape)


def random_integers(
    xp: Any, bits: Bits, *, shape: tuple[int, ...], key: Key, low: int, high: int, dtype: Any, index: int
) -> Array:
    """Integers in [low, high): the remainder of 64 random bits, whose bias is at most (high - low) / 2**64."""
    remainders = bits(key, math.prod(shape)) % xp.uint64(high - low)
    return remainders.astype("int64").__add__(low).astype(dtype).reshape(shape)


def random_normal(xp: Any, bits: Bits, *, shape: tuple[int, ...], key: Key, dtype: Any, index: int) -> Array:
    """Standard normals: the inverse distribution function at 23-bit midpoints, by float32 sums, products, roots."""
    count = math.prod(shape)
    halves = _halves(bits, key, count)
    values = xp.empty(count, "float32")
    for start in range(0, count, _CHUNK):
        values[start : start + _CHUNK] = _normal(xp, halves[start : start + _CHUNK])
    return values.astype(dtype, copy=False).reshape(shape)


def _halves(bits: Bits, key: Key, count: int) -> Array:
    """Random bits: ``count`` values of 32 bits."""
    return bits(key, -(-count // 2)).view("uint32")[:count]


def _normal(xp: Any, bits: Array) -> Array:
    f32 = xp.float32
    probability = ((bits >> xp.uint32(9)).astype("float32") + f32(0.5)) * f32(2.0**-23)
    x = (probability + probability) - f32(1)
    w = -_log(xp, (f32(1) - x) * (f32(1) + x))
    centre = _polynomial(xp, w - f32(2.5), _CENTRE)
    tail = _polynomial(xp, xp.sqrt(w) - f32(3), _TAIL)
    return f32(math.sqrt(2)) * (xp.where(w < f32(5), centre, tail) * x)


def _log(xp: Any, x: Array) -> Array:
    f32 = xp.float32
    bits = x.view("uint32")
    exponent = (bits >> xp.uint32(23)).astype("int32") - 126
    mantissa = ((bits & xp.uint32(0x7FFFFF)) | xp.uint32(0x3F000000)).view("float32")
    is_low = mantissa < f32(math.sqrt(0.5))
    exponent = (exponent - is_low).astype("float32")
    m = xp.where(is_low, (mantissa + mantissa) - f32(1), mantissa - f32(1))
    square = m * m
    y = _polynomial(xp, m, _LOG) * m * square
    y = y + f32(_LN2_LOW) * exponent
    y = y + f32(-0.5) * square
    return (m + y) + f32(_LN2_HIGH) * exponent


def _polynomial(xp: Any, x: Array, coefficients: tuple[float, ...]) -> Array:
    value = xp.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = value * x + xp.float32(coefficient)
    return value
