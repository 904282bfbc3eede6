"""Resizing images, with the pixel positions of TensorFlow 1."""

from __future__ import annotations

from typing import Any

from agog_core.calls.call import call
from agog_core.calls.docstrings import documented
from agog_core.dispatch.op import define
from agog_core.dtypes import FLOATING, ORDERED, float32
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, expand_dims, squeeze
from agog_core.ops.conv.arguments import sizes_of
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = [
    "ResizeMethod",
    "resize_area",
    "resize_bicubic",
    "resize_bilinear",
    "resize_images",
    "resize_nearest_neighbor",
]


class ResizeMethod:
    """How `resize_images` makes new pixels of old ones.

    >>> ResizeMethod.BILINEAR, ResizeMethod.NEAREST_NEIGHBOR, ResizeMethod.BICUBIC, ResizeMethod.AREA
    (0, 1, 2, 3)
    """

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


def resample(images: TensorLike, size: Shape, method: str, align_corners: bool) -> Tensor:
    """Images of another size, in the same dtype. Methods are ``"nearest"``, and for floats ``"bilinear"``,
    ``"bicubic"`` and ``"area"``; ``align_corners`` keeps the centers of the corner pixels in place, otherwise the upper
    left corner stays.

    >>> print(resample([[[[1.0], [3.0]]]], (1, 4), "bilinear", False).numpy().tolist())
    [[[[1.0], [2.0], [3.0], [3.0]]]]
    """
    return call(_resample, convert_to_tensor(images), size=size, method=method, align_corners=align_corners)


def _resample_shape(images: Shape, size: Shape, method: str, align_corners: bool) -> Shape:
    if len(images) != 4:
        raise InvalidArgumentError(
            f"resize: images must be of shape (batch, height, width, channels); got shape {images}."
        )
    if len(size) != 2 or min(size) < 1:
        raise InvalidArgumentError(f"resize: size must be 2 positive integers (height, width); got {list(size)}.")
    if 0 in images[1:3]:
        raise InvalidArgumentError(f"resize: there are no pixels in images of shape {images}.")
    return (images[0], *size, images[3])


def _resample_vjp(g: Tensor, images_shape: Shape, method: str, align_corners: bool) -> Tensor:
    return resample_grad(g, images_shape, method, align_corners)


_resample = define(resample, shape=_resample_shape, dtypes=ORDERED, vjp={"images": _resample_vjp})


def resample_grad(gradient: TensorLike, images_shape: Shape, method: str, align_corners: bool) -> Tensor:
    """The gradient of `resample`: each new pixel's goes to the old ones that it is made of.

    >>> print(resample_grad([[[[1.0], [1.0], [1.0], [1.0]]]], (1, 1, 2, 1), "bilinear", False).numpy().tolist())
    [[[[1.5], [2.5]]]]
    """
    g = convert_to_tensor(gradient)
    return call(_resample_grad, g, images_shape=images_shape, method=method, align_corners=align_corners)


def _resample_grad_shape(gradient: Shape, images_shape: Shape, method: str, align_corners: bool) -> Shape:
    if len(gradient) != 4 or _resample_shape(images_shape, gradient[1:3], method, align_corners) != gradient:
        raise InvalidArgumentError(
            f"resample_grad: a gradient of shape {gradient} does not belong to images of shape {images_shape}."
        )
    return images_shape


def _resample_grad_vjp(g: Tensor, gradient_shape: Shape, method: str, align_corners: bool) -> Tensor:
    return resample(g, gradient_shape[1:3], method, align_corners)


_resample_grad = define(
    resample_grad, shape=_resample_grad_shape, dtypes=FLOATING, vjp={"gradient": _resample_grad_vjp}
)

_SECTIONS = """
    Args:
        images: numbers of shape (batch, height, width, channels).
        size: the new height and width.
        align_corners: whether the centers of the corner pixels stay where they are.

    Returns:
        A tensor of {dtype}, of shape (batch, new height, new width, channels).

    Raises:
        InvalidArgumentError: the images are not of rank 4 or empty, or the size is not positive.
"""


@documented(_SECTIONS, dtype="float32")
def resize_bilinear(images: TensorLike, size: Any, align_corners: bool = False, name: str | None = None) -> Tensor:
    """Resize images; new pixels lie on straight lines between old ones.

    >>> print(resize_bilinear([[[[1], [3]]]], [1, 4]).numpy().tolist())
    [[[[1.0], [2.0], [3.0], [3.0]]]]
    >>> print(resize_bilinear([[[[1], [3]]]], [1, 3], align_corners=True).numpy().tolist())
    [[[[1.0], [2.0], [3.0]]]]
    """
    return resample(cast(images, float32), sizes_of(size), "bilinear", bool(align_corners))


@documented(_SECTIONS, dtype="the same dtype")
def resize_nearest_neighbor(
    images: TensorLike, size: Any, align_corners: bool = False, name: str | None = None
) -> Tensor:
    """Resize images; new pixels are copies of old ones.

    >>> print(resize_nearest_neighbor([[[[1], [3]]]], [1, 4]).numpy().tolist())
    [[[[1], [1], [3], [3]]]]
    """
    return resample(images, sizes_of(size), "nearest", bool(align_corners))


@documented(_SECTIONS, dtype="float32")
def resize_bicubic(images: TensorLike, size: Any, align_corners: bool = False, name: str | None = None) -> Tensor:
    """Resize images; new pixels lie on cubic curves through old ones.

    R. Keys, "Cubic convolution interpolation for digital image processing", IEEE Transactions on Acoustics, Speech, and
    Signal Processing 29(6), 1981; here with a = -0.75.

    >>> print(resize_bicubic([[[[1], [3]]]], [1, 4]).numpy().tolist())
    [[[[1.0], [2.0], [3.0], [3.1875]]]]
    """
    return resample(cast(images, float32), sizes_of(size), "bicubic", bool(align_corners))


@documented(_SECTIONS, dtype="float32")
def resize_area(images: TensorLike, size: Any, align_corners: bool = False, name: str | None = None) -> Tensor:
    """Resize images; a new pixel is the mean of the area that it covers.

    >>> print(resize_area([[[[1], [3], [5], [8]]]], [1, 2]).numpy().tolist())
    [[[[2.0], [6.5]]]]
    """
    return resample(cast(images, float32), sizes_of(size), "area", bool(align_corners))


def resize_images(
    images: TensorLike,
    size: Any,
    method: int = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
) -> Tensor:
    """Resize one image or a batch of them.

    Args:
        images: numbers of shape (batch, height, width, channels) or (height, width, channels).
        size: the new height and width.
        method: a constant of `ResizeMethod`.
        align_corners: whether the centers of the corner pixels stay where they are.
        preserve_aspect_ratio: whether the images keep their proportions and are fitted into the size.

    Returns:
        A tensor of the same rank: of the images' dtype for nearest neighbours or if the size is the same already, else
        float32.

    Raises:
        ValueError: the rank, the size or the method.

    >>> print(resize_images([[[1], [3]]], [1, 4], ResizeMethod.NEAREST_NEIGHBOR).numpy().tolist())
    [[[1], [1], [3], [3]]]
    """
    x, new = convert_to_tensor(images), sizes_of(size)
    if len(x._shape) not in (3, 4):
        raise ValueError(f"resize_images: 'images' must have either 3 or 4 dimensions; got shape {x._shape}.")
    if len(new) != 2:
        raise ValueError(f"resize_images: 'size' must be 2 integers (height, width); got {list(new)}.")
    functions = (resize_bilinear, resize_nearest_neighbor, resize_bicubic, resize_area)
    if method not in range(len(functions)):
        raise ValueError(f"resize_images: method must be a constant of ResizeMethod, 0 to 3; got {method!r}.")
    old = x._shape[-3:-1]
    if preserve_aspect_ratio:
        factor = min(new[0] / old[0], new[1] / old[1])
        new = (round(factor * old[0]), round(factor * old[1]))
    if new == old:
        return x
    resize = functions[method]
    if len(x._shape) == 4:
        return resize(x, new, align_corners)
    return squeeze(resize(expand_dims(x, 0), new, align_corners), 0)
