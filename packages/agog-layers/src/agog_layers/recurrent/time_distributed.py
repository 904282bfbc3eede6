"""Wrapper and TimeDistributed: a layer applied to each step of sequences."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, TensorShape, nest, reshape
from agog_layers.arguments.checks import shown
from agog_layers.arguments.signature import takes_training
from agog_layers.layer.layer import Layer

__all__ = ["TimeDistributed", "Wrapper"]


class Wrapper(Layer):
    """Base of layers that change what another layer does.

    Args:
        layer: the other layer.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: ``layer`` is not a layer.
    """

    def __init__(self, layer: Layer, **kwargs: Any) -> None:
        if not isinstance(layer, Layer):
            name = type(self).__name__
            raise ValueError(f"{name}: Please initialize `{name}` layer with a `Layer` instance; got {shown(layer)}.")
        super().__init__(**kwargs)
        self.layer = layer


class TimeDistributed(Wrapper, supports_masking=True):
    """Run a layer on each step of sequences; all steps are one larger batch for it.

    Args:
        layer: the layer.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> from agog_layers import Dense
    >>> TimeDistributed(Dense(4))(ag.zeros([2, 5, 3])).shape
    TensorShape([2, 5, 4])
    """

    def build(self, input_shape: Any) -> None:
        """Make the layer's variables."""
        shape = TensorShape(input_shape)
        if shape.ndims is None or shape.ndims < 3:
            raise ValueError(
                f"{self._title} takes inputs of shape (batch, time, ...) with more behind; got shape {shape}."
            )
        self.built = True

    def call(self, inputs: Tensor, training: Any = None, mask: Any = None) -> Any:
        """Run the layer on a tensor of shape (batch, time, ...); it gets ``training`` if it takes it."""
        batch, time, *rest = [size or 0 for size in inputs.shape.as_list()]
        options = {"training": training} if takes_training(self.layer.call) else {}
        outputs = self.layer(reshape(inputs, (batch * time, *rest)), **options)
        return nest.map_structure(lambda out: reshape(out, (batch, time, *out.shape[1:])), outputs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the inputs."""
        return mask
