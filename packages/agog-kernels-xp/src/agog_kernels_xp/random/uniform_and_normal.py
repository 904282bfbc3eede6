"""Uniform and normal: random numbers from random bits, by operations with the same rounding on every device.

The bits come from the plugin, which knows how to make them on its device: each kernel takes ``bits(key, count)``, which
returns ``count`` uint64 values of Philox4x64-10 with the key's first two words, from the counter that is the third, as
`numpy.random.Philox(key=..., counter=...)` numbers the blocks. A 64-bit value gives its low 32 bits first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from agog_kernels_xp.arrays import Array, Key
from agog_kernels_xp.parts import reproducible_math

Bits = Callable[[Key, int], Array]

_CHUNK = 1 << 14  # values at a time, so that the temporaries stay in the cache


def random_uniform(xp: Any, bits: Bits, *, shape: tuple[int, ...], key: Key, dtype: Any, index: int) -> Array:
    """Floats in [0, 1), each with as many random bits as its dtype holds, so that none is rounded up to 1. float64
    takes one value of 64 bits per element, other dtypes one per two.
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
    return _by_quantiles(xp, bits, reproducible_math.normal, shape, key, dtype)


def truncated_normal(xp: Any, bits: Bits, *, shape: tuple[int, ...], key: Key, dtype: Any, index: int) -> Array:
    """Standard normals between -2 and 2: the inverse of their own distribution function, at the same midpoints."""
    return _by_quantiles(xp, bits, reproducible_math.truncated_normal, shape, key, dtype)


def _by_quantiles(xp: Any, bits: Bits, quantiles: Any, shape: tuple[int, ...], key: Key, dtype: Any) -> Array:
    count = math.prod(shape)
    halves = _halves(bits, key, count)
    values = xp.empty(count, "float32")
    for start in range(0, count, _CHUNK):
        values[start : start + _CHUNK] = quantiles(xp, halves[start : start + _CHUNK])
    return values.astype(dtype, copy=False).reshape(shape)


def _halves(bits: Bits, key: Key, count: int) -> Array:
    """Random bits: ``count`` values of 32 bits."""
    return bits(key, -(-count // 2)).view("uint32")[:count]


def random_permutation(xp: Any, bits: Bits, *, count: int, key: Key, dtype: Any, index: int) -> Array:
    """The order of as many random 64-bit values; the first of equal ones comes first."""
    return xp.argsort(bits(key, count), kind="stable").astype(dtype, copy=False)
