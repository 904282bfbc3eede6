"""Probability distributions: against formulas of their own in NumPy float64, sums of their densities, and samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_compat import distributions as tfd
from agog_compat.distributions import softplus
from agog_compat.distributions.parameters import log_ndtr
from agog_core.errors import InvalidArgumentError
from agog_testing import says

GRID = np.linspace(-40.0, 40.0, 400_001)
INSIDE = np.linspace(0.0, 1.0, 100_002)[1:-1]
DENSITIES: list[tuple[tfd.Distribution, Any]] = [
    (tfd.Normal(np.float64(0.5), 2.0), GRID),
    (tfd.Laplace(np.float64(-1.0), 1.5), GRID),
    (tfd.StudentT(np.float64(8.0), 0.5, 1.5), GRID),
    (tfd.Uniform(np.float64(-1.0), 3.0), GRID),
    (tfd.Gamma(np.float64(2.5), 1.5), GRID[200_001:]),
    (tfd.Exponential(np.float64(0.7)), GRID[200_001:]),
    (tfd.Beta(np.float64(2.0), 3.5), INSIDE),
]


@pytest.mark.parametrize(("dist", "x"), DENSITIES, ids=lambda each: type(each).__name__)
def test_moments_entropies_and_distribution_functions_follow_from_densities(dist: tfd.Distribution, x: Any) -> None:
    density, step = dist.prob(x).numpy(), x[1] - x[0]
    sums = [(density * term).sum() * step for term in (1.0, x)]
    np.testing.assert_allclose(sums, [1.0, float(dist.mean())], atol=2e-4)
    np.testing.assert_allclose((density * (x - sums[1]) ** 2).sum() * step, float(dist.variance()), atol=2e-3)
    logs = np.log(np.where(density > 0, density, 1.0))
    np.testing.assert_allclose(-(density * logs).sum() * step, float(dist.entropy()), atol=5e-4)
    some = slice(len(x) // 3, None, len(x) // 7)
    below = np.cumsum(density)[some] * step
    np.testing.assert_allclose(dist.cdf(x[some]).numpy(), below, atol=3e-4)
    np.testing.assert_allclose(dist.survival_function(x[some]).numpy(), 1 - below, atol=3e-4)
    np.testing.assert_allclose(np.exp(dist.log_cdf(x[some]).numpy()), below, atol=3e-4)
    assert (dist.dtype, dist.batch_shape, dist.event_shape) == (ag.float64, (), ())


@pytest.mark.parametrize(
    "dist",
    [
        *[tfd.Normal([0.0, 3.0], 2.0), tfd.Laplace([0.0, 3.0], 1.0), tfd.StudentT(9.0, [0.0, 3.0], 1.0)],
        *[
            tfd.Uniform([0.0, 3.0], 5.0),
            tfd.Gamma([1.0, 3.0], 2.0),
            tfd.Exponential([1.0, 3.0]),
            tfd.Beta([1.0, 3.0], 2.0),
        ],
        *[tfd.Dirichlet([1.0, 3.0]), tfd.Bernoulli(probs=[0.2, 0.6]), tfd.Multinomial(4.0, probs=[0.3, 0.7])],
    ],
    ids=lambda each: type(each).__name__,
)
def test_samples_have_the_moments(dist: tfd.Distribution) -> None:
    samples = dist.sample([200, 50], seed=3).numpy()  # the seed is 3
    assert samples.shape == (200, 50, 2)
    assert samples.dtype == dist.dtype.numpy_dtype
    np.testing.assert_allclose(samples.mean((0, 1)), dist.mean().numpy(), atol=0.1)
    np.testing.assert_allclose(samples.std((0, 1)), dist.stddev().numpy(), atol=0.1)


def test_classes_come_as_often_as_they_are_probable() -> None:
    dist = tfd.Categorical(probs=[[0.2, 0.8], [0.5, 0.5]])
    samples = dist.sample(4000, seed=5).numpy()  # the seed is 5
    assert samples.shape == (4000, 2)
    np.testing.assert_allclose(samples.mean(0), [0.8, 0.5], atol=0.03)
    np.testing.assert_allclose(dist.prob([[0], [1]]).numpy(), [[0.2, 0.5], [0.8, 0.5]], rtol=1e-6)
    np.testing.assert_allclose(dist.entropy().numpy()[1], math.log(2), rtol=1e-6)
    assert dist.mode().numpy().tolist() == [1, 0]
    assert int(dist.event_size) == 2


def test_counts() -> None:
    dist = tfd.Multinomial([3.0, 1.0], probs=[0.25, 0.75])
    np.testing.assert_allclose(dist.prob([[1.0, 2.0], [0.0, 1.0]]).numpy(), [3 * 0.25 * 0.75**2, 0.75], rtol=1e-5)
    np.testing.assert_array_equal(dist.sample(10).numpy().sum(-1), [[3.0, 1.0]] * 10)
    np.testing.assert_allclose(dist.covariance().numpy()[0], [[0.5625, -0.5625], [-0.5625, 0.5625]], rtol=1e-5)


def test_vectors_of_parts() -> None:
    dist = tfd.Dirichlet(np.array([2.0, 3.0, 5.0]))
    assert (dist.event_shape, dist.batch_shape) == ((3,), ())
    expected = math.gamma(10) / (math.gamma(2) * math.gamma(3) * math.gamma(5)) * 0.2 * 0.3**2 * 0.5**4
    np.testing.assert_allclose(float(dist.prob([0.2, 0.3, 0.5])), expected)
    np.testing.assert_allclose(dist.mode().numpy(), [1 / 7, 2 / 7, 4 / 7])
    np.testing.assert_allclose(dist.covariance().numpy().sum(-1), 0.0, atol=1e-12)
    assert np.isnan(tfd.Dirichlet([1.0, 2.0]).mode().numpy()).all()


def test_tails_and_quantiles_of_normal_distributions() -> None:
    dist = tfd.Normal(np.float64(1.0), 2.0)
    p = np.array([1e-12, 0.001, 0.3, 0.5, 0.95, 1 - 1e-9])
    np.testing.assert_allclose(dist.quantile(p).numpy(), [NormalDist(1, 2).inv_cdf(each) for each in p], rtol=1e-9)
    assert dist.quantile([0.0, 1.0]).numpy().tolist() == [-math.inf, math.inf]
    # log of the tail, by the first four terms of its continued fraction
    z = -30.0
    fraction = -z + 1 / (-z + 2 / (-z + 3 / (-z + 4 / -z)))
    expected = -0.5 * z * z - 0.5 * math.log(2 * math.pi) - math.log(fraction)
    np.testing.assert_allclose(log_ndtr(ag.constant([z, 9.0], ag.float64)).numpy(), [expected, 0.0], atol=1e-6)


def test_divergences_are_means_of_differences() -> None:
    x = GRID
    for a, b, at in [
        (tfd.Normal(np.float64(0.0), 1.0), tfd.Normal(np.float64(1.0), 2.0), x),
        (tfd.Gamma(np.float64(2.0), 1.0), tfd.Gamma(np.float64(3.0), 2.0), x[200_001:]),
        (tfd.Beta(np.float64(2.0), 3.0), tfd.Beta(np.float64(4.0), 1.5), INSIDE),
    ]:
        terms = np.nan_to_num(a.prob(at).numpy() * (a.log_prob(at).numpy() - b.log_prob(at).numpy()))
        np.testing.assert_allclose(float(tfd.kl_divergence(a, b)), terms.sum() * (at[1] - at[0]), atol=1e-4)
        np.testing.assert_allclose(float(a.cross_entropy(b)), float(a.entropy()) + float(a.kl_divergence(b)))
    p, q = np.array([0.3, 0.7]), np.array([0.6, 0.4])
    expected = (p * np.log(p / q)).sum()
    np.testing.assert_allclose(float(tfd.kl_divergence(tfd.Categorical(probs=p), tfd.Categorical(probs=q))), expected)
    np.testing.assert_allclose(float(tfd.kl_divergence(tfd.Bernoulli(probs=p[1]), tfd.Bernoulli(probs=q[1]))), expected)
    both = tfd.Dirichlet([1.0, 2.0])
    np.testing.assert_allclose(float(tfd.kl_divergence(both, both)), 0.0, atol=1e-6)


def test_gradients_flow_through_samples() -> None:
    with ag.GradientTape() as tape:
        loc = ag.constant([1.0, 2.0])
        tape.watch(loc)
        total = ag.reduce_sum(tfd.Normal(loc, 1.0).sample(3))
    assert tape.gradient(total, loc).numpy().tolist() == [3.0, 3.0]
    assert tfd.Normal(0.0, 1.0).reparameterization_type is tfd.FULLY_REPARAMETERIZED
    assert tfd.Gamma(1.0, 1.0).reparameterization_type is tfd.FULLY_REPARAMETERIZED
    assert tfd.Bernoulli(0.5).reparameterization_type is tfd.NOT_REPARAMETERIZED


def gamma_below(a: float, z: float) -> float:
    """The probability of numbers below z, by its series."""
    terms = [math.exp(a * math.log(z) - z - math.lgamma(a + n + 1) + n * math.log(z)) for n in range(120)]
    return math.fsum(terms)


def gamma_at(a: float, probability: float) -> float:
    """The number with a probability below it, by bisection."""
    low, high = 1e-12, 60.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if gamma_below(a, middle) < probability else (low, middle)
    return (low + high) / 2


def test_gradients_flow_through_samples_of_gamma_distributions() -> None:
    concentration = ag.constant([0.7, 4.0], "float64")
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(concentration)
        samples = tfd.Gamma(concentration, np.float64(1.0)).sample(3, seed=11)
        scaled = tfd.Gamma(concentration, np.float64(2.0)).sample(3, seed=11)
        others = [
            tfd.Beta(concentration, np.float64(2.0)).sample(3, seed=11),
            tfd.Dirichlet(concentration).sample(3, seed=11)[:, 0],
            tfd.StudentT(concentration, np.float64(0.0), np.float64(1.0)).sample(3, seed=11),
        ]
    h = 1e-5
    for rate, found in ((1.0, samples), (2.0, scaled)):
        slopes = tape.gradient(found, concentration).numpy() * rate
        for a, numbers, slope in zip([0.7, 4.0], found.numpy().T * rate, slopes, strict=True):
            probabilities = [gamma_below(a, z) for z in numbers]
            moved = sum((gamma_at(a + h, p) - gamma_at(a - h, p)) / (2 * h) for p in probabilities)
            np.testing.assert_allclose(slope, moved, rtol=1e-6)
    assert all(np.isfinite(tape.gradient(other, concentration).numpy()).all() for other in others)
    assert tfd.Gamma(ag.constant(2.0, "float16"), ag.constant(1.0, "float16")).sample(2).dtype == ag.float16


def test_parameters_and_copies() -> None:
    dist = tfd.Normal([1.0], 2.0, name="mine")
    assert (dist.name, dist.parameters["scale"], bool(dist.is_scalar_event()), bool(dist.is_scalar_batch())) == (
        *("mine/", 2.0, True, False),
    )
    assert dist.copy(loc=[5.0]).mean().numpy().tolist() == [5.0]
    assert tfd.Normal.param_static_shapes([2, 3]) == {"loc": (2, 3), "scale": (2, 3)}
    assert tfd.Normal.param_shapes([2])["loc"].numpy().tolist() == [2]
    assert repr(dist) == "<tf.distributions.Normal 'mine/' batch_shape=(1,) event_shape=() dtype=float32>"


def test_parameters_through_softplus() -> None:
    np.testing.assert_allclose(softplus.NormalWithSoftplusScale(0.0, 0.0).scale.numpy(), math.log(2), rtol=1e-6)
    student = softplus.StudentTWithAbsDfSoftplusScale(-3.5, 0.0, 0.0)
    assert float(student.df) == 3.0


def test_undefined_moments() -> None:
    assert np.isnan(float(tfd.StudentT(1.0, 0.0, 1.0).mean()))
    variances = tfd.StudentT([0.5, 1.5, 4.0], 0.0, 1.0).variance().numpy()
    np.testing.assert_array_equal(variances, [np.nan, np.inf, 2.0])
    assert np.isnan(float(tfd.Gamma(0.5, 1.0).mode()))
    assert np.isnan(float(tfd.Beta(0.5, 2.0).mode()))


MISTAKES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: tfd.Normal(0.0, -1.0, validate_args=True),
        InvalidArgumentError,
        "Normal/Condition x > 0 did not hold element-wise: scale must be positive.",
    ),
    (
        lambda: tfd.Uniform(1.0, 1.0, validate_args=True),
        InvalidArgumentError,
        "Uniform/Condition x < y did not hold: low must be below high.",
    ),
    (
        lambda: tfd.StudentT(1.0, 0.0, 1.0, allow_nan_stats=False).mean(),
        InvalidArgumentError,
        "StudentT/Condition x < y did not hold: mean is not defined for df <= 1.",
    ),
    (
        lambda: tfd.Bernoulli(probs=1.5, validate_args=True),
        InvalidArgumentError,
        "Bernoulli/probs has components greater than 1.",
    ),
    (lambda: tfd.Categorical(), ValueError, "Categorical: Must pass probs or logits, but not both."),
    (
        lambda: tfd.kl_divergence(tfd.Normal(0.0, 1.0), tfd.Laplace(0.0, 1.0)),
        NotImplementedError,
        "No KL(distribution_a || distribution_b) registered for distribution_a type Normal and distribution_b type "
        "Laplace; decorate a formula with tf.distributions.RegisterKL.",
    ),
    (
        lambda: tfd.RegisterKL(tfd.Normal, tfd.Normal)(len),
        ValueError,
        "RegisterKL: the divergence of Normal and Normal has already been registered.",
    ),
    (lambda: tfd.Uniform().mode(), NotImplementedError, "mode is not implemented: Uniform"),
]


@pytest.mark.parametrize(("call", "error", "text"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with says(error, text) as caught:
        call()
    assert type(caught.value) is error
