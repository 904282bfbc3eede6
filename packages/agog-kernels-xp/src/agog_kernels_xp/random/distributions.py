"""Distributions: random numbers with parameters, by operations with the same rounding on every device.

Each kernel takes its bits at places that the shape alone decides, so that which candidates are rejected changes nothing
for the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from agog_kernels_xp.arrays import Array, Key
from agog_kernels_xp.parts import reproducible_math
from agog_kernels_xp.random.philox import high_product

Bits = Callable[[Key, int], Array]

_MOST_STEPS = 80  # of the search for Poisson numbers of a mean below 10, which exceed it with a probability below 1e-40
# ln k! from 0 to 9, and half of ln(2 pi): a device's or a C library's own might differ in the last bit.
_LOG_FACTORIALS = (
    *(0.0, 0.0, 0.6931471805599453, 1.791759469228055, 3.1780538303479458),
    *(4.787491742782046, 6.579251212010101, 8.525161361065415, 10.60460290274525, 12.801827480081469),
)
_HALF_LOG_TWO_PI = 0.9189385332046728


def random_gamma(xp: Any, bits: Bits, alpha: Array, *, shape: tuple[int, ...], key: Key, rounds: int) -> Array:
    """Gamma numbers of scale 1 (Marsaglia and Tsang). Round r takes one value for each element: its low half makes a
    normal, its high half a uniform. One round more makes the powers for alpha below 1.
    """
    out_shape = (*shape, *alpha.shape)
    count = math.prod(out_shape)
    shapes, place = _parameters(xp, alpha, count)
    d = xp.where(shapes < 1, shapes + 1, shapes) - 1 / 3
    c = 1 / xp.sqrt(9 * d)

    def candidates(words: Array, which: Array) -> tuple[Array, Array]:
        halves = words.view("uint32")
        x = reproducible_math.normal(xp, halves[0::2]).astype("float64")
        u = (halves[1::2].astype("float64") + 0.5) * 2.0**-32
        those = place[which]
        root = 1 + c[those] * x
        v = root * root * root
        square = x * x
        is_accepted = u < 1 - 0.0331 * (square * square)  # most of them, without a logarithm
        (rest,) = xp.nonzero(~is_accepted & (root > 0))
        bound = 0.5 * square[rest] + d[those[rest]] * ((1 - v[rest]) + reproducible_math.log(xp, v[rest]))
        is_accepted[rest] = reproducible_math.log(xp, u[rest]) < bound
        return d[those] * v, is_accepted

    values = _first_accepted(xp, bits, key, 1, rounds, d[place], candidates, xp.arange(count))
    (small,) = xp.nonzero((shapes < 1)[place])
    if small.size:
        u = _uniform(xp, bits(_behind(key, rounds, count), count)[small])
        values[small] = values[small] * reproducible_math.exp(xp, reproducible_math.log(xp, u) / shapes[place[small]])
    values = xp.where((shapes > 0)[place], values, math.nan)
    return values.reshape(out_shape).astype(alpha.dtype)


def random_poisson(
    xp: Any, bits: Bits, lam: Array, *, shape: tuple[int, ...], key: Key, rounds: int, dtype: Any
) -> Array:
    """Poisson numbers: those of a mean below 10 by inversion, others by Hoermann's transformed rejection (PTRS). Round
    r takes two values for each element; one round more has the value for the inversion.
    """
    out_shape = (*shape, *lam.shape)
    count = math.prod(out_shape)
    means, place = _parameters(xp, lam, count)
    is_valid = (means >= 0) & (means < math.inf)
    is_large = is_valid & (means >= 10)
    safe = xp.where(is_large, means, 10.0)
    b = 0.931 + 2.53 * xp.sqrt(safe)
    a = -0.059 + 0.02483 * b
    log_of_inverse = reproducible_math.log(xp, 1.1239 + 1.1328 / (b - 3.4))
    least = 0.9277 - 3.6224 / (b - 2)
    log_mean = reproducible_math.log(xp, safe)

    def candidates(words: Array, which: Array) -> tuple[Array, Array]:
        u, v = _uniform(xp, words[:, 0]) - 0.5, _uniform(xp, words[:, 1])
        away = 0.5 - xp.absolute(u)
        those = place[which]
        k = xp.floor((2 * a[those] / away + b[those]) * u + safe[those] + 0.43)
        is_accepted = (away >= 0.07) & (v <= least[those])  # most of them, without a logarithm
        (rest,) = xp.nonzero(~is_accepted & (k >= 0) & ((away >= 0.013) | (v <= away)))
        known, away, those = k[rest], away[rest], those[rest]
        density = known * log_mean[those] - safe[those] - _log_factorial(xp, known)
        height = reproducible_math.log(xp, v[rest]) + log_of_inverse[those]
        height = height - reproducible_math.log(xp, a[those] / (away * away) + b[those])
        is_accepted[rest] = height <= density
        return k, is_accepted

    (large,) = xp.nonzero(is_large[place])
    values = _first_accepted(xp, bits, key, 2, rounds, xp.floor(safe)[place], candidates, large)
    (small,) = xp.nonzero((is_valid & ~is_large)[place])
    if small.size:
        u = _uniform(xp, bits(_behind(key, rounds, 2 * count), count)[small])
        values[small] = _by_inversion(xp, means[place[small]], u)
    invalid = 0.0 if xp.dtype(dtype).kind in "iu" else math.nan
    return xp.where(is_valid[place], values, invalid).reshape(out_shape).astype(dtype)


def _by_inversion(xp: Any, means: Array, u: Array) -> Array:
    """The smallest number whose distribution function reaches u."""
    term = reproducible_math.exp(xp, -means)
    total, values = term, xp.zeros(means.shape)
    for step in range(1, _MOST_STEPS):
        is_above = u > total
        if not bool(is_above.any()):
            break
        values = values + is_above
        term = term * means / step
        total = total + term
    return values


def _log_factorial(xp: Any, k: Array) -> Array:
    """ln k!: a table, and Stirling's series from 10 on."""
    table = xp.asarray(_LOG_FACTORIALS)[xp.minimum(k, 9.0).astype("int64")]
    n = xp.maximum(k, 10.0)
    inverse = 1 / n
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680))))
    stirling = (n + 0.5) * reproducible_math.log(xp, n) - n + _HALF_LOG_TWO_PI + series
    return xp.where(k < 10, table, stirling)


def multinomial(xp: Any, bits: Bits, logits: Array, *, num_samples: int, key: Key, dtype: Any) -> Array:
    """Class numbers: where a random integer lies among the running sums of integer weights, since sums of integers do
    not depend on their order. Equal largest logits, infinite ones too, have equal weights; a NaN has none.
    """
    batch, classes = logits.shape
    x = logits.astype("float64")
    highest = xp.where(xp.isnan(x), -math.inf, x).max(axis=1, keepdims=True)
    below = xp.where(x < highest, x - highest, 0.0)
    scale = 2.0 ** (62 - max(classes - 1, 1).bit_length())
    weights = xp.where(xp.isnan(x), 0.0, reproducible_math.exp(xp, below) * scale).astype("uint64")
    sums = xp.cumsum(weights, axis=1, dtype="uint64")
    words = bits(key, batch * num_samples).reshape(batch, num_samples)
    chosen = high_product(xp, words, sums[:, -1:])
    position = xp.zeros((batch, num_samples), "int64")
    for power in reversed(range(classes.bit_length())):
        next_position = position + (1 << power)
        is_inside = next_position <= classes
        before = xp.take_along_axis(sums, xp.minimum(next_position, classes) - 1, axis=1)
        position = xp.where(is_inside & (before <= chosen), next_position, position)
    return xp.minimum(position, classes - 1).astype(dtype)


def _parameters(xp: Any, given: Array, count: int) -> tuple[Array, Array]:
    """The parameters in float64, and for each element of the result which one is its own."""
    return given.reshape(-1).astype("float64"), xp.arange(count) % max(given.size, 1)


def _uniform(xp: Any, words: Array) -> Array:
    """Uniform in (0, 1)."""
    return ((words >> xp.uint64(11)).astype("float64") + 0.5) * 2.0**-53


def _behind(key: Key, rounds: int, values: int) -> Key:
    """The key of the bits behind some rounds; each round starts with a block of its own."""
    return key[0], key[1], key[2] + rounds * -(-values // 4)


def _first_accepted(
    xp: Any,
    bits: Bits,
    key: Key,
    words: int,
    rounds: int,
    fallback: Array,
    candidates: Callable[[Array, Array], tuple[Array, Array]],
    pending: Array,
) -> Array:
    """For each pending element the candidate of the first round that accepts one; the fallback where none does."""
    values = fallback.copy()
    count = values.size * words
    for number in range(rounds):
        if not pending.size:
            break
        drawn = bits(_behind(key, number, count), count).reshape(-1, words)[pending]
        found, is_accepted = candidates(drawn if words > 1 else drawn.reshape(-1), pending)
        values[pending[is_accepted]] = found[is_accepted]
        pending = pending[~is_accepted]
    return values
