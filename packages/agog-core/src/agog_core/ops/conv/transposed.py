"""Transposed convolutions, and the same ops under TensorFlow's names for gradients of convolutions."""

from __future__ import annotations

from typing import Any

from agog_core.calls.docstrings import documented, documented_like
from agog_core.calls.elementwise import operands
from agog_core.errors import InvalidArgumentError
from agog_core.ops.conv.arguments import (
    as_before,
    channels_last,
    check_choice,
    check_rank,
    form_of,
    is_channels_first,
    last_shape,
    sizes_of,
)
from agog_core.ops.conv.convolution_ops import convolution_filter_grad, convolution_input_grad
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = [
    "atrous_conv2d_transpose",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "conv3d_backprop_filter_v2",
    "conv3d_transpose",
]

INPUT_GRADIENT = """
    Args:
        input_sizes: the shape of the input.
        out_backprop: the gradient of the output.
        Other arguments: see `{of}`.

    Returns:
        A tensor of shape ``input_sizes``.

    Raises:
        InvalidArgumentError: shapes, dtypes or another argument do not fit.
"""
FILTER_GRADIENT = """
    Args:
        filter_sizes: the shape of the filter.
        out_backprop: the gradient of the output.
        Other arguments: see `{of}`.

    Returns:
        A tensor of shape ``filter_sizes``.

    Raises:
        InvalidArgumentError: shapes, dtypes or another argument do not fit.
"""


@documented(INPUT_GRADIENT, of="conv2d")
def conv2d_backprop_input(
    input_sizes: Any,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `conv2d` with respect to its input.

    >>> f, g = [[[[1.0]], [[10.0]]]], [[[[1.0], [2.0]]]]
    >>> print(conv2d_backprop_input([1, 1, 3, 1], f, g, [1, 1, 1, 1], "VALID").numpy().tolist())
    [[[[1.0], [12.0], [20.0]]]]
    """
    return _input_grad(
        "conv2d_backprop_input", input_sizes, filter, out_backprop, strides, padding, data_format, dilations, 2
    )


@documented(FILTER_GRADIENT, of="conv2d")
def conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: Any,
    out_backprop: TensorLike,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `conv2d` with respect to its filter.

    >>> x, g = [[[[1.0], [2.0], [3.0]]]], [[[[1.0], [10.0]]]]
    >>> print(conv2d_backprop_filter(x, [1, 2, 1, 1], g, [1, 1, 1, 1], "VALID").numpy().tolist())
    [[[[21.0]], [[32.0]]]]
    """
    return _filter_grad(
        "conv2d_backprop_filter", input, filter_sizes, out_backprop, strides, padding, data_format, dilations, 2
    )


@documented(FILTER_GRADIENT, of="conv3d")
def conv3d_backprop_filter_v2(
    input: TensorLike,
    filter_sizes: Any,
    out_backprop: TensorLike,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `conv3d` with respect to its filter.

    >>> x, g = [[[[[1.0], [2.0], [3.0]]]]], [[[[[1.0], [10.0]]]]]
    >>> print(conv3d_backprop_filter_v2(x, [1, 1, 2, 1, 1], g, [1, 1, 1, 1, 1], "VALID").numpy().tolist())
    [[[[[21.0]], [[32.0]]]]]
    """
    return _filter_grad(
        "conv3d_backprop_filter_v2", input, filter_sizes, out_backprop, strides, padding, data_format, dilations, 3
    )


def conv2d_transpose(
    value: TensorLike,
    filter: TensorLike,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """Transposed convolution over height and width: the gradient of `conv2d` with respect to its input.

    M. Zeiler et al., "Deconvolutional networks", CVPR 2010.

    Args:
        value: floats of shape (batch, height, width, channels), or (batch, channels, height, width) for ``"NCHW"``.
        filter: floats of shape (window height, window width, outputs, channels).
        output_shape: the shape of the result: four integers.
        strides: the steps of the window over the result, one for each axis.
        padding: ``"SAME"`` or ``"VALID"``.
        data_format: ``"NHWC"`` or ``"NCHW"``.

    Returns:
        A tensor of shape ``output_shape``.

    Raises:
        ValueError: the padding, the data format, or the channels do not fit.
        InvalidArgumentError: shapes, dtypes or another argument do not fit.

    >>> f, x = [[[[1.0]], [[10.0]]]], [[[[1.0], [2.0]]]]
    >>> print(conv2d_transpose(x, f, [1, 1, 3, 1], [1, 1, 1, 1], "VALID").numpy().tolist())
    [[[[1.0], [12.0], [20.0]]]]
    """
    return _transposed("conv2d_transpose", value, filter, output_shape, strides, padding, data_format, 2)


@documented_like(conv2d_transpose, "Returns", "Raises")
def conv3d_transpose(
    value: TensorLike,
    filter: TensorLike,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """Transposed convolution over depth, height and width: the gradient of `conv3d` with respect to its input.

    Args:
        value: floats of shape (batch, depth, height, width, channels), or with the channels second for ``"NCDHW"``.
        filter: floats of shape (window depth, window height, window width, outputs, channels).
        output_shape: the shape of the result: five integers.
        data_format: ``"NDHWC"`` or ``"NCDHW"``.
        Other arguments: see `conv2d_transpose`.

    >>> f, x = [[[[[1.0]], [[10.0]]]]], [[[[[1.0], [2.0]]]]]
    >>> print(conv3d_transpose(x, f, [1, 1, 1, 3, 1], [1, 1, 1, 1, 1], "VALID").numpy().tolist())
    [[[[[1.0], [12.0], [20.0]]]]]
    """
    return _transposed("conv3d_transpose", value, filter, output_shape, strides, padding, data_format, 3)


def atrous_conv2d_transpose(
    value: TensorLike, filters: TensorLike, output_shape: Any, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """Transposed convolution with holes in the window: the gradient of `atrous_conv2d` with respect to its input.

    Args:
        value: floats of shape (batch, height, width, channels).
        filters: floats of shape (window height, window width, outputs, channels).
        rate: the distance between the window's elements.
        Other arguments: see `conv2d_transpose`.

    Returns:
        A tensor of shape ``output_shape``.

    Raises:
        ValueError: the padding, the rate, or the channels do not fit.
        InvalidArgumentError: shapes or dtypes do not fit.

    >>> f, x = [[[[1.0]], [[10.0]]]], [[[[2.0]]]]
    >>> print(atrous_conv2d_transpose(x, f, [1, 1, 3, 1], 2, "VALID").numpy().tolist())
    [[[[2.0], [0.0], [20.0]]]]
    """
    if rate < 1:
        raise ValueError(f"atrous_conv2d_transpose: rate must be a positive integer; got {rate}.")
    return _transposed("atrous_conv2d_transpose", value, filters, output_shape, 1, padding, "NHWC", 2, rate)


def _transposed(
    op: str,
    value: TensorLike,
    filter: TensorLike,
    output_shape: Any,
    strides: Any,
    padding: Any,
    data_format: str,
    axes: int,
    dilations: Any = 1,
) -> Tensor:
    x, f = operands(op, ("value", "filter"), value, filter)
    channels_first = is_channels_first(op, data_format, axes, ValueError)
    check_choice(op, "padding", padding, ("VALID", "SAME"), ValueError)
    check_rank(op, "value", x, axes + 2, data_format)
    check_rank(op, "filter", f, axes + 2, "window, outputs, channels")
    shape = last_shape(sizes_of(output_shape), channels_first)
    channels = x._shape[1 if channels_first else -1]
    if len(shape) != axes + 2 or shape[-1] != f._shape[-2] or channels != f._shape[-1]:
        raise ValueError(
            f"{op}: a filter of shape {f._shape} (window, outputs, channels) takes {f._shape[-1]} channels and gives "
            f"{f._shape[-2]}; value has shape {x._shape} and output_shape is {sizes_of(output_shape)} ({data_format})."
        )
    return _input_grad(op, output_shape, f, x, strides, padding, data_format, dilations, axes)


def _input_grad(
    op: str,
    input_sizes: Any,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Any,
    padding: Any,
    data_format: str,
    dilations: Any,
    axes: int,
) -> Tensor:
    f, g = operands(op, ("filter", "out_backprop"), filter, out_backprop)
    channels_first = is_channels_first(op, data_format, axes)
    sizes = sizes_of(input_sizes)
    if not len(sizes) == len(f._shape) == len(g._shape) == axes + 2:
        raise InvalidArgumentError(
            f"{op}: sizes, filter and output must have {axes + 2} axes; got {sizes}, and shapes {f._shape} and "
            f"{g._shape}."
        )
    shape = last_shape(sizes, channels_first)
    form = form_of(op, shape[1:-1], f._shape[:-2], strides, padding, dilations, channels_first)
    out = convolution_input_grad(channels_last(g, channels_first), f, shape, *form)
    return as_before(out, channels_first)


def _filter_grad(
    op: str,
    input: TensorLike,
    filter_sizes: Any,
    out_backprop: TensorLike,
    strides: Any,
    padding: Any,
    data_format: str,
    dilations: Any,
    axes: int,
) -> Tensor:
    x, g = operands(op, ("input", "out_backprop"), input, out_backprop)
    channels_first = is_channels_first(op, data_format, axes)
    sizes = sizes_of(filter_sizes)
    if not len(sizes) == len(x._shape) == len(g._shape) == axes + 2:
        raise InvalidArgumentError(
            f"{op}: sizes, input and output must have {axes + 2} axes; got {sizes}, and shapes {x._shape} and "
            f"{g._shape}."
        )
    x, g = channels_last(x, channels_first), channels_last(g, channels_first)
    form = form_of(op, x._shape[1:-1], sizes[:-2], strides, padding, dilations, channels_first)
    return convolution_filter_grad(x, g, sizes, *form)
