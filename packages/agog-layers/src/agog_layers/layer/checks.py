"""Checks: checks of inputs for several layers."""

from __future__ import annotations

from agog_core import Tensor, Variable
from agog_core.errors import InvalidArgumentError
from agog_layers.layer.layer import Layer

__all__ = ["check_dtype"]


def check_dtype(layer: Layer, inputs: Tensor, kernel: Variable) -> None:
    """Raise an error when an input is not of the dtype of a layer's variable: a TypeError for integers."""
    layer._check_floats(inputs)
    if inputs.dtype != kernel.dtype:
        raise InvalidArgumentError(
            f"{type(layer).__name__} layer {layer.name!r} has a kernel of dtype {kernel.dtype.name}; got an input of "
            f"dtype {inputs.dtype.name} and shape {inputs.shape}. Cast it with tf.cast(x, tf.{kernel.dtype.name})."
        )
