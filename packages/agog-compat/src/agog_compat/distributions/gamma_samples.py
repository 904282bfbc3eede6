"""Gamma samples: gamma-distributed numbers with gradients for the shape parameters."""

from __future__ import annotations

import agog_core as ag
from agog_core import Tensor
from agog_core.shapes import Shape


def gamma_samples(sample_shape: Shape, concentration: Tensor, seed: int | None) -> Tensor:
    """Samples for each shape parameter; the gradient is the implicit one of M. Figurnov, S. Mohamed and A. Mnih,
    "Implicit reparameterization gradients", NeurIPS 2018: how a number moves whose probability stays."""
    dtype = concentration.dtype
    if dtype not in (ag.dtypes.float32, ag.dtypes.float64):
        return ag.random_gamma(sample_shape, concentration, None, dtype, seed)

    @ag.custom_gradient
    def samples(concentration: Tensor) -> object:
        values = ag.random_gamma(sample_shape, concentration, None, dtype, seed)

        def gradient(upstream: Tensor) -> Tensor:
            fixed = ag.stop_gradient(concentration)
            density = ag.exp((fixed - 1.0) * ag.log(values) - values - ag.lgamma(fixed))
            with ag.GradientTape() as tape:
                tape.watch(fixed)
                below = ag.igamma(fixed, values)
            slope: Tensor = tape.gradient(below, fixed, output_gradients=-upstream / density)
            return slope

        return values, gradient

    found: Tensor = samples(concentration)
    return found
