"""Separable convolution: depthwise convolutions, alone or before a pointwise one."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, Variable, reshape
from agog_core.ops.conv.convolution_ops import general_convolution
from agog_layers import activations
from agog_layers.arguments.checks import handed_on, one_for_each
from agog_layers.convolution.convolution import Convolution
from agog_layers.weights import constraints, initializers, regularizers

__all__ = ["DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D", "SeparableConvolution1D", "SeparableConvolution2D"]


class Depthwise(Convolution):
    """Base of convolutions that filter each channel on its own, with ``depth_multiplier`` filters."""

    depthwise_kernel: Variable

    def __init__(
        self,
        kernel_size: Any,
        depth_multiplier: int = 1,
        depthwise_initializer: Any = "glorot_uniform",
        depthwise_regularizer: Any = None,
        depthwise_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(kernel_size, **kwargs)
        (self.depth_multiplier,) = one_for_each(type(self).__name__, "depth_multiplier", depth_multiplier, 1)
        self.depthwise_initializer = initializers.get(depthwise_initializer or "glorot_uniform")
        self.depthwise_regularizer = regularizers.get(depthwise_regularizer)
        self.depthwise_constraint = constraints.get(depthwise_constraint)

    def build_kernels(self, channels: int) -> None:
        self.depthwise_kernel = self._add_configured(
            "depthwise_kernel", (*self.kernel_size, channels, self.depth_multiplier)
        )

    def filtered(self, x: Tensor) -> Tensor:
        """Filter each channel; of the ``depth_multiplier`` times as many channels those of the first one come first."""
        channels = self._channels
        kernel = reshape(self.depthwise_kernel.value(), (*self.kernel_size, 1, channels * self.depth_multiplier))
        paddings = self.paddings(x._shape[1:-1])
        return general_convolution(x, kernel, self.strides, paddings, self.dilation_rate, channels)


class DepthwiseConv2D(Depthwise, axes=2):
    """Convolution along height and width that filters each channel on its own.

    Args:
        padding: ``"valid"`` or ``"same"``.
        depth_multiplier: how many filters each channel has.
        depthwise_initializer: an initializer or its name; None for ``"glorot_uniform"``.
        depthwise_regularizer: a function of the kernel for `losses`, or its name.
        depthwise_constraint: a function that optimizers apply to the kernel after each update, or its name.
        Other arguments: see `Conv`, of which ``dilation_rate`` comes by name.

    Raises:
        ValueError: an argument is none of these.

    >>> import agog_core as ag
    >>> layer = DepthwiseConv2D(3, depth_multiplier=2)
    >>> layer(ag.zeros([1, 5, 5, 4])).shape, layer.depthwise_kernel.shape
    (TensorShape([1, 3, 3, 8]), TensorShape([3, 3, 4, 2]))
    """

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: str | activations.Activation | None = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**handed_on(locals()))

    def run(self, x: Tensor) -> Tensor:
        return self.biased(self.filtered(x))

    def channels_after(self, channels: int | None) -> int | None:
        return None if channels is None else channels * self.depth_multiplier


class SeparableConv(Depthwise):
    """Base of `SeparableConv1D` and `SeparableConv2D`: each channel is filtered on its own, then they are mixed.

    F. Chollet, "Xception: deep learning with depthwise separable convolutions", CVPR 2017.

    Args:
        filters: the number of outputs.
        padding: ``"valid"``, ``"same"``, or for `SeparableConv1D` ``"causal"``.
        depth_multiplier: how many filters each channel has.
        depthwise_initializer: an initializer or its name; None for ``"glorot_uniform"``.
        pointwise_initializer: the same, of the kernel that mixes.
        depthwise_regularizer: a function of the kernel that filters for `losses`, or its name.
        pointwise_regularizer: a function of the kernel that mixes for `losses`, or its name.
        depthwise_constraint: a function that optimizers apply to the kernel that filters, or its name.
        pointwise_constraint: a function that optimizers apply to the kernel that mixes, or its name.
        Other arguments: see `Conv`.

    Raises:
        ValueError: an argument is none of these.
    """

    pointwise_kernel: Variable

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: str | activations.Activation | None = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            **handed_on(locals(), "filters", "pointwise_initializer", "pointwise_regularizer", "pointwise_constraint")
        )
        (self.filters,) = one_for_each(type(self).__name__, "filters", filters, 1)
        self.pointwise_initializer = initializers.get(pointwise_initializer or "glorot_uniform")
        self.pointwise_regularizer = regularizers.get(pointwise_regularizer)
        self.pointwise_constraint = constraints.get(pointwise_constraint)

    def build_kernels(self, channels: int) -> None:
        super().build_kernels(channels)
        ones = (1,) * self.axes
        self.pointwise_kernel = self._add_configured(
            "pointwise_kernel", (*ones, channels * self.depth_multiplier, self.filters)
        )

    def run(self, x: Tensor) -> Tensor:
        ones, nothing = (1,) * self.axes, ((0, 0),) * self.axes
        mixed = general_convolution(self.filtered(x), self.pointwise_kernel.value(), ones, nothing, ones)
        return self.biased(mixed)

    def channels_after(self, channels: int | None) -> int:
        return self.filters


class SeparableConv1D(SeparableConv, axes=1):
    """Separable convolution along one axis; the arguments are those of `SeparableConv`.

    Its kernels have the shapes (window, channels, depth_multiplier) and (1, channels * depth_multiplier, filters).

    >>> import agog_core as ag
    >>> SeparableConv1D(4, 3, padding="causal")(ag.zeros([2, 10, 3])).shape
    TensorShape([2, 10, 4])
    """


class SeparableConv2D(SeparableConv, axes=2):
    """Separable convolution along height and width; the arguments are those of `SeparableConv`.

    Its kernels have the shapes (window height, window width, channels, depth_multiplier) and (1, 1, channels *
    depth_multiplier, filters).

    >>> import agog_core as ag
    >>> layer = SeparableConv2D(8, 3)
    >>> layer(ag.zeros([1, 6, 6, 3])).shape
    TensorShape([1, 4, 4, 8])
    >>> [v.name.rpartition("/")[2] for v in layer.variables]
    ['depthwise_kernel:0', 'pointwise_kernel:0', 'bias:0']
    """


SeparableConvolution1D = SeparableConv1D
SeparableConvolution2D = SeparableConv2D
