"""Pooling: maxima and means of sliding windows, or of everything, along one to three axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import agog_core as ag
from agog_core import Tensor
from agog_core.ops.conv.arguments import pairs_of
from agog_core.ops.conv.pooling_ops import general_avg_pool, general_max_pool
from agog_layers.arguments.checks import choice, one_for_each
from agog_layers.convolution.convolution import places
from agog_layers.convolution.spatial_layer import Spatial

__all__ = [
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalAveragePooling3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "GlobalMaxPooling3D",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
]


class Pooling(Spatial):
    """Base of pools with windows, which reduce each channel on its own.

    Args:
        pool_size: the window's sizes: an integer, or one for each axis.
        strides: the window's steps: an integer, or one for each axis; None for ``pool_size``, so that windows do
            not overlap.
        padding: ``"valid"`` or ``"same"``; padding does not count.
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``.
        name: the layer's name.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: an argument is none of these.
    """

    function: ClassVar[Callable[..., Tensor]]

    def __init_subclass__(cls, *, function: Callable[..., Tensor] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if function is not None:
            cls.function = staticmethod(function)

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format, name=name, **kwargs)
        kind = type(self).__name__
        self.pool_size = one_for_each(kind, "pool_size", pool_size, self.axes)
        self.strides = self.pool_size if strides is None else one_for_each(kind, "strides", strides, self.axes)
        self.padding = choice(kind, "padding", padding, ("valid", "same"))

    def run(self, x: Tensor) -> Tensor:
        ones = (1,) * self.axes
        pairs = pairs_of("pool", self.padding.upper(), x._shape[1:-1], self.pool_size, self.strides, ones)
        return self.function(x, self.pool_size, self.strides, pairs, ones)

    def sizes_after(self, sizes: tuple[int | None, ...]) -> tuple[int | None, ...]:
        self.check_windows(sizes, self.pool_size)
        forms = zip(sizes, self.pool_size, self.strides, strict=True)
        return tuple([places(size, n, stride, 1, self.padding) for size, n, stride in forms])


class MaxPooling1D(Pooling, axes=1, function=general_max_pool):
    """Maxima of windows along one axis; the arguments are those of `Pooling`.

    >>> import agog_core as ag
    >>> MaxPooling1D()(ag.constant([[[1.0], [3.0], [2.0], [0.0]]])).numpy().tolist()
    [[[3.0], [2.0]]]
    """


class MaxPooling2D(Pooling, axes=2, function=general_max_pool):
    """Maxima of windows over height and width; the arguments are those of `Pooling`.

    >>> import agog_core as ag
    >>> MaxPooling2D()(ag.zeros([1, 28, 28, 32])).shape
    TensorShape([1, 14, 14, 32])
    """


class MaxPooling3D(Pooling, axes=3, function=general_max_pool):
    """Maxima of windows over depth, height and width; the arguments are those of `Pooling`.

    >>> import agog_core as ag
    >>> MaxPooling3D()(ag.zeros([1, 8, 6, 4, 2])).shape
    TensorShape([1, 4, 3, 2, 2])
    """


class AveragePooling1D(Pooling, axes=1, function=general_avg_pool):
    """Means of windows along one axis; the arguments are those of `Pooling`.

    >>> import agog_core as ag
    >>> AveragePooling1D()(ag.constant([[[1.0], [3.0], [2.0], [0.0]]])).numpy().tolist()
    [[[2.0], [1.0]]]
    """


class AveragePooling2D(Pooling, axes=2, function=general_avg_pool):
    """Means of windows over height and width; the arguments are those of `Pooling`.

    >>> import agog_core as ag
    >>> AveragePooling2D(3, strides=2, padding="same")(ag.zeros([1, 7, 7, 2])).shape
    TensorShape([1, 4, 4, 2])
    """


class AveragePooling3D(Pooling, axes=3, function=general_avg_pool):
    """Means of windows over depth, height and width; the arguments are those of `Pooling`.

    >>> import agog_core as ag
    >>> AveragePooling3D((1, 2, 2))(ag.zeros([1, 3, 4, 4, 2])).shape
    TensorShape([1, 3, 2, 2, 2])
    """


class GlobalPooling(Spatial):
    """Base of pools over all places: they leave a tensor of shape (batch, channels).

    Args:
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: ``data_format`` is something else.
    """

    function: ClassVar[Callable[..., Tensor]]

    def __init_subclass__(cls, *, function: Callable[..., Tensor] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if function is not None:
            cls.function = staticmethod(function)

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)

    def call(self, inputs: Tensor) -> Tensor:
        """Reduce all places: (batch, axes..., channels), or (batch, channels, axes...), becomes (batch, channels)."""
        if len(inputs._shape) != self.axes + 2:
            raise self.misfit(inputs._shape)
        first = 2 if self._channels_first else 1
        return self.function(inputs, list(range(first, first + self.axes)))

    def compute_output_shape(self, input_shape: Any) -> ag.TensorShape:
        batch, *_, channels = self.last(ag.TensorShape(input_shape))
        return ag.TensorShape([batch, channels])


class GlobalMaxPooling1D(GlobalPooling, axes=1, function=ag.reduce_max):
    """The maximum of each channel along one axis; the argument is that of `GlobalPooling`.

    >>> import agog_core as ag
    >>> print(GlobalMaxPooling1D()(ag.constant([[[1.0], [3.0], [2.0]]])))
    tf.Tensor([[3.]], shape=(1, 1), dtype=float32)
    """


class GlobalMaxPooling2D(GlobalPooling, axes=2, function=ag.reduce_max):
    """The maximum of each channel over height and width; the argument is that of `GlobalPooling`.

    >>> import agog_core as ag
    >>> GlobalMaxPooling2D()(ag.zeros([1, 7, 7, 64])).shape
    TensorShape([1, 64])
    """


class GlobalMaxPooling3D(GlobalPooling, axes=3, function=ag.reduce_max):
    """The maximum of each channel over depth, height and width; the argument is that of `GlobalPooling`.

    >>> import agog_core as ag
    >>> GlobalMaxPooling3D()(ag.zeros([1, 2, 7, 7, 64])).shape
    TensorShape([1, 64])
    """


class GlobalAveragePooling1D(GlobalPooling, axes=1, function=ag.reduce_mean):
    """The mean of each channel along one axis, of the steps that a mask lets count; the argument is that of
    `GlobalPooling`.

    >>> import agog_core as ag
    >>> print(GlobalAveragePooling1D()(ag.constant([[[1.0], [3.0], [2.0]]])))
    tf.Tensor([[2.]], shape=(1, 1), dtype=float32)
    """

    # It takes a mask as well, as in Keras.
    def call(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """The mean of the steps that count: of a mask of shape (batch, time), or all."""
        if mask is None:
            return super().call(inputs)
        counts = ag.expand_dims(ag.cast(mask, inputs.dtype), 1 if self._channels_first else -1)
        axis = 2 if self._channels_first else 1
        return ag.div_no_nan(ag.reduce_sum(inputs * counts, axis), ag.reduce_sum(counts, axis))


class GlobalAveragePooling2D(GlobalPooling, axes=2, function=ag.reduce_mean):
    """The mean of each channel over height and width; the argument is that of `GlobalPooling`.

    >>> import agog_core as ag
    >>> GlobalAveragePooling2D("channels_first")(ag.zeros([1, 64, 7, 7])).shape
    TensorShape([1, 64])
    """


class GlobalAveragePooling3D(GlobalPooling, axes=3, function=ag.reduce_mean):
    """The mean of each channel over depth, height and width; the argument is that of `GlobalPooling`.

    >>> import agog_core as ag
    >>> GlobalAveragePooling3D()(ag.zeros([1, 2, 7, 7, 64])).shape
    TensorShape([1, 64])
    """


# The shorter names that Keras has as well.
MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D = GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D
GlobalAvgPool1D, GlobalAvgPool2D = GlobalAveragePooling1D, GlobalAveragePooling2D
GlobalAvgPool3D = GlobalAveragePooling3D
