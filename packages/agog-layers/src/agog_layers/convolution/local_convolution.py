"""Local convolution: convolution with unshared kernels, one for each position."""

from __future__ import annotations

import math
from typing import Any

from agog_core import Tensor, TensorShape, reshape, transpose
from agog_core.ops.conv.patches import extract_image_patches
from agog_core.shapes import Shape
from agog_layers import activations
from agog_layers.arguments.checks import handed_on
from agog_layers.convolution.convolution import Conv

__all__ = ["LocallyConnected1D", "LocallyConnected2D"]


class LocallyConnected(Conv):
    """Base of `LocallyConnected1D` and `LocallyConnected2D`.

    Args:
        filters: the number of outputs for each place.
        padding: ``"valid"``; or, with implementation 2 as in Keras, ``"same"``.
        implementation: 1 or 2; it changes no result.
        Other arguments: see `Conv`.

    Raises:
        ValueError: an argument is none of these.
    """

    _places: Shape
    _from: Shape

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        activation: str | activations.Activation | None = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        if implementation not in (1, 2):
            raise ValueError(f"{type(self).__name__}: implementation must be 1 or 2; got {implementation!r}.")
        self.implementation = implementation
        super().__init__(**handed_on(locals(), "implementation"))
        if self.groups != 1:
            raise ValueError(
                f"{type(self).__name__}: groups must be 1, since each place has a kernel of its own; got {self.groups}."
            )

    def _paddings_allowed(self) -> tuple[str, ...]:
        return ("valid",) if self.implementation == 1 else ("valid", "same")

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        sizes = tuple([size for size in self.last(shape)[1:-1] if size is not None])
        if len(sizes) < self.axes:
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} needs known sizes, since each place has a kernel of its "
                f"own; got shape {shape}."
            )
        self._from = sizes
        self._places = tuple([size for size in self.sizes_after(sizes) if size is not None])
        super().build(shape)

    def build_kernels(self, channels: int) -> None:
        features = math.prod(self.kernel_size) * channels
        self.kernel = self._add_configured("kernel", (math.prod(self._places), features, self.filters))

    def bias_shape(self, channels: int) -> tuple[int | None, ...]:
        return (*self._places, self.filters)

    def run(self, x: Tensor) -> Tensor:
        if x._shape[1:-1] != self._from:
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} takes inputs whose sizes along its axes are {self._from}, "
                f"since each place has a kernel of its own; got {x._shape[1:-1]}."
            )
        flat = transpose(self._windows(x), (1, 0, 2))
        outputs = transpose(flat @ self.kernel.value(), (1, 0, 2))
        return self.biased(reshape(outputs, (x._shape[0], *self._places, self.filters)))

    def _windows(self, x: Tensor) -> Tensor:
        """The window of each position, of shape (batch, positions, features)."""
        ones = (1,) * (3 - self.axes)  # one axis is the second one of an image
        height = x if self.axes == 2 else reshape(x, (x._shape[0], 1, *x._shape[1:]))
        seen = extract_image_patches(
            height,
            (*ones, *self.kernel_size, 1),
            (*ones, *self.strides, 1),
            (*ones, *self.dilation_rate, 1),
            self.padding.upper(),
        )
        batch, places, channels = x._shape[0], math.prod(self._places), x._shape[-1]
        if self._channels_first:  # and so the kernel has the channels first
            window = math.prod(self.kernel_size)
            seen = transpose(reshape(seen, (batch, places, window, channels)), (0, 1, 3, 2))
        return reshape(seen, (batch, places, math.prod(self.kernel_size) * channels))


class LocallyConnected1D(LocallyConnected, axes=1):
    """A kernel of its own for each place along one axis; the arguments are those of `LocallyConnected`.

    Inputs have the shape (batch, steps, channels), and the kernel has (places, window * channels, filters).

    >>> import agog_core as ag
    >>> layer = LocallyConnected1D(4, 3)
    >>> layer(ag.zeros([1, 10, 2])).shape, layer.kernel.shape
    (TensorShape([1, 8, 4]), TensorShape([8, 6, 4]))
    """


class LocallyConnected2D(LocallyConnected, axes=2):
    """A kernel of its own for each place of an image; the arguments are those of `LocallyConnected`.

    Inputs have the shape (batch, height, width, channels), and the kernel has (places, window * channels, filters).

    >>> import agog_core as ag
    >>> layer = LocallyConnected2D(4, 3)
    >>> layer(ag.zeros([1, 5, 6, 2])).shape, layer.kernel.shape
    (TensorShape([1, 3, 4, 4]), TensorShape([12, 18, 4]))
    """
