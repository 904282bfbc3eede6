"""Flatten: all axes but the batch's, joined into one."""

from __future__ import annotations

import math
from typing import Any

from agog_core import Tensor, TensorLike, TensorShape, convert_to_tensor, reshape, transpose
from agog_layers.layer.layer import Layer

__all__ = ["Flatten", "flatten"]

_DATA_FORMATS = ("channels_last", "channels_first")


class Flatten(Layer, single_input=True):
    """Turn a tensor of shape (batch, ...) into one of shape (batch, features).

    Args:
        data_format: ``"channels_last"``, or ``"channels_first"`` for inputs whose channels are axis 1; the features
            are in the order of the former in both cases.
        name: the layer's name.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: ``data_format`` is something else.

    >>> import agog_core as ag
    >>> Flatten()(ag.zeros([2, 28, 28])).shape
    TensorShape([2, 784])
    """

    def __init__(self, data_format: str | None = None, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.data_format = _checked(data_format)

    def call(self, inputs: Tensor) -> Tensor:
        """Turn a tensor of shape (batch, ...) into one of shape (batch, features)."""
        return flatten(inputs, data_format=self.data_format)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape)
        return TensorShape([shape[0], shape[1:].num_elements()])


def flatten(inputs: TensorLike, name: str | None = None, data_format: str | None = None) -> Tensor:
    """Turn a tensor of shape (batch, ...) into one of shape (batch, features).

    Args:
        inputs: a tensor of rank 1 or more.
        data_format: see `Flatten`.

    Returns:
        A tensor of shape (batch, features).

    Raises:
        ValueError: the input has no axis, or ``data_format`` is something else.

    >>> import agog_core as ag
    >>> print(flatten(ag.constant([[[1, 2], [3, 4]]])))
    tf.Tensor([[1 2 3 4]], shape=(1, 4), dtype=int32)
    """
    x = convert_to_tensor(inputs)
    rank = x.ndim
    if rank == 0:
        raise ValueError("flatten: the input must have a batch axis; got a scalar of shape ().")
    if _checked(data_format) == "channels_first" and rank > 2:
        x = transpose(x, (0, *range(2, rank), 1))
    batch, *rest = x.shape.as_list()
    return reshape(x, (batch, math.prod(size or 0 for size in rest)))


def _checked(data_format: str | None) -> str:
    chosen = _DATA_FORMATS[0] if data_format is None or data_format == "" else data_format
    if chosen not in _DATA_FORMATS:
        raise ValueError(f"flatten: data_format must be one of {', '.join(_DATA_FORMATS)}; got {data_format!r}.")
    return chosen
