"""Positive distributions: over numbers above 0, between 0 and 1, and between two bounds."""

from __future__ import annotations

import math

import agog_core as ag
from agog_compat.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from agog_compat.distributions.gamma_samples import gamma_samples
from agog_compat.distributions.parameters import broadcast, chosen, filled, of_one_dtype, xlogy
from agog_core import Tensor
from agog_core.shapes import Shape

__all__ = ["Beta", "Dirichlet", "Exponential", "Gamma", "Uniform"]


class Uniform(Distribution):
    """The uniform distribution over numbers between two bounds.

    Args:
        low: the lower bounds.
        high: the upper bounds, which are no samples.
        validate_args: whether the bounds are checked.
        allow_nan_stats: accepted; nothing is undefined.

    Raises:
        InvalidArgumentError: an upper bound is not above the lower one, if that is checked.

    >>> print(Uniform(0.0, 4.0).prob([1.0, 5.0]))
    tf.Tensor([0.25 0.  ], shape=(2,), dtype=float32)
    """

    _parameter_names = ("low", "high")

    def __init__(
        self,
        low: ag.TensorLike = 0.0,
        high: ag.TensorLike = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        self.low, self.high = of_one_dtype(low, high)
        super().__init__(
            self.low.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, dict(locals()), None, name
        )
        if validate_args:
            self._require(self.low < self.high, "Condition x < y did not hold: low must be below high.")

    def range(self, name: str = "range") -> Tensor:
        """How far the bounds are apart.

        Returns:
            A tensor of shape ``batch_shape``.
        """
        return self.high - self.low

    def _batch_shape(self) -> Shape:
        return broadcast(self.low, self.high)

    def _sample(self, sample_shape: Shape, seed: int | None) -> Tensor:
        uniform = ag.random_uniform((*sample_shape, *self._batch_shape()), 0.0, 1.0, self.dtype, seed)
        return self.low + self.range() * uniform

    def _log_prob(self, x: Tensor) -> Tensor:
        return ag.log(self.prob(x))

    def prob(self, value: ag.TensorLike, name: str = "prob") -> Tensor:
        """The densities; see `Distribution.prob`."""
        x = self._value(value)
        density = 1.0 / self.range()
        inside = (x >= self.low) & (x < self.high)
        return chosen(ag.is_nan(x), x, chosen(inside, density, 0.0))

    def _cdf(self, x: Tensor) -> Tensor:
        part = (x - self.low) / self.range()
        return chosen(x < self.low, 0.0, chosen(x >= self.high, ag.ones_like(part), part))

    def _quantile(self, p: Tensor) -> Tensor:
        return self.low + p * self.range()

    def _mean(self) -> Tensor:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Tensor:
        return ag.square(self.range()) / 12.0

    def _entropy(self) -> Tensor:
        return ag.log(self.range())


class Gamma(Distribution):
    """The gamma distribution.

    Args:
        concentration: the shapes.
        rate: one over the scales.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether modes that are undefined are NaN; an error otherwise.

    Raises:
        InvalidArgumentError: a parameter is not positive, if that is checked.

    >>> print(Gamma(concentration=3.0, rate=2.0).mean())
    tf.Tensor(1.5, shape=(), dtype=float32)
    """

    _parameter_names: tuple[str, ...] = ("concentration", "rate")

    def __init__(
        self,
        concentration: ag.TensorLike,
        rate: ag.TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ) -> None:
        self.concentration, self.rate = of_one_dtype(concentration, rate)
        super().__init__(
            self.rate.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, dict(locals()), None, name
        )
        if validate_args:
            for parameter in (self.concentration, self.rate):
                self._require(
                    parameter > 0.0, "Condition x > 0 did not hold element-wise: parameters must be positive."
                )

    def _batch_shape(self) -> Shape:
        return broadcast(self.concentration, self.rate)

    def _sample(self, sample_shape: Shape, seed: int | None) -> Tensor:
        shape = self._batch_shape()
        return gamma_samples(sample_shape, filled(self.concentration, shape), seed) / self.rate

    def _checked(self, value: Tensor) -> Tensor:
        if self.validate_args:
            self._require(value > 0.0, "Condition x > 0 did not hold element-wise: sample must be positive.")
        return value

    def _log_prob(self, x: Tensor) -> Tensor:
        a = self.concentration
        return xlogy(a - 1.0, x) - self.rate * x - (ag.lgamma(a) - a * ag.log(self.rate))

    def _cdf(self, x: Tensor) -> Tensor:
        product = self.rate * self._checked(x)
        shape = broadcast(product, self.concentration)
        return ag.igamma(filled(self.concentration, shape), filled(product, shape))

    def _mean(self) -> Tensor:
        return self.concentration / self.rate

    def _variance(self) -> Tensor:
        return self.concentration / ag.square(self.rate)

    def _stddev(self) -> Tensor:
        return ag.sqrt(self.concentration) / self.rate

    def _mode(self) -> Tensor:
        above = self.concentration > 1.0
        self._unless_nan_is_allowed(
            above, "Condition x < y did not hold: mode not defined when any concentration <= 1."
        )
        return chosen(above, (self.concentration - 1.0) / self.rate, math.nan)

    def _entropy(self) -> Tensor:
        a = self.concentration
        return ag.lgamma(a) + a - ag.log(self.rate) - (a - 1.0) * ag.digamma(a)


class Exponential(Gamma):
    """The exponential distribution.

    Args:
        rate: one over the means.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether modes that are undefined are NaN; an error otherwise.

    Raises:
        InvalidArgumentError: a rate is not positive, if that is checked.

    >>> print(Exponential(rate=2.0).mean())
    tf.Tensor(0.5, shape=(), dtype=float32)
    """

    _parameter_names = ("rate",)

    def __init__(
        self,
        rate: ag.TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Exponential",
    ) -> None:
        given = dict(locals())
        (rate,) = of_one_dtype(rate)
        super().__init__(ag.ones_like(rate), rate, validate_args, allow_nan_stats, name)
        self._parameters = {key: value for key, value in given.items() if key not in ("self", "__class__")}

    def _sample(self, sample_shape: Shape, seed: int | None) -> Tensor:
        uniform = ag.random_uniform((*sample_shape, *self._batch_shape()), 0.0, 1.0, self.dtype, seed)
        return -ag.log1p(-uniform) / self.rate  # 0 is one of the numbers, and 1 is not

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return -self.rate * x

    def _mode(self) -> Tensor:
        return self.rate - self.rate


class Beta(Distribution):
    """The beta distribution.

    Args:
        concentration1: the first shapes, of successes.
        concentration0: the second shapes, of failures.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether modes that are undefined are NaN; an error otherwise.

    Raises:
        InvalidArgumentError: a parameter is not positive, if that is checked.

    >>> print(Beta(3.0, 1.0).mean())
    tf.Tensor(0.75, shape=(), dtype=float32)
    """

    _parameter_names = ("concentration1", "concentration0")

    def __init__(
        self,
        concentration1: ag.TensorLike = None,
        concentration0: ag.TensorLike = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ) -> None:
        self.concentration1, self.concentration0 = of_one_dtype(concentration1, concentration0)
        super().__init__(
            self.concentration1.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, dict(locals()), None, name
        )
        if validate_args:
            for parameter in (self.concentration1, self.concentration0):
                self._require(parameter > 0.0, "Concentration parameter must be positive.")

    @property
    def total_concentration(self) -> Tensor:
        """The sums of both parameters."""
        return self.concentration1 + self.concentration0

    def _batch_shape(self) -> Shape:
        return broadcast(self.concentration1, self.concentration0)

    def _sample(self, sample_shape: Shape, seed: int | None) -> Tensor:
        shape = self._batch_shape()
        seeds = (seed, None if seed is None else seed + 1)
        one, other = (
            gamma_samples(sample_shape, filled(parameter, shape), each)
            for parameter, each in zip((self.concentration1, self.concentration0), seeds, strict=True)
        )
        return one / (one + other)

    def _checked(self, value: Tensor) -> Tensor:
        if self.validate_args:
            self._require(value > 0.0, "sample must be positive")
            self._require(value < 1.0, "sample must be less than `1`.")
        return value

    def _log_normalization(self) -> Tensor:
        return ag.lgamma(self.concentration1) + ag.lgamma(self.concentration0) - ag.lgamma(self.total_concentration)

    def _log_prob(self, x: Tensor) -> Tensor:
        near_one = (self.concentration0 - 1.0) * ag.log1p(-x)
        return xlogy(self.concentration1 - 1.0, x) + near_one - self._log_normalization()

    def _cdf(self, x: Tensor) -> Tensor:
        x = self._checked(x)
        shape = broadcast(x, self.concentration1, self.concentration0)
        return ag.betainc(filled(self.concentration1, shape), filled(self.concentration0, shape), filled(x, shape))

    def _mean(self) -> Tensor:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> Tensor:
        mean = self._mean()
        return (mean - ag.square(mean)) / (self.total_concentration + 1.0)

    def _mode(self) -> Tensor:
        defined = (self.concentration1 > 1.0) & (self.concentration0 > 1.0)
        self._unless_nan_is_allowed(defined, "Condition x < y did not hold: mode undefined where a concentration <= 1.")
        under = chosen(defined, self.total_concentration - 2.0, 1.0)
        return chosen(defined, (self.concentration1 - 1.0) / under, math.nan)

    def _entropy(self) -> Tensor:
        a, b, total = self.concentration1, self.concentration0, self.total_concentration
        rest = (a - 1.0) * ag.digamma(a) + (b - 1.0) * ag.digamma(b) - (total - 2.0) * ag.digamma(total)
        return self._log_normalization() - rest


class Dirichlet(Distribution):
    """The Dirichlet distribution, over vectors of positive numbers whose sum is 1.

    Args:
        concentration: the shapes, along the last axis.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether modes that are undefined are NaN; an error otherwise.

    Raises:
        InvalidArgumentError: a parameter is not positive, if that is checked.

    >>> print(Dirichlet([1.0, 3.0]).mean())
    tf.Tensor([0.25 0.75], shape=(2,), dtype=float32)
    """

    def __init__(
        self,
        concentration: ag.TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:
        (self.concentration,) = of_one_dtype(concentration)
        super().__init__(
            self.concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, dict(locals()), None, name
        )
        if validate_args:
            self._require(self.concentration > 0.0, "Concentration parameter must be positive.")

    @property
    def total_concentration(self) -> Tensor:
        """The sums of the parameters along the last axis."""
        return ag.reduce_sum(self.concentration, -1)

    def _batch_shape(self) -> Shape:
        return self.concentration._shape[:-1]

    def _event_shape(self) -> Shape:
        return self.concentration._shape[-1:]

    def _sample(self, sample_shape: Shape, seed: int | None) -> Tensor:
        gamma = gamma_samples(sample_shape, self.concentration, seed)
        return gamma / ag.reduce_sum(gamma, -1, True)

    def _checked(self, value: Tensor) -> Tensor:
        if self.validate_args:
            self._require(value > 0.0, "samples must be positive")
            apart = ag.abs(ag.reduce_sum(value, -1) - 1.0)
            self._require(apart < 1e-5, "sample last-dimension must sum to `1`")
        return value

    def _log_normalization(self) -> Tensor:
        return ag.reduce_sum(ag.lgamma(self.concentration), -1) - ag.lgamma(self.total_concentration)

    def _log_prob(self, x: Tensor) -> Tensor:
        return ag.reduce_sum(xlogy(self.concentration - 1.0, x), -1) - self._log_normalization()

    def _mean(self) -> Tensor:
        return self.concentration / ag.expand_dims(self.total_concentration, -1)

    def _variance(self) -> Tensor:
        mean = self._mean()
        return (mean - ag.square(mean)) / (ag.expand_dims(self.total_concentration, -1) + 1.0)

    def _covariance(self) -> Tensor:
        mean = self._mean()
        scale = 1.0 + ag.expand_dims(ag.expand_dims(self.total_concentration, -1), -1)
        return ag.matrix_set_diag(-ag.expand_dims(mean, -1) * ag.expand_dims(mean, -2) / scale, self._variance())

    def _mode(self) -> Tensor:
        above = self.concentration > 1.0
        self._unless_nan_is_allowed(above, "Condition x < y did not hold: mode undefined where a concentration <= 1.")
        under = ag.expand_dims(self.total_concentration, -1) - float(self._event_shape()[0])
        return chosen(ag.reduce_all(above, -1, True), (self.concentration - 1.0) / under, math.nan)

    def _entropy(self) -> Tensor:
        count, total = float(self._event_shape()[0]), self.total_concentration
        parts = ag.reduce_sum((self.concentration - 1.0) * ag.digamma(self.concentration), -1)
        return self._log_normalization() + (total - count) * ag.digamma(total) - parts
