"""Whether random numbers have the distributions that they should, by SciPy's; and the functions that make them so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import agog_core as ag
from agog_core.ops.random import stateless
from agog_core.ops.random.distributions import categorical
from agog_kernels_xp.parts import reproducible_math

COUNT = 20_000
# With fixed seeds each test always gives the same p-value; none of them is in the lowest thousandth.
LEAST_P = 1e-3


def drawn(seed: int, function: Any, *args: Any, **kwargs: Any) -> np.ndarray[Any, Any]:
    ag.set_random_seed(seed)
    values: np.ndarray[Any, Any] = function(*args, **kwargs).numpy()
    return values.astype(np.float64) if values.dtype.kind == "f" else values


def agree(seed: int, values: Any, distribution: Any) -> None:
    p = stats.kstest(values, distribution.cdf).pvalue
    assert p > LEAST_P, f"seed {seed}: p = {p}"


def agree_counts(seed: int, values: Any, distribution: Any) -> None:
    """A chi-squared test over the integers that are expected at least 10 times, and one class for each end."""
    expected = distribution.pmf(np.arange(int(distribution.ppf(1 - 1e-9)) + 2)) * len(values)
    (common,) = np.nonzero(expected >= 10)
    low, high = common[0], common[-1]
    observed = [np.sum(values < low), *np.bincount(values, minlength=high + 1)[low : high + 1], np.sum(values > high)]
    wanted = [len(values) * distribution.cdf(low - 1), *expected[low : high + 1], len(values) * distribution.sf(high)]
    statistic = sum((o - w) ** 2 / w for o, w in zip(observed, wanted, strict=True) if w > 1e-9)
    p = stats.chi2.sf(statistic, len(wanted) - 1)
    assert p > LEAST_P, f"seed {seed}: p = {p}"


@pytest.mark.parametrize("seed", [1, 2])
def test_floats(seed: int) -> None:
    agree(seed, drawn(seed, ag.random_uniform, [COUNT], -1, 3), stats.uniform(-1, 4))
    agree(seed, drawn(seed, ag.random_normal, [COUNT], 2.0, 3.0), stats.norm(2, 3))
    agree(seed, drawn(seed, ag.truncated_normal, [COUNT], 2.0, 3.0), stats.truncnorm(-2, 2, 2, 3))
    agree(seed, drawn(seed, stateless.stateless_random_uniform, [COUNT], [seed, 5]), stats.uniform)
    agree(seed, drawn(seed, stateless.stateless_random_normal, [COUNT], [seed, 5]), stats.norm)
    agree(seed, drawn(seed, stateless.stateless_truncated_normal, [COUNT], [seed, 5]), stats.truncnorm(-2, 2))


@pytest.mark.parametrize("alpha", [0.05, 0.5, 0.99, 1.0, 1.5, 3.0, 40.0, 1e4])
@pytest.mark.parametrize("beta", [None, 2.5])
def test_gamma(alpha: float, beta: float | None) -> None:
    values = drawn(3, ag.random_gamma, [COUNT], alpha, beta, dtype="float64")
    agree(3, values, stats.gamma(alpha, scale=1 / (beta or 1)))


@pytest.mark.parametrize("mean", [0.1, 1.0, 5.0, 9.99, 10.0, 11.0, 50.0, 1000.0, 1e6])
def test_poisson(mean: float) -> None:
    values = drawn(4, ag.random_poisson, mean, [COUNT], dtype="int64")
    if mean < 1e5:
        agree_counts(4, values, stats.poisson(mean))
    else:
        agree(4, values, stats.poisson(mean))


def test_classes() -> None:
    logits = np.random.default_rng(5).normal(0, 1, (3, 11))
    probabilities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    for values in (
        drawn(5, ag.multinomial, logits, COUNT),
        drawn(6, categorical, logits, COUNT),
        drawn(7, stateless.stateless_multinomial, logits, COUNT, [3, 4]),
    ):
        for row, expected in zip(values, probabilities, strict=True):
            assert stats.chisquare(np.bincount(row, minlength=11), expected * COUNT).pvalue > LEAST_P


def test_orders_are_equally_likely() -> None:
    ag.set_random_seed(8)
    places = np.array([ag.random_shuffle(np.arange(4)).numpy() for _ in range(4800)])
    codes = places @ np.array([64, 16, 4, 1])
    orders, counts = np.unique(codes, return_counts=True)
    assert len(orders) == 24
    assert stats.chisquare(counts).pvalue > LEAST_P


def test_crops_are_equally_likely() -> None:
    ag.set_random_seed(9)
    image = np.arange(20).reshape(4, 5)
    corners = [int(ag.random_crop(image, [2, 3]).numpy()[0, 0]) for _ in range(1800)]
    places, counts = np.unique(corners, return_counts=True)
    assert places.tolist() == [0, 1, 2, 5, 6, 7, 10, 11, 12]
    assert stats.chisquare(counts).pvalue > LEAST_P


def test_integers() -> None:
    values = drawn(10, ag.random_uniform, [COUNT], -3, 4, "int32")
    assert stats.chisquare(np.bincount(values + 3)).pvalue > LEAST_P


def test_logarithm_and_exponential_of_rounded_operations() -> None:
    rng = np.random.default_rng(11)
    x = np.concatenate([np.exp(rng.uniform(-700, 700, 50_000)), rng.uniform(0.5, 2, 50_000), [1.0, 2.0**-54]])
    np.testing.assert_allclose(reproducible_math.log(np, x), np.log(x), rtol=1e-15)
    x = rng.uniform(-707, 708, 50_000)
    np.testing.assert_allclose(reproducible_math.exp(np, x), np.exp(x), rtol=1e-15)
    assert reproducible_math.exp(np, np.array([0.0, -709.0, -np.inf])).tolist() == [1.0, 0.0, 0.0]
