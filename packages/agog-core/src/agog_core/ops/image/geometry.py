"""Geometry of images: flips, turns, crops and borders."""

from __future__ import annotations

from typing import Any

from agog_core.calls.docstrings import documented, documented_like
from agog_core.ops.array import pad, transpose
from agog_core.ops.image.resizing import ResizeMethod, resize_images
from agog_core.ops.indexing.indexing import getitem
from agog_core.ops.math.logic import where
from agog_core.ops.random.uniform_and_normal import random_uniform
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = [
    "central_crop",
    "crop_to_bounding_box",
    "flip_left_right",
    "flip_up_down",
    "pad_to_bounding_box",
    "random_flip_left_right",
    "random_flip_up_down",
    "resize_image_with_crop_or_pad",
    "resize_image_with_pad",
    "rot90",
    "transpose_image",
]

_SECTIONS = """
    Args:
        image: a tensor of shape (height, width, channels) or (batch, height, width, channels).{more}

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: it is of another rank.
"""
_SEED = "\n    seed: the op's seed."


def image_tensor(op: str, image: TensorLike) -> Tensor:
    """Convert what must be one image, (height, width, channels), or a batch of them; raise ValueError otherwise."""
    x = convert_to_tensor(image)
    if len(x._shape) not in (3, 4):
        raise ValueError(
            f"{op}: 'image' must have either 3 or 4 dimensions, (height, width, channels) or with a batch before; got "
            f"shape {x._shape}."
        )
    return x


@documented(_SECTIONS, more="")
def flip_left_right(image: TensorLike) -> Tensor:
    """Mirror images, left to right.

    >>> print(flip_left_right([[[1], [2]], [[3], [4]]]).numpy().tolist())
    [[[2], [1]], [[4], [3]]]
    """
    return getitem(image_tensor("flip_left_right", image), (..., slice(None, None, -1), slice(None)))


@documented(_SECTIONS, more="")
def flip_up_down(image: TensorLike) -> Tensor:
    """Mirror images, top to bottom.

    >>> print(flip_up_down([[[1], [2]], [[3], [4]]]).numpy().tolist())
    [[[3], [4]], [[1], [2]]]
    """
    every = slice(None)
    return getitem(image_tensor("flip_up_down", image), (..., slice(None, None, -1), every, every))


@documented(_SECTIONS, more=_SEED)
def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """Mirror images left to right with probability 1/2, each on its own.

    >>> random_flip_left_right([[[1], [1]]]).numpy().tolist()
    [[[1], [1]]]
    """
    return _perhaps(image, flip_left_right(image), seed)


@documented(_SECTIONS, more=_SEED)
def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """Mirror images top to bottom with probability 1/2, each on its own.

    >>> random_flip_up_down([[[1]], [[1]]]).numpy().tolist()
    [[[1]], [[1]]]
    """
    return _perhaps(image, flip_up_down(image), seed)


def _perhaps(image: TensorLike, flipped: Tensor, seed: int | None) -> Tensor:
    """Choose for each image with probability 1/2."""
    x = convert_to_tensor(image)
    chosen = random_uniform(x._shape[:-3], seed=seed) < 0.5
    if len(x._shape) == 4:
        return where(chosen, flipped, x)
    return flipped if bool(chosen) else x


def transpose_image(image: TensorLike) -> Tensor:
    """Exchange height and width.

    Args:
        image: a tensor of shape (height, width, channels) or (batch, height, width, channels).

    Returns:
        A tensor of shape (width, height, channels) or (batch, width, height, channels).

    Raises:
        ValueError: it is of another rank.

    >>> print(transpose_image([[[1], [2]], [[3], [4]]]).numpy().tolist())
    [[[1], [3]], [[2], [4]]]
    """
    x = image_tensor("transpose_image", image)
    return transpose(x, (1, 0, 2) if len(x._shape) == 3 else (0, 2, 1, 3))


def rot90(image: TensorLike, k: int = 1, name: str | None = None) -> Tensor:
    """Turn images counter-clockwise by right angles.

    Args:
        image: a tensor of shape (height, width, channels) or (batch, height, width, channels).
        k: how many right angles.

    Returns:
        A tensor of the same rank.

    Raises:
        ValueError: it is of another rank.

    >>> print(rot90([[[1], [2]], [[3], [4]]]).numpy().tolist())
    [[[2], [4]], [[1], [3]]]
    """
    x = image_tensor("rot90", image)
    turns = int(k) % 4
    if turns == 1:
        return flip_up_down(transpose_image(x))
    if turns == 2:
        return flip_up_down(flip_left_right(x))
    return transpose_image(flip_up_down(x)) if turns else x


def central_crop(image: TensorLike, central_fraction: float) -> Tensor:
    """Cut out the middle of images.

    Args:
        image: a tensor of shape (height, width, channels) or (batch, height, width, channels).
        central_fraction: how much of height and width is left, in (0, 1].

    Returns:
        A tensor of the same rank.

    Raises:
        ValueError: it is of another rank, or the fraction is out of range.

    >>> print(central_crop([[[1], [2], [3], [4]]], 0.5).numpy().tolist())
    [[[2], [3]]]
    """
    x = image_tensor("central_crop", image)
    if not 0 < central_fraction <= 1:
        raise ValueError(f"central_crop: central_fraction must be within (0, 1]; got {central_fraction}.")
    height, width = x._shape[-3:-1]
    top, left = (int((size - size * central_fraction) / 2) for size in (height, width))
    return crop_to_bounding_box(x, top, left, height - 2 * top, width - 2 * left)


def crop_to_bounding_box(
    image: TensorLike, offset_height: int, offset_width: int, target_height: int, target_width: int
) -> Tensor:
    """Cut a box out of images.

    Args:
        image: a tensor of shape (height, width, channels) or (batch, height, width, channels).
        offset_height: the first row.
        offset_width: the first column.
        target_height: how many rows.
        target_width: how many columns.

    Returns:
        A tensor of shape (target height, target width, channels), with the batch before if there was one.

    Raises:
        ValueError: the box does not lie inside of the image, or the image is of another rank.

    >>> print(crop_to_bounding_box([[[1], [2]], [[3], [4]]], 1, 0, 1, 2).numpy().tolist())
    [[[3], [4]]]
    """
    x = image_tensor("crop_to_bounding_box", image)
    rows, columns = _box("crop_to_bounding_box", offset_height, offset_width, target_height, target_width)
    height, width = x._shape[-3:-1]
    if rows.stop > height or columns.stop > width:
        raise ValueError(
            f"crop_to_bounding_box: rows {rows.start} to {rows.stop} and columns {columns.start} to {columns.stop} do "
            f"not lie inside of an image of shape {x._shape}."
        )
    return getitem(x, (..., rows, columns, slice(None)))


def _box(op: str, top: Any, left: Any, height: Any, width: Any) -> tuple[slice, slice]:
    if top < 0 or left < 0 or height < 1 or width < 1:
        raise ValueError(
            f"{op}: offsets must be >= 0 and sizes > 0; got offsets {top}, {left} and sizes {height}, {width}."
        )
    return slice(int(top), int(top) + int(height)), slice(int(left), int(left) + int(width))


@documented_like(crop_to_bounding_box)
def pad_to_bounding_box(
    image: TensorLike, offset_height: int, offset_width: int, target_height: int, target_width: int
) -> Tensor:
    """Put images into a larger one of zeros.

    Args:
        offset_height: the rows of zeros above.
        offset_width: the columns of zeros on the left.
        target_height: the height of the result.
        target_width: the width of the result.

    Raises:
        ValueError: the image does not fit, or is of another rank.

    >>> print(pad_to_bounding_box([[[1], [2]]], 1, 0, 2, 3).numpy().tolist())
    [[[0], [0], [0]], [[1], [2], [0]]]
    """
    x = image_tensor("pad_to_bounding_box", image)
    height, width = x._shape[-3:-1]
    top, left = int(offset_height), int(offset_width)
    if not (0 <= top <= target_height - height and 0 <= left <= target_width - width):
        raise ValueError(
            f"pad_to_bounding_box: an image of shape {x._shape} with {top} rows above and {left} columns on the left "
            f"does not fit into height {target_height} and width {target_width}."
        )
    around = [(top, int(target_height) - height - top), (left, int(target_width) - width - left), (0, 0)]
    return pad(x, [(0, 0)] * (len(x._shape) - 3) + around)


def resize_image_with_crop_or_pad(image: TensorLike, target_height: int, target_width: int) -> Tensor:
    """Give images a size by cutting their middle out, or by putting zeros around.

    Args:
        image: a tensor of shape (height, width, channels) or (batch, height, width, channels).
        target_height: the new height.
        target_width: the new width.

    Returns:
        A tensor of shape (target height, target width, channels), with the batch before if there was one.

    Raises:
        ValueError: the image is of another rank, or a size is not positive.

    >>> print(resize_image_with_crop_or_pad([[[1], [2], [3]]], 3, 1).numpy().tolist())
    [[[0]], [[2]], [[0]]]
    """
    x = image_tensor("resize_image_with_crop_or_pad", image)
    height, width = x._shape[-3:-1]
    _box("resize_image_with_crop_or_pad", 0, 0, target_height, target_width)
    top, left = max(0, (height - target_height) // 2), max(0, (width - target_width) // 2)
    x = crop_to_bounding_box(x, top, left, min(height, target_height), min(width, target_width))
    above, before = max(0, (target_height - height) // 2), max(0, (target_width - width) // 2)
    return pad_to_bounding_box(x, above, before, target_height, target_width)


@documented_like(resize_image_with_crop_or_pad, "Returns", "Raises")
def resize_image_with_pad(
    image: TensorLike, target_height: int, target_width: int, method: int = ResizeMethod.BILINEAR
) -> Tensor:
    """Fit images into a size without changing their proportions; what is left is zeros, half of it on each side.

    Args:
        method: a constant of `ResizeMethod`.
        Other arguments: see `resize_image_with_crop_or_pad`.

    >>> print(resize_image_with_pad([[[2.0], [4.0]]], 2, 2).numpy().tolist())
    [[[2.0], [4.0]], [[0.0], [0.0]]]
    """
    x = image_tensor("resize_image_with_pad", image)
    _box("resize_image_with_pad", 0, 0, target_height, target_width)
    height, width = x._shape[-3:-1]
    # In integers: a quotient of quotients may be just below the size that it should be.
    if height * target_width > width * target_height:
        new_height, new_width = target_height, max(1, width * target_height // height)
    else:
        new_height, new_width = max(1, height * target_width // width), target_width
    resized = resize_images(x, (new_height, new_width), method)
    top, left = (target_height - new_height) // 2, (target_width - new_width) // 2
    return pad_to_bounding_box(resized, top, left, target_height, target_width)
