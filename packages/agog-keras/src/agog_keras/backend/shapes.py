"""Shapes: padding, repetition, resizing and products of ``tf.keras.backend``."""

from __future__ import annotations

from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike, convert_to_tensor
from agog_core.array_api import repeat as repeated
from agog_keras.backend.formats import as_given, channels_first, last

__all__ = [
    *("batch_dot", "bias_add", "repeat", "resize_images", "resize_volumes", "spatial_2d_padding"),
    *("spatial_3d_padding", "temporal_padding"),
]


def batch_dot(x: TensorLike, y: TensorLike, axes: Any = None) -> Tensor:
    """Products of the examples of two tensors.

    Args:
        x: a tensor of shape (batch, ...).
        y: a tensor of the same batch.
        axes: the axis of each that is summed over: an integer for both, or a pair; None for the last one of ``x``, and
            the last but one of ``y`` if it has rank 3 or more.

    Returns:
        A tensor of shape (batch, the other axes of ``x``, the other axes of ``y``); (batch, 1) where there are none.

    Raises:
        ValueError: a tensor has no axis beside the batch.

    >>> batch_dot(ag.ones([32, 20, 1]), ag.ones([32, 30, 20]), axes=(1, 2)).shape
    TensorShape([32, 1, 30])
    """
    a, b = convert_to_tensor(x), convert_to_tensor(y)
    if min(a.ndim, b.ndim) < 2:
        raise ValueError(
            f"batch_dot: x and y must have at least 2 axes, the first of which is the batch; got shapes {a.shape} and "
            f"{b.shape}."
        )
    if axes is None:
        axes = (a.ndim - 1, b.ndim - 2 if b.ndim > 2 else 1)
    over, other = (axes, axes) if isinstance(axes, int) else axes
    left, right = _axis_last(a, over % a.ndim), _axis_last(b, other % b.ndim)
    size = left.shape[-1]
    rows = ag.reshape(left, [left.shape[0], -1, size])
    columns = ag.reshape(right, [right.shape[0], -1, size])
    shape = [*left.shape.as_list()[:-1], *right.shape.as_list()[1:-1]]
    return ag.reshape(ag.matmul(rows, columns, transpose_b=True), shape if len(shape) > 1 else [*shape, 1])


def _axis_last(x: Tensor, axis: int) -> Tensor:
    return ag.transpose(x, [*(each for each in range(x.ndim) if each != axis), axis])


def bias_add(x: TensorLike, bias: TensorLike, data_format: str | None = None) -> Tensor:
    """Add a bias to each example.

    Args:
        x: a tensor of shape (batch, ..., channels), or (batch, channels, ...).
        bias: a vector of as many values as channels, or a tensor of the shape of an example, channels last.
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``.

    Returns:
        A tensor of the shape of ``x``.

    Raises:
        ValueError: the format is none of these, or the bias has another rank.

    >>> print(bias_add([[1.0, 2.0]], [10.0, 20.0]))
    tf.Tensor([[11. 22.]], shape=(1, 2), dtype=float32)
    """
    first = channels_first("bias_add", data_format)
    inputs, values = last(convert_to_tensor(x), first), convert_to_tensor(bias)
    if inputs.ndim < 2 or values.ndim not in (1, inputs.ndim - 1):
        raise ValueError(
            "bias_add: x must have 2 axes or more, and bias 1 or one less than x; got shapes "
            f"{convert_to_tensor(x).shape} and {values.shape}."
        )
    return as_given(inputs + values, first)


def repeat(x: TensorLike, n: int) -> Tensor:
    """Repeat a vector for each example.

    Args:
        x: a tensor of shape (batch, features).
        n: how often.

    Returns:
        A tensor of shape (batch, n, features).

    Raises:
        ValueError: ``x`` has another rank.

    >>> repeat(ag.ones([2, 3]), 4).shape
    TensorShape([2, 4, 3])
    """
    inputs = convert_to_tensor(x)
    if inputs.ndim != 2:
        raise ValueError(f"repeat: x must have the shape (batch, features); got {inputs.shape}.")
    return ag.tile(ag.expand_dims(inputs, 1), [1, n, 1])


def resize_images(
    x: TensorLike,
    height_factor: int,
    width_factor: int,
    data_format: str | None = None,
    interpolation: str = "nearest",
) -> Tensor:
    """Enlarge images by whole factors.

    Args:
        x: a tensor of shape (batch, height, width, channels), or (batch, channels, height, width).
        height_factor: how often each row.
        width_factor: how often each column.
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``.
        interpolation: ``"nearest"`` or ``"bilinear"``.

    Returns:
        A tensor with the larger images.

    Raises:
        ValueError: an argument is none of these.

    >>> resize_images(ag.ones([1, 2, 3, 4]), 2, 3).shape
    TensorShape([1, 4, 9, 4])
    """
    first = channels_first("resize_images", data_format)
    images = last(convert_to_tensor(x), first)
    if interpolation == "nearest":
        return as_given(repeated(repeated(images, height_factor, axis=1), width_factor, axis=2), first)
    if interpolation != "bilinear":
        raise ValueError(f"resize_images: interpolation must be 'nearest' or 'bilinear'; got {interpolation!r}.")
    from agog_core.ops.image import resize_bilinear

    _, height, width, _ = images._shape
    return as_given(resize_bilinear(images, [height * height_factor, width * width_factor]), first)


def resize_volumes(
    x: TensorLike, depth_factor: int, height_factor: int, width_factor: int, data_format: str | None = None
) -> Tensor:
    """Enlarge volumes by whole factors.

    Args:
        x: a tensor of shape (batch, depth, height, width, channels), or with the channels behind the batch.
        depth_factor: how often each plane.
        height_factor: how often each row.
        width_factor: how often each column.
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``.

    Returns:
        A tensor with the larger volumes.

    Raises:
        ValueError: the format is none of these.

    >>> resize_volumes(ag.ones([1, 2, 2, 2, 3]), 1, 2, 3).shape
    TensorShape([1, 2, 4, 6, 3])
    """
    first = channels_first("resize_volumes", data_format)
    volumes = last(convert_to_tensor(x), first)
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), start=1):
        volumes = repeated(volumes, factor, axis=axis)
    return as_given(volumes, first)


def temporal_padding(x: TensorLike, padding: tuple[int, int] = (1, 1)) -> Tensor:
    """Put zeros before and after sequences.

    Args:
        x: a tensor of shape (batch, time, features).
        padding: how many steps before, and after.

    Returns:
        A tensor with longer sequences.

    >>> temporal_padding(ag.ones([1, 5, 3]), (2, 1)).shape
    TensorShape([1, 8, 3])
    """
    return ag.pad(x, [[0, 0], list(padding), [0, 0]])


def spatial_2d_padding(x: TensorLike, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None) -> Tensor:
    """Put zeros around images.

    Args:
        x: a tensor of shape (batch, height, width, channels), or (batch, channels, height, width).
        padding: for each axis how many before, and after.
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``.

    Returns:
        A tensor with larger images.

    Raises:
        ValueError: the format is none of these.

    >>> spatial_2d_padding(ag.ones([1, 5, 5, 3]), ((1, 0), (2, 2))).shape
    TensorShape([1, 6, 9, 3])
    """
    return _padded("spatial_2d_padding", x, padding, data_format)


def spatial_3d_padding(
    x: TensorLike, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None
) -> Tensor:
    """Put zeros around volumes, of three axes. See `spatial_2d_padding`."""
    return _padded("spatial_3d_padding", x, padding, data_format)


def _padded(function: str, x: TensorLike, padding: Any, data_format: str | None) -> Tensor:
    around = [list(each) for each in padding]
    return ag.pad(x, [[0, 0], [0, 0], *around] if channels_first(function, data_format) else [[0, 0], *around, [0, 0]])
