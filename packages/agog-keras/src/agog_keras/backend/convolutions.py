"""Convolutions and pools of ``tf.keras.backend``, over the ops of ``tf.nn``."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, TensorLike, convert_to_tensor, pad
from agog_core.calls.docstrings import documented_like
from agog_core.ops.conv.depthwise import depthwise_conv2d as depthwise
from agog_core.ops.conv.depthwise import separable_conv2d as separable
from agog_core.ops.conv.pools import pool
from agog_core.ops.conv.transposed import conv2d_transpose as transposed
from agog_keras.backend.formats import as_given, channels_first, convolved, last, op_strides, padding_name

__all__ = ["conv1d", "conv2d", "conv2d_transpose", "conv3d", "depthwise_conv2d", "pool2d", "pool3d", "separable_conv2d"]


def conv1d(
    x: TensorLike,
    kernel: TensorLike,
    strides: int = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int = 1,
) -> Tensor:
    """Convolve along one axis.

    Args:
        x: a tensor of shape (batch, steps, channels), or (batch, channels, steps).
        kernel: the windows, of shape (width, channels, filters).
        strides: the window's step.
        padding: ``"same"``, ``"valid"``, or ``"causal"``: no output sees later inputs.
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``.
        dilation_rate: the distance between the window's elements.

    Returns:
        A tensor of shape (batch, steps, filters), or (batch, filters, steps).

    Raises:
        ValueError: an argument is none of these.

    >>> from agog_core import ones
    >>> conv1d(ones([1, 5, 2]), ones([3, 2, 4]), padding="causal").shape
    TensorShape([1, 5, 4])
    """
    first = channels_first("conv1d", data_format)
    inputs = last(convert_to_tensor(x), first)
    if padding == "causal":
        width = convert_to_tensor(kernel)._shape[0]
        inputs, padding = pad(inputs, [[0, 0], [dilation_rate * (width - 1), 0], [0, 0]]), "valid"
    return as_given(convolved("conv1d", inputs, kernel, [strides], padding, None, [dilation_rate]), first)


@documented_like(conv1d)
def conv2d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Convolve along height and width.

    Args:
        x: a tensor of shape (batch, height, width, channels), or (batch, channels, height, width).
        kernel: the windows, of shape (height, width, channels, filters).
        strides: the window's steps.
        padding: ``"same"`` or ``"valid"``.
        dilation_rate: the distances between the window's elements.

    Returns:
        A tensor with the filters in place of the channels.

    >>> from agog_core import ones
    >>> conv2d(ones([1, 5, 5, 2]), ones([3, 3, 2, 4])).shape
    TensorShape([1, 3, 3, 4])
    """
    return convolved("conv2d", x, kernel, strides, padding, data_format, dilation_rate)


@documented_like(conv2d, "Returns", "Raises")
def conv3d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1, 1),
) -> Tensor:
    """Convolve along depth, height and width.

    Args:
        x: a tensor of shape (batch, depth, height, width, channels), or with the channels behind the batch.
        kernel: the windows, of shape (depth, height, width, channels, filters).
        strides, padding, data_format, dilation_rate: see `conv2d`.

    >>> from agog_core import ones
    >>> conv3d(ones([1, 5, 5, 5, 2]), ones([3, 3, 3, 2, 4])).shape
    TensorShape([1, 3, 3, 3, 4])
    """
    return convolved("conv3d", x, kernel, strides, padding, data_format, dilation_rate)


def conv2d_transpose(
    x: TensorLike,
    kernel: TensorLike,
    output_shape: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """Convolve along height and width the other way round, as the gradient of `conv2d` does.

    Args:
        x: a tensor of shape (batch, height, width, channels), or (batch, channels, height, width).
        kernel: the windows, of shape (height, width, filters, channels).
        output_shape: the shape of the result, in the order of ``x``.
        strides, padding, data_format: see `conv2d`.

    Returns:
        A tensor of that shape.

    Raises:
        ValueError: an argument is none of these.

    >>> from agog_core import ones
    >>> conv2d_transpose(ones([1, 4, 4, 2]), ones([2, 2, 3, 2]), (1, 8, 8, 3), strides=(2, 2)).shape
    TensorShape([1, 8, 8, 3])
    """
    first = channels_first("conv2d_transpose", data_format)
    inputs = last(convert_to_tensor(x), first)
    sizes = [int(size) for size in output_shape]
    shape = [sizes[0], *sizes[2:], sizes[1]] if first else sizes
    name = padding_name("conv2d_transpose", padding)
    return as_given(transposed(inputs, kernel, shape, op_strides("conv2d_transpose", strides), name), first)


def depthwise_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Convolve each channel by itself.

    Args:
        x: a tensor of shape (batch, height, width, channels), or (batch, channels, height, width).
        depthwise_kernel: the windows, of shape (height, width, channels, filters of each channel).
        strides, padding, data_format, dilation_rate: see `conv2d`.

    Returns:
        A tensor with the filters of all channels in place of the channels.

    Raises:
        ValueError: an argument is none of these.

    >>> from agog_core import ones
    >>> depthwise_conv2d(ones([1, 5, 5, 2]), ones([3, 3, 2, 4])).shape
    TensorShape([1, 3, 3, 8])
    """
    first = channels_first("depthwise_conv2d", data_format)
    inputs = last(convert_to_tensor(x), first)
    name, steps = padding_name("depthwise_conv2d", padding), op_strides("depthwise_conv2d", strides)
    return as_given(depthwise(inputs, depthwise_kernel, steps, name, dilation_rate), first)


@documented_like(conv2d, "Returns", "Raises")
def separable_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Convolve each channel by itself, and mix what comes out at each place.

    Args:
        x: a tensor of shape (batch, height, width, channels), or (batch, channels, height, width).
        depthwise_kernel: see `depthwise_conv2d`.
        pointwise_kernel: what mixes, of shape (1, 1, channels * filters of each channel, filters).
        strides, padding, data_format, dilation_rate: see `conv2d`.

    >>> from agog_core import ones
    >>> separable_conv2d(ones([1, 5, 5, 2]), ones([3, 3, 2, 4]), ones([1, 1, 8, 3])).shape
    TensorShape([1, 3, 3, 3])
    """
    first = channels_first("separable_conv2d", data_format)
    inputs = last(convert_to_tensor(x), first)
    name, steps = padding_name("separable_conv2d", padding), op_strides("separable_conv2d", strides)
    mixed = separable(inputs, depthwise_kernel, pointwise_kernel, steps, name, dilation_rate)
    return as_given(mixed, first)


def pool2d(
    x: TensorLike,
    pool_size: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """Take maxima or means of windows over height and width.

    Args:
        x: a tensor of shape (batch, height, width, channels), or (batch, channels, height, width).
        pool_size: the window's sizes.
        strides, padding, data_format: see `conv2d`.
        pool_mode: ``"max"`` or ``"avg"``.

    Returns:
        A tensor of one value for each window.

    Raises:
        ValueError: an argument is none of these.

    >>> from agog_core import ones
    >>> pool2d(ones([1, 4, 4, 2]), (2, 2), strides=(2, 2)).shape
    TensorShape([1, 2, 2, 2])
    """
    return _pooled("pool2d", x, pool_size, strides, padding, data_format, pool_mode)


def pool3d(
    x: TensorLike,
    pool_size: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """Take maxima or means of windows over depth, height and width. See `pool2d`."""
    return _pooled("pool3d", x, pool_size, strides, padding, data_format, pool_mode)


def _pooled(function: str, x: Any, size: Any, strides: Any, padding: str, form: Any, mode: str) -> Tensor:
    if mode not in ("max", "avg"):
        raise ValueError(f"{function}: pool_mode must be 'max' or 'avg'; got {mode!r}.")
    first = channels_first(function, form)
    inputs = last(convert_to_tensor(x), first)
    return as_given(pool(inputs, size, mode.upper(), padding_name(function, padding), strides=strides), first)
