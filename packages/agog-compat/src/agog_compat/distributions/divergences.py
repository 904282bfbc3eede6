"""Divergences: how much one distribution differs from another, in nats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_compat.distributions.discrete import Bernoulli, Categorical
from agog_compat.distributions.distribution import Distribution
from agog_compat.distributions.normal_like import Normal
from agog_compat.distributions.positive import Beta, Dirichlet, Gamma
from agog_core import Tensor, digamma, exp, expand_dims, is_nan, lgamma, log, reduce_sum, sigmoid, square
from agog_core.errors import InvalidArgumentError
from agog_core.ops.nn import log_softmax, softplus
from agog_core.tensors.convert import host_value

__all__ = ["RegisterKL", "kl_divergence"]

# The formulas, by the classes of both distributions.
_formulas: dict[tuple[type, type], Callable[..., Tensor]] = {}


def kl_divergence(
    distribution_a: Distribution, distribution_b: Distribution, allow_nan_stats: bool = True, name: str | None = None
) -> Tensor:
    """The Kullback-Leibler divergence of one distribution from another.

    Args:
        distribution_a: the distribution that events are from.
        distribution_b: the other one.
        allow_nan_stats: whether the result may be NaN.

    Returns:
        A tensor of the shape that both batches broadcast to.

    Raises:
        NotImplementedError: there is no formula for their classes.
        InvalidArgumentError: the result is NaN, where it may not be.

    >>> print(kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0)))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """
    for a in type(distribution_a).__mro__:
        for b in type(distribution_b).__mro__:
            if (a, b) in _formulas:
                found = _formulas[a, b](distribution_a, distribution_b)
                if not allow_nan_stats and bool(host_value(is_nan(found)).any()):
                    raise InvalidArgumentError("kl_divergence: the result is NaN; the parameters do not fit.")
                return found
    raise NotImplementedError(
        "No KL(distribution_a || distribution_b) registered for distribution_a type "
        f"{type(distribution_a).__name__} and distribution_b type {type(distribution_b).__name__}; decorate a formula "
        "with tf.distributions.RegisterKL."
    )


class RegisterKL:
    """Decorates the formula of a divergence, which takes the distributions and ``name``.

    Args:
        dist_cls_a: the class of the first distribution.
        dist_cls_b: the class of the second one.

    Raises:
        ValueError: there is a formula for these classes already.

    >>> class Sure(Distribution):
    ...     def __init__(self):
    ...         pass
    >>> @RegisterKL(Sure, Sure)
    ... def nothing(a, b, name=None):
    ...     return 0.0
    >>> kl_divergence(Sure(), Sure())
    0.0
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._classes = dist_cls_a, dist_cls_b

    def __call__(self, kl_fn: Any) -> Any:
        """Keep a formula, and return it."""
        if not callable(kl_fn):
            raise TypeError(f"RegisterKL: kl_fn must be callable; got {kl_fn!r} of type {type(kl_fn).__name__}.")
        if self._classes in _formulas:
            names = " and ".join(each.__name__ for each in self._classes)
            raise ValueError(f"RegisterKL: the divergence of {names} has already been registered.")
        _formulas[self._classes] = kl_fn
        return kl_fn


@RegisterKL(Normal, Normal)
def _normals(a: Normal, b: Normal, name: str | None = None) -> Tensor:
    ratio = square(a.scale / b.scale)
    return square((a.loc - b.loc) / b.scale) / 2.0 + (ratio - 1.0 - log(ratio)) / 2.0


@RegisterKL(Bernoulli, Bernoulli)
def _bernoullis(a: Bernoulli, b: Bernoulli, name: str | None = None) -> Tensor:
    ones = sigmoid(a.logits) * (softplus(-b.logits) - softplus(-a.logits))
    return ones + sigmoid(-a.logits) * (softplus(b.logits) - softplus(a.logits))


@RegisterKL(Categorical, Categorical)
def _categoricals(a: Categorical, b: Categorical, name: str | None = None) -> Tensor:
    logs = log_softmax(a.logits)
    return reduce_sum(exp(logs) * (logs - log_softmax(b.logits)), -1)


@RegisterKL(Gamma, Gamma)
def _gammas(a: Gamma, b: Gamma, name: str | None = None) -> Tensor:
    shapes = (a.concentration - b.concentration) * digamma(a.concentration)
    normalizations = lgamma(b.concentration) - lgamma(a.concentration) + b.concentration * (log(a.rate) - log(b.rate))
    return shapes + normalizations + a.concentration * (b.rate / a.rate - 1.0)


@RegisterKL(Beta, Beta)
def _betas(a: Beta, b: Beta, name: str | None = None) -> Tensor:
    one = (a.concentration1 - b.concentration1) * digamma(a.concentration1)
    other = (a.concentration0 - b.concentration0) * digamma(a.concentration0)
    both = (b.total_concentration - a.total_concentration) * digamma(a.total_concentration)
    return b._log_normalization() - a._log_normalization() + one + other + both


@RegisterKL(Dirichlet, Dirichlet)
def _dirichlets(a: Dirichlet, b: Dirichlet, name: str | None = None) -> Tensor:
    apart = digamma(a.concentration) - expand_dims(digamma(a.total_concentration), -1)
    parts = reduce_sum((a.concentration - b.concentration) * apart, -1)
    return parts - a._log_normalization() + b._log_normalization()
