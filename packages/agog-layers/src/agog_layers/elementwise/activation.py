"""Activation: an activation function as a layer."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, TensorShape
from agog_layers import activations
from agog_layers.layer.layer import Layer

__all__ = ["Activation", "Identity"]


class Activation(Layer, supports_masking=True, single_input=True):
    """Apply an activation function.

    Args:
        activation: a function of one tensor, or its name.
        name: the layer's name.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> print(Activation("relu")(ag.constant([-1.0, 2.0])))
    tf.Tensor([0. 2.], shape=(2,), dtype=float32)
    """

    def __init__(self, activation: str | activations.Activation, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.activation: activations.Activation = activations.get(activation)

    def call(self, inputs: Tensor) -> Tensor:
        """Apply the function."""
        return self.activation(inputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


class Identity(Layer, supports_masking=True):
    """Return the input.

    Args:
        **kwargs: arguments of `Layer`.

    >>> import agog_core as ag
    >>> print(Identity()(ag.constant([1.0])))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """

    def call(self, inputs: Any) -> Any:
        """Return the input."""
        return inputs
