"""Deconvolutions: transposed convolutions along one, two and three axes."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, Variable
from agog_core.ops.conv.convolution_ops import convolution_input_grad
from agog_layers import activations
from agog_layers.arguments.checks import handed_on, one_for_each
from agog_layers.convolution.convolution import Convolution
from agog_layers.weights import constraints, initializers, regularizers

__all__ = [
    "Conv1DTranspose",
    "Conv2DTranspose",
    "Conv3DTranspose",
    "Convolution1DTranspose",
    "Convolution2DTranspose",
    "Convolution3DTranspose",
]


class ConvTranspose(Convolution):
    """Base of `Conv1DTranspose`, `Conv2DTranspose` and `Conv3DTranspose`.

    M. Zeiler et al., "Deconvolutional networks", CVPR 2010.

    Args:
        filters: the number of outputs.
        strides: how many outputs there are for each input: an integer, or one for each axis.
        padding: ``"valid"``: all outputs that a window reaches; or ``"same"``: ``strides`` times as many as inputs.
        output_padding: how many outputs there are at the end of each axis beyond the smallest number that goes with
            the inputs, less than ``strides``: an integer, or one for each axis. None to let ``padding`` alone say it.
        Other arguments: see `Conv`, of which ``dilation_rate`` comes by name.

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
        activation: str | activations.Activation | None = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        output_padding: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            **handed_on(
                locals(), "filters", "output_padding", "kernel_initializer", "kernel_regularizer", "kernel_constraint"
            )
        )
        (self.filters,) = one_for_each(type(self).__name__, "filters", filters, 1)
        self.kernel_initializer = initializers.get(kernel_initializer or "glorot_uniform")
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.output_padding = self._checked_output_padding(output_padding)

    def _checked_output_padding(self, given: Any) -> tuple[int, ...] | None:
        if given is None:
            return None
        beyond = one_for_each(type(self).__name__, "output_padding", given, self.axes, least=0)
        if any(more >= stride for more, stride in zip(beyond, self.strides, strict=True)):
            raise ValueError(
                f"{type(self).__name__}: output_padding must be less than strides along each axis; got {beyond} for "
                f"strides {self.strides}."
            )
        return beyond

    def build_kernels(self, channels: int) -> None:
        self.kernel = self._add_configured("kernel", (*self.kernel_size, self.filters, channels))

    def run(self, x: Tensor) -> Tensor:
        batch, *sizes, _ = x._shape
        after: Any = self.sizes_after(tuple(sizes))  # all are known
        return self.biased(
            convolution_input_grad(
                x,
                self.kernel.value(),
                (batch, *after, self.filters),
                self.strides,
                self.paddings(after),
                self.dilation_rate,
            )
        )

    def sizes_after(self, sizes: tuple[int | None, ...]) -> tuple[int | None, ...]:
        self.check_windows(sizes, [n * rate for n, rate in zip(self.kernel_size, self.dilation_rate, strict=True)])
        if self.output_padding is not None:
            reach = [(n - 1) * rate + 1 for n, rate in zip(self.kernel_size, self.dilation_rate, strict=True)]
            around = [reach_n if self.padding == "valid" else reach_n % 2 for reach_n in reach]
            every = zip(sizes, self.strides, around, self.output_padding, strict=True)
            return tuple([None if size is None else (size - 1) * stride + n + more for size, stride, n, more in every])
        forms = zip(sizes, self.kernel_size, self.strides, self.dilation_rate, strict=True)
        overlaps = [(size, stride, (n - 1) * rate + 1 - stride) for size, n, stride, rate in forms]
        return tuple(
            [
                None if size is None else size * stride + (max(0, overlap) if self.padding == "valid" else 0)
                for size, stride, overlap in overlaps
            ]
        )

    def channels_after(self, channels: int | None) -> int:
        return self.filters


class Conv1DTranspose(ConvTranspose, axes=1):
    """Transposed convolution along one axis, such as time; the arguments are those of `ConvTranspose`.

    Inputs have the shape (batch, steps, channels), and the kernel has (window, filters, channels).

    >>> import agog_core as ag
    >>> Conv1DTranspose(3, 4, strides=2, padding="same")(ag.zeros([1, 7, 8])).shape
    TensorShape([1, 14, 3])
    """


class Conv2DTranspose(ConvTranspose, axes=2):
    """Transposed convolution along height and width; the arguments are those of `ConvTranspose`.

    Inputs have the shape (batch, height, width, channels), and the kernel has (window height, window width, filters,
    channels).

    >>> import agog_core as ag
    >>> Conv2DTranspose(3, 4, strides=2, padding="same")(ag.zeros([1, 7, 7, 8])).shape
    TensorShape([1, 14, 14, 3])
    """


class Conv3DTranspose(ConvTranspose, axes=3):
    """Transposed convolution along depth, height and width; the arguments are those of `ConvTranspose`.

    Inputs have the shape (batch, depth, height, width, channels), and the kernel has (window depth, window height,
    window width, filters, channels).

    >>> import agog_core as ag
    >>> Conv3DTranspose(3, 2, strides=2)(ag.zeros([1, 2, 3, 4, 8])).shape
    TensorShape([1, 4, 6, 8, 3])
    """


Convolution1DTranspose = Conv1DTranspose
Convolution2DTranspose = Conv2DTranspose
Convolution3DTranspose = Conv3DTranspose
