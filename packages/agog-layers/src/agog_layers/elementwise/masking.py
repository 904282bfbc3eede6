"""Masking: a mask of the time steps with a given value."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, TensorShape, cast, expand_dims, not_equal, reduce_any
from agog_layers.calls.masks import with_mask
from agog_layers.layer.layer import Layer

__all__ = ["Masking"]


class Masking(Layer, single_input=True, supports_masking=True):
    """Leave out the time steps at which all features have one value.

    Args:
        mask_value: the value.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> layer = Masking()
    >>> x = ag.constant([[[1.0, 0.0], [0.0, 0.0]]])
    >>> print(layer.compute_mask(x))
    tf.Tensor([[ True False]], shape=(1, 2), dtype=bool)
    """

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mask_value = mask_value

    def compute_mask(self, inputs: Tensor, mask: Any = None) -> Tensor:
        """Which steps count: booleans of shape (batch, time, ...), for inputs of shape (batch, time, ..., features)."""
        return reduce_any(not_equal(inputs, cast(self.mask_value, inputs.dtype)), -1)

    def call(self, inputs: Tensor) -> Tensor:
        """Set what does not count to zero."""
        mask = self.compute_mask(inputs)
        return with_mask(inputs * cast(expand_dims(mask, -1), inputs.dtype), mask)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)
