"""Softplus: distributions with `softplus` applied to their positive parameters."""

from __future__ import annotations

from typing import Any

from agog_compat.distributions.normal_like import Laplace, Normal, StudentT
from agog_compat.distributions.positive import Beta, Exponential, Gamma
from agog_core import TensorLike, abs, floor
from agog_core.ops.nn import softplus

__all__ = [
    "BetaWithSoftplusConcentration",
    "ExponentialWithSoftplusRate",
    "GammaWithSoftplusConcentrationRate",
    "LaplaceWithSoftplusScale",
    "NormalWithSoftplusScale",
    "StudentTWithAbsDfSoftplusScale",
]


class NormalWithSoftplusScale(Normal):
    """See `Normal`; the scale is ``softplus(scale)``."""

    def __init__(self, loc: TensorLike, scale: TensorLike, **options: Any) -> None:
        super().__init__(loc, softplus(scale), **options)


class LaplaceWithSoftplusScale(Laplace):
    """See `Laplace`; the scale is ``softplus(scale)``."""

    def __init__(self, loc: TensorLike, scale: TensorLike, **options: Any) -> None:
        super().__init__(loc, softplus(scale), **options)


class StudentTWithAbsDfSoftplusScale(StudentT):
    """See `StudentT`; the degrees of freedom are ``floor(abs(df))``, and the scale is ``softplus(scale)``."""

    def __init__(self, df: TensorLike, loc: TensorLike, scale: TensorLike, **options: Any) -> None:
        super().__init__(floor(abs(df)), loc, softplus(scale), **options)


class GammaWithSoftplusConcentrationRate(Gamma):
    """See `Gamma`; both parameters go through `softplus`."""

    def __init__(self, concentration: TensorLike, rate: TensorLike, **options: Any) -> None:
        super().__init__(softplus(concentration), softplus(rate), **options)


class ExponentialWithSoftplusRate(Exponential):
    """See `Exponential`; the rate is ``softplus(rate)``."""

    def __init__(self, rate: TensorLike, **options: Any) -> None:
        super().__init__(softplus(rate), **options)


class BetaWithSoftplusConcentration(Beta):
    """See `Beta`; both parameters go through `softplus`."""

    def __init__(self, concentration1: TensorLike, concentration0: TensorLike, **options: Any) -> None:
        super().__init__(softplus(concentration1), softplus(concentration0), **options)
