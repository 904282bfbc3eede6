"""Gamma samples: gamma-distributed numbers with gradients for the shape parameters."""

from __future__ import annotations

from agog_core import (
    GradientTape,
    Tensor,
    custom_gradient,
    dtypes,
    exp,
    igamma,
    lgamma,
    log,
    random_gamma,
    stop_gradient,
)
from agog_core.shapes import Shape


def gamma_samples(sample_shape: Shape, concentration: Tensor, seed: int | None) -> Tensor:
    """Samples for each shape parameter; the gradient is the implicit one of M. Figurnov, S. Mohamed and A. Mnih,
    "Implicit reparameterization gradients", NeurIPS 2018: how a number moves whose probability stays."""
    dtype = concentration.dtype
    if dtype not in (dtypes.float32, dtypes.float64):
        return random_gamma(sample_shape, concentration, None, dtype, seed)

    @custom_gradient
    def samples(concentration: Tensor) -> object:
        values = random_gamma(sample_shape, concentration, None, dtype, seed)

        def gradient(upstream: Tensor) -> Tensor:
            fixed = stop_gradient(concentration)
            density = exp((fixed - 1.0) * log(values) - values - lgamma(fixed))
            with GradientTape() as tape:
                tape.watch(fixed)
                below = igamma(fixed, values)
            slope: Tensor = tape.gradient(below, fixed, output_gradients=-upstream / density)
            return slope

        return values, gradient

    found: Tensor = samples(concentration)
    return found
