"""Dropout: random zeros against co-adaptation of units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core import Tensor, TensorLike, TensorShape, convert_to_tensor, nn
from agog_layers.arguments.checks import checked_rate
from agog_layers.calls.learning_phase import trains
from agog_layers.layer.layer import Layer

__all__ = ["Dropout", "dropout"]


class Dropout(Layer, supports_masking=True, single_input=True):
    """Set elements to zero at random while training, and scale the others so that the expected sum stays.

    N. Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", JMLR 15, 2014.

    Args:
        rate: the probability of an element to be dropped.
        noise_shape: the shape of the random choices, which broadcasts to the input's; None in it stands for the
            input's size.
        seed: the op's seed.
        name: the layer's name.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the rate is not in [0, 1).

    >>> import agog_core as ag
    >>> layer = Dropout(0.5)
    >>> print(layer(ag.ones([3])))
    tf.Tensor([1. 1. 1.], shape=(3,), dtype=float32)
    >>> set(layer(ag.ones([1000]), training=True).numpy().tolist()) == {0.0, 2.0}
    True
    """

    def __init__(
        self,
        rate: float = 0.5,
        noise_shape: Sequence[int | None] | None = None,
        seed: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.rate = checked_rate(type(self).__name__, rate)
        self.noise_shape = noise_shape
        self.seed = seed

    def call(self, inputs: Tensor, training: Any = None) -> Tensor:
        """Drop elements while training; else return the input itself."""
        return dropout(inputs, self.rate, self.noise_shape, self.seed, training)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


def dropout(
    inputs: TensorLike,
    rate: float = 0.5,
    noise_shape: Sequence[int | None] | None = None,
    seed: int | None = None,
    training: Any = False,
    name: str | None = None,
) -> Tensor:
    """Set elements to zero at random while training; see `Dropout`.

    Args:
        inputs: a tensor of floats.
        training: whether to drop any.
        rate, noise_shape, seed: see `Dropout`.

    Returns:
        A tensor of the same shape; the input itself when not training.

    >>> import agog_core as ag
    >>> print(dropout(ag.ones([3])))
    tf.Tensor([1. 1. 1.], shape=(3,), dtype=float32)
    """
    x = convert_to_tensor(inputs)
    if not trains(training):
        return x
    if noise_shape is not None:
        noise_shape = [size if chosen is None else chosen for chosen, size in zip(noise_shape, x.shape, strict=True)]
    return nn.dropout(x, rate=rate, noise_shape=noise_shape, seed=seed)
