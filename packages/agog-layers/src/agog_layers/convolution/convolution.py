"""Convolutions along one, two and three axes."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, TensorShape, Variable
from agog_core.errors import InvalidArgumentError
from agog_core.ops.conv.arguments import Pairs, as_before, channels_last, pairs_of
from agog_core.ops.conv.convolution_ops import general_convolution
from agog_core.ops.nn.fused_convolution import convolution_bias
from agog_core.shapes import Shape
from agog_layers import activations
from agog_layers.activations.lookup import fused
from agog_layers.arguments.checks import choice, handed_on, integer, one_for_each
from agog_layers.convolution.spatial_layer import Spatial
from agog_layers.layer.checks import check_dtype
from agog_layers.weights import constraints, initializers, regularizers

__all__ = ["Conv1D", "Conv2D", "Conv3D", "Convolution1D", "Convolution2D", "Convolution3D"]


class Convolution(Spatial, needs_floats=True):
    """Base of all convolutions: how the window slides, the bias and the activation. Its arguments: see `Conv`."""

    bias: Variable | None = None
    _channels: int

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: str | activations.Activation | None = None,
        use_bias: bool = True,
        bias_initializer: Any = "zeros",
        bias_regularizer: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format, **kwargs)
        kind = type(self).__name__
        self.kernel_size = one_for_each(kind, "kernel_size", kernel_size, self.axes)
        self.strides = one_for_each(kind, "strides", strides, self.axes)
        self.padding = choice(kind, "padding", padding, self._paddings_allowed())
        self.dilation_rate = one_for_each(kind, "dilation_rate", dilation_rate, self.axes)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.bias_initializer = initializers.get(bias_initializer or "zeros")
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.bias_constraint = constraints.get(bias_constraint)

    def _paddings_allowed(self) -> tuple[str, ...]:
        return ("valid", "same", "causal") if self.axes == 1 else ("valid", "same")

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        shape = TensorShape(input_shape)
        channels = self.last(shape)[-1]
        if channels is None:
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} needs a known number of channels ({self.data_format}); got "
                f"shape {shape}."
            )
        self._channels = channels
        self.build_kernels(channels)
        if self.use_bias:
            self.bias = self._add_configured("bias", self.bias_shape(channels))
        self.built = True

    def build_kernels(self, channels: int) -> None:
        """Make the variables but the bias, for inputs of so many channels; subclasses say which."""
        raise NotImplementedError(f"{type(self).__name__}.build_kernels is not implemented; it makes the kernel.")

    def bias_shape(self, channels: int) -> tuple[int | None, ...]:
        """The shape of the bias, for inputs of so many channels."""
        return (self.channels_after(channels),)

    def call(self, inputs: Tensor) -> Tensor:
        try:
            outputs = super().call(inputs)
        except InvalidArgumentError:
            self._check_input(inputs)
            raise
        is_done = self.activation is activations.linear or self.fused_activation() != "linear"
        return outputs if is_done else self.activation(outputs)

    def fused_activation(self) -> str:
        """The activation that `run` applies with the bias, in one op; ``"linear"`` where it applies none."""
        return "linear"

    def _check_input(self, inputs: Tensor) -> None:
        if inputs._shape[1 if self._channels_first else -1] != self._channels:
            raise self.misfit(inputs._shape, self._channels)
        check_dtype(self, inputs, self.weights[0])

    def paddings(self, sizes: Shape) -> Pairs:
        """How far windows reach over the beginning and the end of each axis, of the input's sizes along them."""
        if self.padding == "causal":
            return (((self.kernel_size[0] - 1) * self.dilation_rate[0], 0),)
        return pairs_of("convolution", self.padding.upper(), sizes, self.kernel_size, self.strides, self.dilation_rate)

    def biased(self, outputs: Tensor) -> Tensor:
        """Add the bias, if there is one, to a tensor with the channels last."""
        return outputs if self.bias is None else outputs + self.bias.value()

    def sizes_after(self, sizes: tuple[int | None, ...]) -> tuple[int | None, ...]:
        self.check_windows(sizes, [n * rate for n, rate in zip(self.kernel_size, self.dilation_rate, strict=True)])
        forms = zip(sizes, self.kernel_size, self.strides, self.dilation_rate, strict=True)
        return tuple([places(size, n, stride, rate, self.padding) for size, n, stride, rate in forms])


def places(size: int | None, window: int, stride: int, dilation: int, padding: str) -> int | None:
    """How often a window fits along an axis: the output's size; None for unknown.

    >>> places(5, 3, 2, 1, "valid"), places(5, 3, 2, 1, "same"), places(None, 3, 2, 1, "same")
    (2, 3, None)
    """
    if size is None:
        return None
    reach = (window - 1) * dilation if padding == "valid" else 0
    return max(0, -(-(size - reach) // stride))


class Conv(Convolution):
    """Base of `Conv1D`, `Conv2D` and `Conv3D`.

    Args:
        filters: the number of outputs.
        kernel_size: the window's sizes: an integer, or one for each axis.
        strides: the window's steps: an integer, or one for each axis.
        padding: ``"valid"``, ``"same"``, or for `Conv1D` ``"causal"``: no output sees later inputs.
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``.
        dilation_rate: the distances between the window's elements: an integer, or one for each axis.
        groups: how many groups of channels are filtered apart from each other; each makes as many of the outputs.
        Other arguments: see `Dense`.

    Raises:
        ValueError: an argument is none of these.
    """

    kernel: Variable

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: str | activations.Activation | None = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        groups: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            **handed_on(locals(), "filters", "groups", "kernel_initializer", "kernel_regularizer", "kernel_constraint")
        )
        kind = type(self).__name__
        (self.filters,) = one_for_each(kind, "filters", filters, 1)
        self.groups = integer(kind, "groups", groups)
        if self.filters % self.groups:
            raise ValueError(f"{kind}: filters must be a multiple of groups; got {self.filters} and {self.groups}.")
        self.kernel_initializer = initializers.get(kernel_initializer or "glorot_uniform")
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)

    def build_kernels(self, channels: int) -> None:
        if channels % self.groups:
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r}: the number of channels must be a multiple of groups; got "
                f"{channels} and {self.groups}."
            )
        self.kernel = self._add_configured("kernel", (*self.kernel_size, channels // self.groups, self.filters))

    def convolution_op(self, inputs: Tensor, kernel: Tensor) -> Tensor:
        """The convolution alone, without bias and activation, which subclasses may give another kernel.

        Args:
            inputs: what the layer is called with, not padded yet.
            kernel: the kernel, of the shape of the layer's.

        Returns:
            A tensor in the layer's data format.

        >>> import agog_core as ag
        >>> class Doubled(Conv1D):
        ...     def convolution_op(self, inputs, kernel):
        ...         return super().convolution_op(inputs, kernel * 2.0)
        >>> Doubled(1, 1, kernel_initializer="ones")(ag.constant([[[1.0], [3.0]]])).numpy().tolist()
        [[[2.0], [6.0]]]
        """
        x = channels_last(inputs, self._channels_first)
        paddings = self.paddings(x._shape[1:-1])
        outputs = general_convolution(x, kernel, self.strides, paddings, self.dilation_rate, self.groups)
        return as_before(outputs, self._channels_first)

    def fused_activation(self) -> str:
        return fused(self.activation) if self._is_fused() else "linear"

    def _is_fused(self) -> bool:
        """Whether bias and activation go with the convolution, which no subclass computes in another way."""
        is_own = type(self).convolution_op is Conv.convolution_op
        return is_own and self.bias is not None and self.kernel.dtype.is_floating

    def run(self, x: Tensor) -> Tensor:
        if self._is_fused():
            assert self.bias is not None
            form = self.strides, self.paddings(x._shape[1:-1]), self.dilation_rate, self.groups
            return convolution_bias(x, self.kernel.value(), self.bias.value(), *form, self.fused_activation())
        outputs = self.convolution_op(as_before(x, self._channels_first), self.kernel.value())
        return self.biased(channels_last(outputs, self._channels_first))

    def channels_after(self, channels: int | None) -> int:
        return self.filters


class Conv1D(Conv, axes=1):
    """Convolution along one axis, such as time; the arguments are those of `Conv`.

    Inputs have the shape (batch, steps, channels), and the kernel has (window, channels, filters).

    >>> import agog_core as ag
    >>> layer = Conv1D(1, 2, padding="causal", kernel_initializer="ones")
    >>> layer(ag.constant([[[1.0], [2.0], [3.0]]])).numpy().tolist()
    [[[1.0], [3.0], [5.0]]]
    """


class Conv2D(Conv, axes=2):
    """Convolution along height and width; the arguments are those of `Conv`.

    Inputs have the shape (batch, height, width, channels), and the kernel has (window height, window width, channels,
    filters).

    >>> import agog_core as ag
    >>> layer = Conv2D(32, 3, padding="same", activation="relu")
    >>> layer(ag.zeros([1, 28, 28, 1])).shape, layer.kernel.shape
    (TensorShape([1, 28, 28, 32]), TensorShape([3, 3, 1, 32]))
    """


class Conv3D(Conv, axes=3):
    """Convolution along depth, height and width; the arguments are those of `Conv`.

    Inputs have the shape (batch, depth, height, width, channels), and the kernel has (window depth, window height,
    window width, channels, filters).

    >>> import agog_core as ag
    >>> Conv3D(4, 2, strides=2)(ag.zeros([1, 4, 6, 8, 3])).shape
    TensorShape([1, 2, 3, 4, 4])
    """


Convolution1D = Conv1D
Convolution2D = Conv2D
Convolution3D = Conv3D
