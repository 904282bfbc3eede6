"""Resizing: images of another size, with TensorFlow 2's half-pixel centers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from agog_core import (
    Tensor,
    TensorLike,
    TensorShape,
    abs,
    cast,
    clip_by_value,
    convert_to_tensor,
    einsum,
    exp,
    expand_dims,
    floor,
    gather,
    maximum,
    minimum,
    reduce_sum,
    sin,
    where,
    zeros_like,
)
from agog_core import range as numbers
from agog_core.errors import InvalidArgumentError
from agog_keras.layers.adaptation import Preprocessing
from agog_layers.arguments.checks import choice, integer

__all__ = ["CenterCrop", "Resizing", "resize"]


def _triangle(x: Tensor) -> Tensor:
    return maximum(1.0 - x, 0.0)


def _keys(x: Tensor) -> Tensor:
    near = ((1.5 * x - 2.5) * x) * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return where(x <= 1.0, near, where(x < 2.0, far, zeros_like(x)))


def _mitchell(x: Tensor) -> Tensor:
    near = ((7.0 * x - 12.0) * x * x + 16.0 / 3.0) / 6.0
    far = (((-7.0 / 3.0 * x + 12.0) * x - 20.0) * x + 32.0 / 3.0) / 6.0
    return where(x <= 1.0, near, where(x < 2.0, far, zeros_like(x)))


def _gauss(x: Tensor) -> Tensor:
    return where(x < 1.5, exp(x * x * -2.0), zeros_like(x))


def _lanczos(radius: float) -> Callable[[Tensor], Tensor]:
    def kernel(x: Tensor) -> Tensor:
        angle = maximum(x, 1e-6) * math.pi
        wave = sin(angle) * sin(angle / radius) * radius / (angle * angle)
        return where(x < radius, wave, zeros_like(x))

    return kernel


# How much a pixel counts whose middle is so far from if one is asked for.
_KERNELS: dict[str, Callable[[Tensor], Tensor]] = {
    "bilinear": _triangle,
    "bicubic": _keys,
    "gaussian": _gauss,
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
    "mitchellcubic": _mitchell,
}
_METHODS = (*_KERNELS, "nearest", "area")
# Numbers that tf.image.ResizeMethod has for names.
_NUMBERED = {0: "bilinear", 1: "nearest", 2: "bicubic", 3: "area"}


def resize(
    images: TensorLike,
    size: Any,
    method: Any = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Make images of another size.

    R. Keys, "Cubic convolution interpolation for digital image processing", 1981; D. Mitchell and A. Netravali,
    "Reconstruction filters in computer graphics", 1988.

    Args:
        images: a tensor of shape (n, height, width, channels), or (height, width, channels).
        size: the new height and width.
        method: ``"bilinear"``, ``"nearest"``, ``"bicubic"``, ``"area"``, ``"gaussian"``, ``"lanczos3"``,
            ``"lanczos5"`` or ``"mitchellcubic"``.
        preserve_aspect_ratio: whether the new size is the largest in ``size`` of the same shape.
        antialias: whether a smaller image is made of all pixels, and not of those that are near.

    Returns:
        A tensor of float32 with the new size; of the same dtype for ``"nearest"``.

    Raises:
        ValueError: the method is unknown.
        InvalidArgumentError: the tensor has another number of axes.

    >>> print(resize([[[0.0], [4.0]]], [1, 4])[0, :, 0])
    tf.Tensor([0. 1. 3. 4.], shape=(4,), dtype=float32)
    """
    chosen = choice("resize", "method", _NUMBERED.get(method, method), _METHODS)
    x = convert_to_tensor(images)
    if len(x._shape) == 3:
        return resize(expand_dims(x, 0), size, chosen, preserve_aspect_ratio, antialias)[0]
    if len(x._shape) != 4:
        raise InvalidArgumentError(
            "resize: images must be of shape (n, height, width, channels) or (height, width, channels); got shape "
            f"{x.shape}."
        )
    old = x._shape[1:3]
    new = [int(each) for each in convert_to_tensor(size).numpy()]
    if preserve_aspect_ratio:
        ratio = min(new[0] / old[0], new[1] / old[1])
        new = [max(1, round(each * ratio)) for each in old]
    if chosen == "nearest":
        for axis in (0, 1):
            x = gather(x, _nearest(old[axis], new[axis]), axis=axis + 1)
        return x
    rows, columns = (_weights(old[axis], new[axis], chosen, antialias) for axis in (0, 1))
    return einsum("oh,nhwc->nowc", rows, einsum("ow,nhwc->nhoc", columns, cast(x, "float32")))


def _nearest(old: int, new: int) -> Tensor:
    middles = (cast(numbers(new), "float32") + 0.5) * (old / new)
    return cast(clip_by_value(floor(middles), 0.0, old - 1.0), "int32")


def _weights(old: int, new: int, method: str, antialias: bool) -> Tensor:
    """How much each old pixel counts in each new one, of shape (new, old); rows add up to 1."""
    scale = old / new
    begins = expand_dims(cast(numbers(new), "float32") * scale, 1)
    pixels = expand_dims(cast(numbers(old), "float32"), 0)
    if method == "area":
        common = minimum(pixels + 1.0, begins + scale) - maximum(pixels, begins)
        weights = maximum(common, 0.0)
    else:
        wide = max(scale, 1.0) if antialias else 1.0
        weights = _KERNELS[method](abs(pixels + 0.5 - (begins + scale / 2)) / wide)
    return weights / reduce_sum(weights, 1, keepdims=True)


class Resizing(Preprocessing):
    """Make images of another size. See `resize`.

    Args:
        height: the new height.
        width: the new width.
        interpolation: the method of `resize`.
        crop_to_aspect_ratio: whether the middle of the image is cut out first, in the shape of the new size.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> Resizing(2, 3)(ag.ones([1, 4, 4, 1])).shape
    TensorShape([1, 2, 3, 1])
    """

    def __init__(
        self,
        height: int,
        width: int,
        interpolation: str = "bilinear",
        crop_to_aspect_ratio: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.height, self.width = integer("Resizing", "height", height), integer("Resizing", "width", width)
        self.interpolation = choice("Resizing", "interpolation", interpolation, _METHODS)
        self.crop_to_aspect_ratio = crop_to_aspect_ratio

    def call(self, inputs: Tensor) -> Tensor:
        """Make them of the new size."""
        x = convert_to_tensor(inputs)
        if self.crop_to_aspect_ratio:
            height, width = x._shape[-3:-1]
            ratio = self.height / self.width
            x = _middle(x, min(height, int(width * ratio)), min(width, int(height / ratio)))
        return resize(x, [self.height, self.width], self.interpolation)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return _of_size(input_shape, self.height, self.width)


class CenterCrop(Preprocessing):
    """Cut the middle out of images; of a smaller image, one of the new size is made.

    Args:
        height: the new height.
        width: the new width.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> CenterCrop(2, 2)(ag.ones([1, 4, 6, 1])).shape
    TensorShape([1, 2, 2, 1])
    """

    def __init__(self, height: int, width: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.height, self.width = integer("CenterCrop", "height", height), integer("CenterCrop", "width", width)

    def call(self, inputs: Tensor) -> Tensor:
        """Cut the middle out."""
        x = cast(inputs, "float32")
        if x._shape[-3] < self.height or x._shape[-2] < self.width:
            resized: Tensor = Resizing(self.height, self.width, crop_to_aspect_ratio=True)(x)
            return resized
        return _middle(x, self.height, self.width)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return _of_size(input_shape, self.height, self.width)


def _middle(x: Tensor, height: int, width: int) -> Tensor:
    top, left = (x._shape[-3] - height) // 2, (x._shape[-2] - width) // 2
    return x[..., top : top + height, left : left + width, :]


def _of_size(input_shape: Any, height: int, width: int) -> TensorShape:
    shape = TensorShape(input_shape).as_list()
    return TensorShape([*shape[:-3], height, width, shape[-1]])
