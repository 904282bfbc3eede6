"""Normal-like distributions: over all real numbers, with a location and a scale."""

from __future__ import annotations

import math
from typing import Any

import agog_core as ag
from agog_compat.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from agog_compat.distributions.gamma_samples import gamma_samples
from agog_compat.distributions.parameters import broadcast, chosen, filled, log_ndtr, ndtr, ndtri, of_one_dtype
from agog_core import Tensor
from agog_core.calls.docstrings import documented_like
from agog_core.shapes import Shape

__all__ = ["Laplace", "Normal", "StudentT"]


class _Located(Distribution):
    """Base of distributions with a location and a scale."""

    _parameter_names: tuple[str, ...] = ("loc", "scale")
    loc: Tensor
    scale: Tensor

    def _check_scale(self) -> None:
        if self.validate_args:
            self._require(self.scale > 0.0, "Condition x > 0 did not hold element-wise: scale must be positive.")

    def _batch_shape(self) -> Shape:
        return broadcast(self.loc, self.scale)

    def _filled(self, value: Tensor) -> Tensor:
        return filled(value, self._batch_shape())

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def _mean(self) -> Tensor:
        return self._filled(self.loc)

    def _mode(self) -> Tensor:
        return self._mean()


class Normal(_Located):
    """The normal distribution.

    Args:
        loc: the means.
        scale: the standard deviations.
        validate_args: whether the scales are checked.
        allow_nan_stats: accepted; nothing is undefined.

    Raises:
        InvalidArgumentError: a scale is not positive, if that is checked.

    >>> print(Normal(0.0, [1.0, 2.0]).prob(0.0))
    tf.Tensor([0.3989423  0.19947115], shape=(2,), dtype=float32)
    """

    def __init__(
        self,
        loc: ag.TensorLike,
        scale: ag.TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        self.loc, self.scale = of_one_dtype(loc, scale)
        super().__init__(
            self.loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, _given(locals()), None, name
        )
        self._check_scale()

    def _sample(self, sample_shape: Shape, seed: int | None) -> Tensor:
        return (
            ag.random_normal((*sample_shape, *self._batch_shape()), 0.0, 1.0, self.dtype, seed) * self.scale + self.loc
        )

    def _log_prob(self, x: Tensor) -> Tensor:
        return ag.square(self._z(x)) * -0.5 - (ag.log(self.scale) + 0.5 * math.log(2 * math.pi))

    def _cdf(self, x: Tensor) -> Tensor:
        return ndtr(self._z(x))

    def _log_cdf(self, x: Tensor) -> Tensor:
        return log_ndtr(self._z(x))

    def _survival_function(self, x: Tensor) -> Tensor:
        return ndtr(-self._z(x))

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return log_ndtr(-self._z(x))

    def _quantile(self, p: Tensor) -> Tensor:
        return ndtri(p) * self.scale + self.loc

    def _stddev(self) -> Tensor:
        return self._filled(self.scale)

    def _entropy(self) -> Tensor:
        return self._filled(0.5 * math.log(2 * math.pi * math.e) + ag.log(self.scale))


@documented_like(Normal)
class Laplace(_Located):
    """The Laplace distribution, whose density falls exponentially on both sides.

    Args:
        scale: the mean distances from them.

    >>> print(Laplace(0.0, 1.0).prob(0.0))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """

    def __init__(
        self,
        loc: ag.TensorLike,
        scale: ag.TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        self.loc, self.scale = of_one_dtype(loc, scale)
        super().__init__(
            self.loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, _given(locals()), None, name
        )
        self._check_scale()

    def _sample(self, sample_shape: Shape, seed: int | None) -> Tensor:
        uniform = ag.random_uniform((*sample_shape, *self._batch_shape()), -1.0, 1.0, self.dtype, seed)
        uniform = chosen(uniform > -1.0, uniform, 0.0)  # the logarithm of 0 is no sample
        return self.loc - self.scale * ag.sign(uniform) * ag.log1p(-ag.abs(uniform))

    def _log_prob(self, x: Tensor) -> Tensor:
        return -ag.abs(self._z(x)) - math.log(2.0) - ag.log(self.scale)

    def _cdf(self, x: Tensor) -> Tensor:
        z = self._z(x)
        return (ag.sign(z) * -ag.expm1(-ag.abs(z)) + 1.0) * 0.5

    def _log_cdf(self, x: Tensor) -> Tensor:
        return _log_laplace(self._z(x))

    def _survival_function(self, x: Tensor) -> Tensor:
        return self._cdf(2.0 * self.loc - x)

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return _log_laplace(-self._z(x))

    def _stddev(self) -> Tensor:
        return self._filled(math.sqrt(2.0) * self.scale)

    def _entropy(self) -> Tensor:
        return self._filled(math.log(2.0) + 1.0 + ag.log(self.scale))


def _log_laplace(z: Tensor) -> Tensor:
    """The logarithm of the distribution function, also where that underflows to 0."""
    return chosen(z < 0.0, z - math.log(2.0), ag.log1p(-0.5 * ag.exp(-ag.abs(z))))


class StudentT(_Located):
    """Student's t-distribution.

    Args:
        df: the degrees of freedom.
        loc: the medians.
        scale: the scales.
        validate_args: whether the degrees of freedom and the scales are checked.
        allow_nan_stats: whether means and variances that are undefined are NaN; an error otherwise.

    Raises:
        InvalidArgumentError: one of them is not positive, if that is checked.

    >>> print(StudentT(df=3.0, loc=0.0, scale=1.0).mean())
    tf.Tensor(0.0, shape=(), dtype=float32)
    """

    _parameter_names = ("df", "loc", "scale")

    def __init__(
        self,
        df: ag.TensorLike,
        loc: ag.TensorLike,
        scale: ag.TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ) -> None:
        self.df, self.loc, self.scale = of_one_dtype(df, loc, scale)
        super().__init__(
            self.loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, _given(locals()), None, name
        )
        if validate_args:
            self._require(self.df > 0.0, "Condition x > 0 did not hold element-wise: df must be positive.")

    def _batch_shape(self) -> Shape:
        return broadcast(self.df, self.loc, self.scale)

    def _sample(self, sample_shape: Shape, seed: int | None) -> Tensor:
        shape = self._batch_shape()
        normal = ag.random_normal((*sample_shape, *shape), 0.0, 1.0, self.dtype, seed)
        df = self._filled(self.df)
        other = None if seed is None else seed + 1
        gamma = 2.0 * gamma_samples(sample_shape, 0.5 * df, other)
        return normal * ag.rsqrt(gamma / df) * self.scale + self.loc

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / ag.abs(self.scale)

    def _log_prob(self, x: Tensor) -> Tensor:
        return ag.log1p(ag.square(self._z(x)) / self.df) * (self.df + 1.0) * -0.5 - self._log_normalization()

    def _log_normalization(self) -> Tensor:
        return ag.log(ag.abs(self.scale)) + ag.log(self.df) * 0.5 + _log_beta_of_half(self.df * 0.5)

    def _cdf(self, x: Tensor) -> Tensor:
        z = self._z(x)
        df = filled(self.df, broadcast(z, self.df))
        z = filled(z, df._shape)
        low = 0.5 * ag.betainc(0.5 * df, filled(0.5 * (df / df), df._shape), df / (ag.square(z) + df))
        return chosen(z < 0.0, low, 1.0 - low)

    def _mean(self) -> Tensor:
        mean, df = self._filled(self.loc), self._filled(self.df)
        self._unless_nan_is_allowed(df > 1.0, "Condition x < y did not hold: mean is not defined for df <= 1.")
        return chosen(df > 1.0, mean, math.nan)

    def _mode(self) -> Tensor:
        return self._filled(self.loc)

    def _variance(self) -> Tensor:
        df, scale = self._filled(self.df), self._filled(self.scale)
        self._unless_nan_is_allowed(df > 1.0, "Condition x < y did not hold: variance is not defined for df <= 1.")
        known = ag.square(scale) * df / chosen(df > 2.0, df - 2.0, 1.0)
        return chosen(df > 1.0, chosen(df > 2.0, known, math.inf), math.nan)

    def _entropy(self) -> Tensor:
        half = 0.5 * (self.df + 1.0)
        return self._filled(self._log_normalization() + half * (ag.digamma(half) - ag.digamma(0.5 * self.df)))


def _log_beta_of_half(x: Tensor) -> Tensor:
    """The logarithm of the beta function of 1/2 and x."""
    return ag.lgamma(x) - ag.lgamma(x + 0.5) + 0.5 * math.log(math.pi)


def _given(scope: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in scope.items() if key not in ("self", "__class__")}
