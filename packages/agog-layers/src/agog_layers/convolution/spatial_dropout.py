"""Spatial dropout: dropout of whole channels."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor
from agog_layers.arguments.checks import checked_rate
from agog_layers.convolution.spatial_layer import Spatial
from agog_layers.regularization.dropout import dropout

__all__ = ["SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"]


class SpatialDropout(Spatial, supports_masking=True):
    """Base of layers that drop whole channels while training, since neighbours in one are similar.

    J. Tompson et al., "Efficient object localization using convolutional networks", CVPR 2015.

    Args:
        rate: the probability of a channel to be dropped.
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the rate is not in [0, 1), or ``data_format`` is something else.
    """

    def __init__(self, rate: float, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
        self.rate = checked_rate(type(self).__name__, rate)

    def call(self, inputs: Tensor, training: Any = None) -> Tensor:
        """Drop channels while training; else return the input itself."""
        batch, *_, channels = self.last(inputs.shape)
        ones = [1] * self.axes
        shape = [batch, channels, *ones] if self._channels_first else [batch, *ones, channels]
        return dropout(inputs, self.rate, shape, training=training)


class SpatialDropout1D(SpatialDropout, axes=1):
    """Drop whole channels of sequences while training.

    Args:
        rate: the probability of a channel to be dropped.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the rate is not in [0, 1).

    >>> import agog_core as ag
    >>> SpatialDropout1D(0.5)(ag.ones([1, 2, 1])).numpy().tolist()
    [[[1.0], [1.0]]]
    """

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(rate, **kwargs)


class SpatialDropout2D(SpatialDropout, axes=2):
    """Drop whole channels of images while training; the arguments are those of `SpatialDropout`.

    >>> import agog_core as ag
    >>> SpatialDropout2D(0.5)(ag.ones([1, 2, 2, 1])).numpy().ravel().tolist()
    [1.0, 1.0, 1.0, 1.0]
    """


class SpatialDropout3D(SpatialDropout, axes=3):
    """Drop whole channels of volumes while training; the arguments are those of `SpatialDropout`.

    >>> import agog_core as ag
    >>> SpatialDropout3D(0.5)(ag.ones([1, 2, 1, 1, 1])).numpy().ravel().tolist()
    [1.0, 1.0]
    """
