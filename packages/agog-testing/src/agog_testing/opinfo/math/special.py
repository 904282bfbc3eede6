"""Special: facts about special functions. The references are series in float64, or Python's own functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import Rng, Values, between, binary, constant, invalid, rejected, unary, uniform

NAN, INF = np.nan, np.inf
_PRECISE = "float32, float64"
# Sums of many terms, and logarithms that cancel near the zeros at 1 and 2.
_LOOSE = {"float32": (1e-5, 5e-6), "float64": (1e-11, 1e-12)}


def _each(function: Callable[..., float]) -> Callable[..., Any]:
    """A function of numbers for arrays, also empty ones."""
    return np.vectorize(function, otypes=[float])


def _lgamma(x: float) -> float:
    return INF if math.isinf(x) or (x <= 0 and x == math.floor(x)) else math.lgamma(x)


def _zeta(x: float, q: float) -> float:
    """The first terms, and for the rest the formula of Euler and Maclaurin."""
    count, start = 20, float(q + 20)
    total: float = math.fsum((q + n) ** -x for n in range(count)) + start ** (1 - x) / (x - 1) + 0.5 * start**-x
    factor = x * start ** (-x - 1)
    for n, bernoulli in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730), 1):
        total += factor * bernoulli / math.factorial(2 * n)
        factor *= (x + 2 * n - 1) * (x + 2 * n) / start**2
    return total


def _digamma(x: float) -> float:
    """psi(x) = psi(x + 1) - 1 / x up to where the asymptotic series is exact."""
    total = 0.0
    while x < 20:
        total, x = total - 1 / x, x + 1
    if math.isinf(x):
        return x
    return total + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6) + 1 / (240 * x**8)


def _polygamma(a: float, x: float) -> float:
    order = int(a)
    return _digamma(x) if order == 0 else (-1) ** (order + 1) * math.factorial(order) * _zeta(order + 1, x)


def _igamma(a: Array, x: Array) -> Array:
    term = np.exp(a * np.log(x) - x - _each(math.lgamma)(a + 1))
    total = np.zeros_like(term)
    for n in range(1, 81):
        total += term
        term *= x / (a + n)
    return np.where(x == 0, 0, total)


def _betainc(a: Array, b: Array, x: Array) -> Array:
    of_sum, of_a, of_b = map(_each(math.lgamma), (a + b, a + 1, b))
    term = np.exp(a * np.log(x) + b * np.log1p(-x) + of_sum - of_a - of_b)
    total = np.zeros_like(term)
    for n in range(400):
        total += term
        term *= (a + b + n) / (a + 1 + n) * x
    return np.where((x == 0) | (x == 1), x, total)


def _bessel(order: int) -> Callable[[Array], Array]:
    def scaled(x: Array) -> Array:
        total = np.zeros(np.shape(x))
        for n in range(60):
            total += (x / 2) ** (2 * n + order) / float(math.factorial(n) * math.factorial(n + order))
        return np.exp(-np.abs(x)) * total

    return scaled


def _orders(dtype: str, rng: Rng, shape: tuple[int, ...]) -> Array:
    return np.asarray(rng.integers(0, 4, shape)).astype(as_dtype(dtype).numpy_dtype)


def _betainc_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for a, b, x in (
        ((), (), ()),
        ((3,), (3,), (3,)),
        ((2, 1), (3,), (1,)),
        ((1,), (), (4,)),
        ((0,), (1,), (0,)),
        ((67,), (1,), (67,)),
    ):
        parameters = uniform(dtype, rng, a, 0.5, 4), uniform(dtype, rng, b, 0.5, 4)
        yield Sample(f"shapes {a}, {b} and {x}", (*parameters, uniform(dtype, rng, x, 0.1, 0.8)))
    ends = constant(dtype, [2.0, 3.0]), constant(dtype, [0.5, 2.0]), constant(dtype, [0.0, 1.0])
    yield Sample("the ends", ends, smooth=False)


def _betainc_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    parameters = uniform(dtype, rng, (size,), 0.5, 4), uniform(dtype, rng, (), 0.5, 4)
    yield Sample(f"shape {(size,)}", (*parameters, uniform(dtype, rng, (size,), 0.1, 0.8)))


def _of_two(
    name: str, function: Callable[..., Any], x: Values, y: Values, special: tuple[float, ...], names: tuple[str, str]
) -> OpInfo:
    return binary(name, function, x, y, special, allowed=_PRECISE, names=names, tolerances=_LOOSE)


_HALF, _PAIR = np.full(1, 0.5, np.float32), np.full(2, 0.5, np.float32)
_THREE = np.full(3, 0.5, np.float32)

INFOS = (
    unary("erf", _each(math.erf), tolerances={"float64": (1e-13, 1e-13)}),
    unary("erfc", _each(math.erfc), between(-2, 2), special=(NAN, INF, -INF, 0.0, 1.0, 30.0)),
    unary("lgamma", _each(_lgamma), between(0.3, 5), special=(NAN, INF, 1.0, 2.0, 0.0, -1.0, -1.5), tolerances=_LOOSE),
    unary("digamma", _each(_digamma), between(0.3, 5), special=(NAN, INF, 1.0, 2.0, -1.5), tolerances=_LOOSE),
    _of_two("polygamma", _each(_polygamma), _orders, between(0.5, 4), (1.0, 2.0), ("a", "x")),
    _of_two("zeta", _each(_zeta), between(1.5, 5), between(0.5, 4), (2.0, 3.0), ("x", "q")),
    _of_two("igamma", _igamma, between(0.5, 4), between(0.3, 4), (1.0, 2.0), ("a", "x")),
    _of_two("igammac", lambda a, x: 1 - _igamma(a, x), between(0.5, 4), between(0.3, 4), (1.0, 2.0), ("a", "x")),
    OpInfo(
        name="betainc",
        samples=_betainc_samples,
        sized=_betainc_sized,
        elementwise=True,
        reference=_betainc,
        errors=(
            rejected("betainc", "float16", _PRECISE, (np.ones(1, np.float16),) * 3),
            invalid(
                (_HALF, _PAIR, _THREE),
                "betainc: Incompatible shapes: [2] vs. [3]: sizes 2 and 3 differ and neither is 1. Reshape, tile "
                "or slice one of them.",
            ),
        ),
        tolerances=_LOOSE,
    ),
    unary("bessel_i0e", _bessel(0), special=(NAN, 0.0, 1.0, -1.0), tolerances=_LOOSE),
    unary("bessel_i1e", _bessel(1), special=(NAN, 0.0, 1.0, -1.0), tolerances=_LOOSE),
)
