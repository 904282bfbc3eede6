"""Spatial layer: the base of layers along spatial axes, such as height and width."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from agog_core import Tensor, TensorShape
from agog_core.ops.conv.arguments import as_before, channels_last
from agog_layers.arguments.checks import choice
from agog_layers.layer.layer import Layer
from agog_layers.serialization.memory_limit import allowance

__all__ = ["Spatial"]

_AXES = {1: ("steps",), 2: ("height", "width"), 3: ("depth", "height", "width")}
_DATA_FORMATS = ("channels_last", "channels_first")


class Spatial(Layer):
    """Base of layers along one to three axes; subclasses say how many: ``class Conv2D(Conv, axes=2)``.

    They compute in `run`, on tensors with the channels last, and give the output's sizes in `sizes_after` and
    `channels_after`.

    Args:
        data_format: ``"channels_last"`` for inputs of shape (batch, axes..., channels), which None stands for, or
            ``"channels_first"`` for (batch, channels, axes...).
        trainable: whether the variables are trained.
        name: the layer's name.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: ``data_format`` is something else.
    """

    axes: ClassVar[int]
    single_input: ClassVar[bool] = True

    def __init_subclass__(cls, *, axes: int | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if axes is not None:
            cls.axes = axes

    def __init__(
        self, data_format: str | None = None, trainable: bool = True, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(trainable, name, **kwargs)
        self.data_format = choice(type(self).__name__, "data_format", data_format, _DATA_FORMATS)
        self._channels_first = self.data_format == "channels_first"

    def call(self, inputs: Tensor) -> Tensor:
        """Compute the output of a tensor of shape (batch, axes..., channels), or (batch, channels, axes...)."""
        if len(inputs._shape) != self.axes + 2:
            raise self.misfit(inputs._shape)
        if self._channels_first:
            return as_before(self.run(channels_last(inputs, True)), True)
        return self.run(inputs)

    def run(self, x: Tensor) -> Tensor:
        """Compute the output of an input; subclasses say how. Both have the channels last."""
        raise NotImplementedError(f"{type(self).__name__}.run is not implemented; it computes the output.")

    def sizes_after(self, sizes: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """The output's sizes along the axes, of those of the input; None for unknown ones."""
        return sizes

    def check_windows(self, sizes: tuple[int | None, ...], windows: Iterable[int]) -> None:
        """Refuse windows of a file's model that would pad the input beyond the memory limit."""
        padded = [(size or 1) + window for size, window in zip(sizes, windows, strict=True)]
        allowance.get().check(f"the padded input of layer {self.name!r}", lambda: [TensorShape(padded)])

    def channels_after(self, channels: int | None) -> int | None:
        """How many channels the output has, of how many the input has; None for unknown."""
        return channels

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        batch, *sizes, channels = self.last(TensorShape(input_shape))
        after, out = self.sizes_after(tuple(sizes)), self.channels_after(channels)
        return TensorShape([batch, out, *after] if self._channels_first else [batch, *after, out])

    def last(self, shape: TensorShape) -> list[int | None]:
        """The sizes of an input's shape, channels last; None for unknown ones, and a ValueError for another rank."""
        if shape.ndims != self.axes + 2:
            raise self.misfit(shape)
        batch, *rest = shape.as_list()
        return [batch, *rest[1:], rest[0]] if self._channels_first else [batch, *rest]

    def misfit(self, shape: Any, channels: int | None = None) -> ValueError:
        """The error for an input of a shape that does not fit; its channels must be so many, or any for None."""
        named = "channels" if channels is None else str(channels)
        axes = [named, *_AXES[self.axes]] if self._channels_first else [*_AXES[self.axes], named]
        return ValueError(
            f"{type(self).__name__} layer {self.name!r} takes inputs of shape (batch, {', '.join(axes)}) "
            f"({self.data_format}); got shape {shape}."
        )
