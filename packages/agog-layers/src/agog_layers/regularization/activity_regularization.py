"""Activity regularization: a layer with penalties on its inputs."""

from __future__ import annotations

from typing import Any

from agog_core import TensorShape
from agog_layers.layer.layer import Layer
from agog_layers.weights.regularizers import L1L2

__all__ = ["ActivityRegularization"]


class ActivityRegularization(Layer, supports_masking=True):
    """Return the input, and add a penalty for it to `losses`.

    Args:
        l1: the factor of the sum of absolute values.
        l2: the factor of the sum of squares.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> layer = ActivityRegularization(l2=0.5)
    >>> _ = layer(ag.constant([2.0, 4.0]))
    >>> [float(loss) for loss in layer.losses]
    [10.0]
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**{"activity_regularizer": L1L2(l1, l2), **kwargs})
        self.l1 = l1
        self.l2 = l2

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)
