"""Patches of images: the contents of sliding windows, side by side."""

from __future__ import annotations

import math
from typing import Any

from agog_core.calls.call import call
from agog_core.dispatch.op import define
from agog_core.dtypes import ORDERED
from agog_core.errors import InvalidArgumentError
from agog_core.ops.conv.arguments import Pairs, check_choice, check_rank, output_sizes, pairs_of, per_axis
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["extract_image_patches"]


def extract_image_patches(
    images: TensorLike, ksizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Tensor:
    """Put the elements of each sliding window into the channels of its place.

    Args:
        images: numbers of shape (batch, height, width, channels).
        ksizes: the sizes of the window, ``[1, rows, columns, 1]``.
        strides: the steps of the window, ``[1, rows, columns, 1]``.
        rates: the distances between the window's elements, ``[1, rows, columns, 1]``.
        padding: ``"SAME"`` (with zeros) or ``"VALID"``.

    Returns:
        A tensor of shape (batch, rows, columns, window height * window width * channels).

    Raises:
        InvalidArgumentError: the shape, the dtype or another argument does not fit.

    >>> image = [[[[1], [2], [3]]]]
    >>> print(extract_image_patches(image, [1, 1, 2, 1], [1] * 4, [1] * 4, "VALID").numpy().tolist())
    [[[[1, 2], [2, 3]]]]
    """
    op = "extract_image_patches"
    x = convert_to_tensor(images)
    check_rank(op, "images", x, 4, "batch, height, width, channels")
    check_choice(op, "padding", padding, ("SAME", "VALID"))
    window = per_axis(op, "ksizes", ksizes, 2)
    steps = per_axis(op, "strides", strides, 2)
    distances = per_axis(op, "rates", rates, 2)
    pairs = pairs_of(op, padding, x._shape[1:-1], window, steps, distances)
    return call(_extract, x, window=window, strides=steps, paddings=pairs, dilations=distances)


def _shape(images: Shape, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape) -> Shape:
    places = output_sizes("extract_image_patches", images, window, strides, paddings, dilations)
    return (images[0], *places, math.prod(window) * images[-1])


def _vjp(g: Tensor, images_shape: Shape, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape) -> Tensor:
    return add_image_patches(g, images_shape, window, strides, paddings, dilations)


_extract = define(extract_image_patches, shape=_shape, dtypes=ORDERED, vjp={"images": _vjp})


def add_image_patches(
    patches: TensorLike, images_shape: Shape, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape
) -> Tensor:
    """Add patches up where they come from: the gradient of `extract_image_patches`.

    >>> form = (1, 2), (1, 1), ((0, 0), (0, 0)), (1, 1)
    >>> print(add_image_patches([[[[1, 2], [2, 3]]]], (1, 1, 3, 1), *form).numpy().tolist())
    [[[[1], [4], [3]]]]
    """
    attributes = {"window": window, "strides": strides, "paddings": paddings, "dilations": dilations}
    return call(_add, convert_to_tensor(patches), images_shape=images_shape, **attributes)


def _add_shape(
    patches: Shape, images_shape: Shape, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape
) -> Shape:
    expected = _shape(images_shape, window, strides, paddings, dilations)
    if patches != expected:
        raise InvalidArgumentError(
            f"add_image_patches: images of shape {images_shape} have patches of shape {expected}; got {patches}."
        )
    return images_shape


def _add_vjp(g: Tensor, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape) -> Tensor:
    return call(_extract, g, window=window, strides=strides, paddings=paddings, dilations=dilations)


_add = define(add_image_patches, shape=_add_shape, dtypes=ORDERED, vjp={"patches": _add_vjp})
