"""Pools of TensorFlow: maxima and means of windows over height and width, or over any one to three axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.calls.docstrings import documented
from agog_core.dtypes import as_dtype, int64
from agog_core.ops.conv.arguments import (
    CHANNELS_LAST,
    Pairs,
    as_before,
    channels_last,
    check_choice,
    check_rank,
    form_of,
    is_channels_first,
    per_axis,
    sizes_of,
)
from agog_core.ops.conv.convolutions import strides_and_rates
from agog_core.ops.conv.pooling_ops import general_avg_pool, general_max_pool, general_max_pool_with_argmax
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["avg_pool", "avg_pool3d", "max_pool", "max_pool3d", "max_pool_with_argmax", "pool"]

_SECTIONS = """
    Args:
        {input}: {kind} of shape (batch, {axes}, channels), or (batch, channels, {axes}) for ``"{first}"``.
        ksize: the sizes of the window, one for each axis of the input.
        strides: the steps of the window, one for each axis of the input.
        padding: ``"SAME"``, ``"VALID"``, or pairs of numbers for all axes of the input, (0, 0) for batch and channels.
        data_format: ``"{last}"`` or ``"{first}"``.

    Returns:
        A tensor of the input's layout, with the places of the window.

    Raises:
        InvalidArgumentError: the shape, the dtype or another argument does not fit.
"""
_PLANES = {"input": "value", "axes": "height, width", "last": "NHWC", "first": "NCHW"}
_VOLUMES = {"input": "input", "axes": "depth, height, width", "last": "NDHWC", "first": "NCDHW"}


@documented(_SECTIONS, kind="numbers", **_PLANES)
def max_pool(
    value: TensorLike, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Maxima of windows over height and width.

    >>> print(max_pool([[[[1.0], [3.0], [2.0]]]], [1, 1, 2, 1], [1, 1, 1, 1], "VALID").numpy().tolist())
    [[[[3.0], [3.0]]]]
    """
    return _pool("max_pool", general_max_pool, value, 2, ksize, strides, padding, data_format)


@documented(_SECTIONS, kind="floats", **_PLANES)
def avg_pool(
    value: TensorLike, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Means of windows over height and width; padding does not count.

    >>> print(avg_pool([[[[1.0], [3.0], [2.0]]]], [1, 1, 2, 1], [1, 1, 1, 1], "SAME").numpy().tolist())
    [[[[2.0], [2.5], [2.0]]]]
    """
    return _pool("avg_pool", general_avg_pool, value, 2, ksize, strides, padding, data_format)


@documented(_SECTIONS, kind="numbers", **_VOLUMES)
def max_pool3d(
    input: TensorLike, ksize: Any, strides: Any, padding: Any, data_format: str = "NDHWC", name: str | None = None
) -> Tensor:
    """Maxima of windows over depth, height and width.

    >>> print(max_pool3d([[[[[1.0], [3.0], [2.0]]]]], [1, 1, 1, 2, 1], [1] * 5, "VALID").numpy().tolist())
    [[[[[3.0], [3.0]]]]]
    """
    return _pool("max_pool3d", general_max_pool, input, 3, ksize, strides, padding, data_format)


@documented(_SECTIONS, kind="floats", **_VOLUMES)
def avg_pool3d(
    input: TensorLike, ksize: Any, strides: Any, padding: Any, data_format: str = "NDHWC", name: str | None = None
) -> Tensor:
    """Means of windows over depth, height and width; padding does not count.

    >>> print(avg_pool3d([[[[[1.0], [3.0], [2.0]]]]], [1, 1, 1, 2, 1], [1] * 5, "VALID").numpy().tolist())
    [[[[[2.0], [2.5]]]]]
    """
    return _pool("avg_pool3d", general_avg_pool, input, 3, ksize, strides, padding, data_format)


def pool(
    input: TensorLike,
    window_shape: Any,
    pooling_type: str,
    padding: str,
    dilation_rate: Any = None,
    strides: Any = None,
    name: str | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Maxima or means of windows over one, two or three axes.

    Args:
        input: numbers of shape (batch, axes..., channels), or (batch, channels, axes...) for ``"NC..."``.
        window_shape: the sizes of the window, one for each of the axes.
        pooling_type: ``"MAX"`` or ``"AVG"``.
        padding: ``"SAME"`` or ``"VALID"``; padding does not count.
        dilation_rate: the distances between the window's elements, one for each of the axes; None for ones.
        strides: the steps of the window, one for each of the axes; None for ones.
        data_format: ``"NWC"``, ``"NHWC"`` or ``"NDHWC"`` (the default), ``"NCW"``, ``"NCHW"`` or ``"NCDHW"``.

    Returns:
        A tensor of the input's layout, with the places of the window.

    Raises:
        ValueError: the rank, a string, or strides together with dilations.
        InvalidArgumentError: the shape or the dtype does not fit.

    >>> print(pool([[[1.0], [3.0], [2.0]]], [2], "MAX", "VALID").numpy().tolist())
    [[[3.0], [3.0]]]
    """
    x, window = convert_to_tensor(input), sizes_of(window_shape)
    axes = len(window)
    if axes not in CHANNELS_LAST or len(x._shape) != axes + 2 or min(window) < 1:
        raise ValueError(
            f"pool: window_shape must be 1 to 3 positive integers, two fewer than the input has axes; got "
            f"{list(window)} and an input of shape {x._shape}."
        )
    check_choice("pool", "pooling_type", pooling_type, ("MAX", "AVG"), ValueError)
    check_choice("pool", "padding", padding, ("SAME", "VALID"), ValueError)
    is_channels_first("pool", data_format, axes, ValueError)
    steps, rates = strides_and_rates("pool", strides, dilation_rate, axes)
    function = general_max_pool if pooling_type == "MAX" else general_avg_pool
    return _pool("pool", function, x, axes, window, steps, padding, data_format, rates)


def max_pool_with_argmax(
    input: TensorLike, ksize: Any, strides: Any, padding: Any, Targmax: Any = int64, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Maxima of windows over height and width, and where they lie.

    Args:
        input: numbers of shape (batch, height, width, channels).
        ksize: the sizes of the window, one for each axis of the input.
        strides: the steps of the window, one for each axis of the input.
        padding: ``"SAME"``, ``"VALID"``, or four pairs of numbers, (0, 0) for batch and channels.
        Targmax: the dtype of the positions: `int64` or `int32`.

    Returns:
        The maxima of shape (batch, rows, columns, channels), and their positions in the flattened input,
        ``((n * height + y) * width + x) * channels + c``; of several equal ones the first.

    Raises:
        InvalidArgumentError: the shape, the dtype or another argument does not fit.

    >>> maxima, positions = max_pool_with_argmax([[[[1.0], [3.0], [2.0]]]], [1, 1, 2, 1], [1, 1, 1, 1], "VALID")
    >>> print(positions.numpy().tolist())
    [[[[1], [1]]]]
    """
    kind = as_dtype(Targmax).name
    check_choice("max_pool_with_argmax", "Targmax", kind, ("int32", "int64"))
    x, form, _ = _form("max_pool_with_argmax", input, 2, ksize, strides, padding, None, 1)
    return general_max_pool_with_argmax(x, *form, dtype=kind)


def _pool(
    op: str,
    function: Callable[..., Tensor],
    value: TensorLike,
    axes: int,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any = 1,
) -> Tensor:
    x, form, channels_first = _form(op, value, axes, ksize, strides, padding, data_format, dilations)
    return as_before(function(x, *form), channels_first)


def _form(
    op: str,
    value: TensorLike,
    axes: int,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any,
) -> tuple[Tensor, tuple[Shape, Shape, Pairs, Shape], bool]:
    """The input, channels last; window, strides, paddings and dilations; and whether the channels were first."""
    x = convert_to_tensor(value)
    channels_first = is_channels_first(op, data_format, axes)
    check_rank(op, "the input", x, axes + 2, ", ".join(data_format or CHANNELS_LAST[axes]))
    x = channels_last(x, channels_first)
    window = per_axis(op, "ksize", ksize, axes, channels_first)
    form = form_of(op, x._shape[1:-1], window, strides, padding, dilations, channels_first)
    return x, (window, *form), channels_first
