"""Noise: layers that add noise in training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_layers.arguments.checks import checked_rate, number
from agog_layers.calls.learning_phase import trains
from agog_layers.layer.layer import Layer

__all__ = ["AlphaDropout", "GaussianDropout", "GaussianNoise"]

# The negative saturation of selu: scale * alpha, with a minus.
_SATURATION = -1.7580993408473766


class Noise(Layer, supports_masking=True, single_input=True, needs_floats=True):
    """Base of layers that add noise while training, and else return their input."""

    def call(self, inputs: Tensor, training: Any = None) -> Tensor:
        """Add the noise while training; else return the input itself."""
        return self.noisy(inputs) if trains(training) else inputs

    def noisy(self, x: Tensor) -> Tensor:
        """Add the noise; subclasses say how."""
        raise NotImplementedError(f"{type(self).__name__}.noisy is not implemented; it adds the noise.")

    def compute_output_shape(self, input_shape: Any) -> ag.TensorShape:
        return ag.TensorShape(input_shape)


class GaussianNoise(Noise):
    """Add normally distributed random numbers of mean 0 while training.

    Args:
        stddev: their standard deviation.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> print(GaussianNoise(0.5)(ag.ones([2])))
    tf.Tensor([1. 1.], shape=(2,), dtype=float32)
    """

    def __init__(self, stddev: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.stddev = number("GaussianNoise", "stddev", stddev)

    def noisy(self, x: Tensor) -> Tensor:
        return x + ag.random_normal(x._shape, 0.0, self.stddev, x.dtype)


class GaussianDropout(Noise):
    """Multiply by normally distributed random numbers of mean 1 while training.

    N. Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", JMLR 15, 2014, section
    10.

    Args:
        rate: the rate of the `Dropout` that is as noisy: the standard deviation is ``sqrt(rate / (1 - rate))``.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the rate is not in [0, 1).

    >>> import agog_core as ag
    >>> print(GaussianDropout(0.5)(ag.ones([2])))
    tf.Tensor([1. 1.], shape=(2,), dtype=float32)
    """

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate = checked_rate(type(self).__name__, rate)

    def noisy(self, x: Tensor) -> Tensor:
        return x * ag.random_normal(x._shape, 1.0, math.sqrt(self.rate / (1 - self.rate)), x.dtype)


class AlphaDropout(Noise):
    """Drop elements to the negative saturation of selu while training, such that mean and variance stay 0 and 1.

    G. Klambauer et al., "Self-normalizing neural networks", NIPS 2017.

    Args:
        rate: the probability of an element to be dropped.
        noise_shape: the shape of the random choices, which broadcasts to the input's; None in it stands for the
            input's size.
        seed: the op's seed.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the rate is not in [0, 1).

    >>> import agog_core as ag
    >>> print(AlphaDropout(0.5)(ag.ones([2])))
    tf.Tensor([1. 1.], shape=(2,), dtype=float32)
    """

    def __init__(
        self, rate: float, noise_shape: Sequence[int | None] | None = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.rate = checked_rate(type(self).__name__, rate)
        self.noise_shape = noise_shape
        self.seed = seed

    def noisy(self, x: Tensor) -> Tensor:
        chosen = self.noise_shape or (None,) * len(x._shape)
        shape = [size if choice is None else choice for choice, size in zip(chosen, x._shape, strict=True)]
        kept = ag.cast(ag.random_uniform(shape, dtype=x.dtype, seed=self.seed) >= self.rate, x.dtype)
        dropped = (1.0 - kept) * _SATURATION
        factor = 1 / math.sqrt((1 - self.rate) * (1 + self.rate * _SATURATION**2))
        return (x * kept + dropped) * factor - factor * _SATURATION * self.rate
