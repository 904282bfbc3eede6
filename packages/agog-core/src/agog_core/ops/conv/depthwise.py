"""Depthwise convolutions, with a filter for each channel, and their gradients."""

from __future__ import annotations

from typing import Any

from agog_core.calls.docstrings import documented, documented_like
from agog_core.calls.elementwise import operands
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.reshaping import reshape
from agog_core.ops.conv.arguments import (
    Pairs,
    as_before,
    channels_last,
    check_rank,
    form_of,
    is_channels_first,
    last_shape,
    per_axis,
    sizes_of,
)
from agog_core.ops.conv.convolution_ops import convolution_filter_grad, convolution_input_grad, general_convolution
from agog_core.ops.conv.convolutions import conv2d, strides_and_rates
from agog_core.ops.conv.transposed import FILTER_GRADIENT, INPUT_GRADIENT
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = [
    "depthwise_conv2d",
    "depthwise_conv2d_native",
    "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input",
    "separable_conv2d",
]


def depthwise_conv2d_native(
    input: TensorLike,
    filter: TensorLike,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Convolution over height and width that filters each channel on its own.

    Args:
        input: floats of shape (batch, height, width, channels), or (batch, channels, height, width) for ``"NCHW"``.
        filter: floats of shape (window height, window width, channels, multiplier).
        strides: the steps of the window, one for each axis of the input.
        padding: ``"SAME"``, ``"VALID"``, or four pairs of numbers, (0, 0) for batch and channels.
        data_format: ``"NHWC"`` or ``"NCHW"``.
        dilations: the distances between the window's elements, one for each axis of the input.

    Returns:
        A tensor with ``channels * multiplier`` channels; those of the first channel come first.

    Raises:
        InvalidArgumentError: shapes, dtypes or another argument do not fit.

    >>> x, f = [[[[1.0, 2.0], [3.0, 4.0]]]], [[[[1.0], [10.0]], [[1.0], [10.0]]]]
    >>> print(depthwise_conv2d_native(x, f, [1, 1, 1, 1], "VALID").numpy().tolist())
    [[[[4.0, 60.0]]]]
    """
    op = "depthwise_conv2d_native"
    x, f = operands(op, ("input", "filter"), input, filter)
    channels_first = is_channels_first(op, data_format, 2)
    check_rank(op, "input", x, 4, "batch, height, width, channels")
    form = _form(op, last_shape(x._shape, channels_first), f._shape, strides, padding, channels_first, dilations)
    out = general_convolution(channels_last(x, channels_first), _grouped(f), *form)
    return as_before(out, channels_first)


def _form(
    op: str, shape: Shape, filter: Shape, strides: Any, padding: Any, channels_first: bool, dilations: Any
) -> tuple[Shape, Pairs, Shape, int]:
    """Strides, paddings, dilations and groups of a depthwise convolution; ``shape`` is the input's, channels last."""
    if len(filter) != 4 or len(shape) != 4 or filter[2] != shape[-1]:
        raise InvalidArgumentError(
            f"{op}: filter must be of shape (window height, window width, channels, multiplier), with the "
            f"input's {shape[-1]} channels; got shape {filter}."
        )
    return *form_of(op, shape[1:-1], filter[:2], strides, padding, dilations, channels_first), filter[2]


def _grouped(filter: Tensor) -> Tensor:
    """The filter of the convolution in groups of one channel each."""
    height, width, channels, multiplier = filter._shape
    return reshape(filter, (height, width, 1, channels * multiplier))


def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: Any,
    padding: Any,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Convolution over height and width that filters each channel on its own.

    Args:
        rate: two distances between the window's elements; None for ones. If one is above 1, all strides must be 1.
        data_format: ``"NHWC"`` (the default) or ``"NCHW"``.
        Other arguments: see `depthwise_conv2d_native`.

    Returns:
        A tensor with ``channels * multiplier`` channels; those of the first channel come first.

    Raises:
        ValueError: rates together with strides.
        InvalidArgumentError: shapes, dtypes or another argument do not fit.

    >>> x, f = [[[[1.0, 2.0], [3.0, 4.0]]]], [[[[1.0], [10.0]], [[1.0], [10.0]]]]
    >>> print(depthwise_conv2d(x, f, [1, 1, 1, 1], "VALID").numpy().tolist())
    [[[[4.0, 60.0]]]]
    """
    op = "depthwise_conv2d"
    channels_first = is_channels_first(op, data_format, 2)
    steps = per_axis(op, "strides", strides, 2, channels_first)
    rates = strides_and_rates(op, steps, rate, 2)[1]
    return depthwise_conv2d_native(input, filter, steps, padding, data_format or "NHWC", rates)


@documented_like(depthwise_conv2d, "Raises")
def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: Any,
    padding: Any,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Depthwise convolution, then a convolution with windows of one element that mixes the channels.

    F. Chollet, "Xception: deep learning with depthwise separable convolutions", CVPR 2017.

    Args:
        depthwise_filter: floats of shape (window height, window width, channels, multiplier).
        pointwise_filter: floats of shape (1, 1, channels * multiplier, outputs).
        strides: the steps of the depthwise window, one for each axis of the input.
        Other arguments: see `depthwise_conv2d`.

    Returns:
        A tensor of shape (batch, rows, columns, outputs), or (batch, outputs, rows, columns).

    >>> x, depthwise, pointwise = [[[[1.0, 2.0]]]], [[[[1.0], [10.0]]]], [[[[1.0], [1.0]]]]
    >>> print(separable_conv2d(x, depthwise, pointwise, [1, 1, 1, 1], "VALID").numpy().tolist())
    [[[[21.0]]]]
    """
    pointwise = convert_to_tensor(pointwise_filter)
    if len(pointwise._shape) != 4 or pointwise._shape[:2] != (1, 1):
        raise InvalidArgumentError(
            "separable_conv2d: pointwise_filter must be of shape (1, 1, channels * multiplier, outputs); got shape "
            f"{pointwise._shape}."
        )
    mixed = depthwise_conv2d(input, depthwise_filter, strides, padding, rate, data_format=data_format)
    return conv2d(mixed, pointwise, 1, "VALID", data_format=data_format or "NHWC")


@documented(INPUT_GRADIENT, of="depthwise_conv2d_native")
def depthwise_conv2d_native_backprop_input(
    input_sizes: Any,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `depthwise_conv2d_native` with respect to its input.

    >>> f, g = [[[[1.0], [10.0]]]], [[[[1.0, 2.0]]]]
    >>> print(depthwise_conv2d_native_backprop_input([1, 1, 1, 2], f, g, [1, 1, 1, 1], "VALID").numpy().tolist())
    [[[[1.0, 20.0]]]]
    """
    op = "depthwise_conv2d_native_backprop_input"
    f, g = operands(op, ("filter", "out_backprop"), filter, out_backprop)
    channels_first = is_channels_first(op, data_format, 2)
    check_rank(op, "out_backprop", g, 4, "batch, height, width, channels")
    shape = last_shape(sizes_of(input_sizes), channels_first)
    form = _form(op, shape, f._shape, strides, padding, channels_first, dilations)
    out = convolution_input_grad(channels_last(g, channels_first), _grouped(f), shape, *form)
    return as_before(out, channels_first)


@documented(FILTER_GRADIENT, of="depthwise_conv2d_native")
def depthwise_conv2d_native_backprop_filter(
    input: TensorLike,
    filter_sizes: Any,
    out_backprop: TensorLike,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `depthwise_conv2d_native` with respect to its filter.

    >>> x, g = [[[[1.0, 2.0]]]], [[[[1.0, 10.0]]]]
    >>> print(depthwise_conv2d_native_backprop_filter(x, [1, 1, 2, 1], g, [1, 1, 1, 1], "VALID").numpy().tolist())
    [[[[1.0], [20.0]]]]
    """
    op = "depthwise_conv2d_native_backprop_filter"
    x, g = operands(op, ("input", "out_backprop"), input, out_backprop)
    channels_first = is_channels_first(op, data_format, 2)
    check_rank(op, "input", x, 4, "batch, height, width, channels")
    check_rank(op, "out_backprop", g, 4, "batch, height, width, channels")
    sizes = sizes_of(filter_sizes)
    form = _form(op, last_shape(x._shape, channels_first), sizes, strides, padding, channels_first, dilations)
    grouped = (*sizes[:2], 1, sizes[2] * sizes[3])
    out = convolution_filter_grad(channels_last(x, channels_first), channels_last(g, channels_first), grouped, *form)
    return reshape(out, sizes)
