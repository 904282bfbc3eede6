"""Philox: random bits by the array library's integers, for plugins without a faster source."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array

# Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011: Philox4x64-10.
_ROUNDS = 10
_MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
_STEPS = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
_WORD = (1 << 64) - 1


def philox(xp: Any, key: tuple[int, int, int], count: int) -> Array:
    """The first ``count`` values that `numpy.random.Philox` gives for a key's two words and the counter behind them.

    >>> import numpy
    >>> philox(numpy, (1, 2, 3), 5).tolist() == numpy.random.Philox(key=[1, 2], counter=3).random_raw(5).tolist()
    True
    """
    *keys, counter = key
    first = xp.arange(1, -(-count // 4) + 1, dtype="uint64") + xp.uint64(counter)
    nothing = xp.zeros_like(first)
    words = [first, (first < xp.uint64(counter)).astype("uint64"), nothing, nothing]
    for number in range(_ROUNDS):
        low, high = (xp.uint64((word + number * step) & _WORD) for word, step in zip(keys, _STEPS, strict=True))
        one, other = (xp.full_like(first, multiplier) for multiplier in _MULTIPLIERS)
        words = [
            high_product(xp, other, words[2]) ^ words[1] ^ low,
            other * words[2],
            high_product(xp, one, words[0]) ^ words[3] ^ high,
            one * words[0],
        ]
    return xp.stack(words, axis=1).reshape(-1)[:count]


def high_product(xp: Any, a: Array, b: Array) -> Array:
    """The upper 64 bits of the products of 64-bit integers, from products of their halves."""
    half, mask = xp.uint64(32), xp.uint64(0xFFFFFFFF)
    a_low, a_high, b_low, b_high = a & mask, a >> half, b & mask, b >> half
    cross, other = a_low * b_high, a_high * b_low
    carry = ((a_low * b_low) >> half) + (cross & mask) + (other & mask)
    return a_high * b_high + (cross >> half) + (other >> half) + (carry >> half)
