"""Drawing: boxes on images."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core.errors import InvalidArgumentError
from agog_core.ops.control.py_func import py_func
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["draw_bounding_boxes"]

Array = np.ndarray[Any, Any]

# TensorFlow's: yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
_COLORS = np.array(
    [
        *([1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1]),
        *([0.5, 0.5, 0, 1], [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1]),
    ]
)


def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, colors: TensorLike = None, name: str | None = None
) -> Tensor:
    """Draw boxes on images, one pixel wide; what is outside of an image is left out. No gradient flows through it.

    Args:
        images: floats of shape (batch, height, width, channels), of 1, 3 or 4 channels.
        boxes: floats of shape (batch, boxes, 4): the least row and column and the largest ones, from 0 to 1.
        colors: floats of shape (colors, channels), which the boxes take in turn; None for ten that differ.

    Returns:
        A tensor of the images' shape and dtype.

    Raises:
        InvalidArgumentError: a shape is another.

    >>> import agog_core as ag
    >>> drawn = draw_bounding_boxes(ag.zeros([1, 3, 3, 1]), [[[0.0, 0.0, 1.0, 1.0]]])
    >>> drawn.numpy()[0, :, :, 0].tolist()
    [[1.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
    """
    pictures, places = convert_to_tensor(images), convert_to_tensor(boxes)
    if len(pictures._shape) != 4 or pictures._shape[3] not in (1, 3, 4):
        raise InvalidArgumentError(
            "draw_bounding_boxes: images must be of shape (batch, height, width, channels) with 1, 3 or 4 channels; "
            f"got {pictures.shape}."
        )
    if len(places._shape) != 3 or places._shape[2] != 4 or places._shape[0] != pictures._shape[0]:
        raise InvalidArgumentError(
            f"draw_bounding_boxes: boxes must be of shape ({pictures._shape[0]}, boxes, 4); got {places.shape}."
        )
    channels = pictures._shape[3]
    table = np.ones((1, 1)) if channels == 1 else _COLORS[:, :channels]
    if colors is not None:
        table = convert_to_tensor(colors).numpy()
        if table.ndim != 2 or not len(table) or table.shape[1] < channels:
            raise InvalidArgumentError(
                f"draw_bounding_boxes: colors must be of shape (colors, {channels}); got {table.shape}."
            )

    def drawn(pixels: Array, corners: Array) -> Array:
        for picture, of_picture in zip(pixels, corners, strict=True):
            for number, box in enumerate(of_picture):
                _draw(picture, box, table[number % len(table), :channels])
        return pixels

    found: Tensor = py_func(drawn, [pictures, places], pictures.dtype)
    return found


def _draw(picture: Array, box: Array, color: Array) -> None:
    """Draw one box on a picture."""
    height, width = picture.shape[:2]
    top, bottom = (int(place * (height - 1)) for place in (box[0], box[2]))
    left, right = (int(place * (width - 1)) for place in (box[1], box[3]))
    if top > bottom or left > right or top >= height or left >= width or bottom < 0 or right < 0:
        return
    rows, columns = slice(max(top, 0), min(bottom, height - 1) + 1), slice(max(left, 0), min(right, width - 1) + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            picture[row, columns] = color
    for column in (left, right):
        if 0 <= column < width:
            picture[rows, column] = color
