"""Warping: geometric transformations of images with interpolation."""

from __future__ import annotations

from agog_core import (
    Tensor,
    abs,
    broadcast_to,
    cast,
    clip_by_value,
    expand_dims,
    fill,
    floor,
    gather,
    reshape,
    where,
)
from agog_core import range as numbers

__all__ = ["warped"]

FILLS = ("reflect", "wrap", "constant", "nearest")


def warped(
    images: Tensor, y: Tensor, x: Tensor, fill_mode: str, fill_value: float = 0.0, interpolation: str = "bilinear"
) -> Tensor:
    """Images whose pixels are those at places of other images, in float32.

    Args:
        images: a tensor of shape (n, height, width, channels).
        y: the rows, a float tensor of shape (n, new height, new width), where 0 is the middle of the first.
        x: the columns, of the same shape.
        fill_mode: what is outside: ``"constant"`` for ``fill_value``, ``"nearest"`` for the pixel at the edge,
            ``"reflect"`` for the image in a mirror, ``"wrap"`` for the image again.
        fill_value: the value outside for ``"constant"``.
        interpolation: ``"bilinear"`` or ``"nearest"``.

    Returns:
        A tensor of shape (n, new height, new width, channels).

    >>> from agog_core import constant
    >>> image = constant([[[[1.0], [3.0]]]])
    >>> print(reshape(warped(image, constant([[[0.0, 0.0]]]), constant([[[0.5, 9.0]]]), "nearest"), [-1]))
    tf.Tensor([2. 3.], shape=(2,), dtype=float32)
    """
    if interpolation == "nearest":
        return _pixels(images, floor(y + 0.5), floor(x + 0.5), fill_mode, fill_value)
    top, left = floor(y), floor(x)
    below, right = expand_dims(y - top, -1), expand_dims(x - left, -1)

    def row(line: Tensor) -> Tensor:
        first = _pixels(images, line, left, fill_mode, fill_value)
        second = _pixels(images, line, left + 1.0, fill_mode, fill_value)
        return first * (1.0 - right) + second * right

    return row(top) * (1.0 - below) + row(top + 1.0) * below


def _pixels(images: Tensor, y: Tensor, x: Tensor, fill_mode: str, fill_value: float) -> Tensor:
    """The pixels at whole places."""
    count, height, width, channels = images._shape
    inside = _within(y, height) & _within(x, width)
    rows, columns = cast(_folded(y, height, fill_mode), "int32"), cast(_folded(x, width, fill_mode), "int32")
    first = reshape(numbers(count) * (height * width), [count, 1, 1])
    flat = reshape(cast(images, "float32"), [count * height * width, channels])
    found = gather(flat, rows * width + columns + first)
    if fill_mode != "constant":
        return found
    return where(broadcast_to(expand_dims(inside, -1), found._shape), found, fill(found._shape, float(fill_value)))


def _within(places: Tensor, size: int) -> Tensor:
    return (places >= 0.0) & (places <= size - 1.0)


def _folded(places: Tensor, size: int, fill_mode: str) -> Tensor:
    """Places inside the image, from which those outside take their pixels."""
    if fill_mode == "wrap":
        return places % size
    if fill_mode == "reflect":  # with the edge twice: dcba|abcd|dcba
        around = places % (2 * size)
        return size - 0.5 - abs(around - (size - 0.5))
    return clip_by_value(places, 0.0, size - 1.0)
