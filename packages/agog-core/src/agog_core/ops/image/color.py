"""Color of images: gray, hue and saturation."""

from __future__ import annotations

from typing import Any

from agog_core.calls.docstrings import documented_like
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.joining import concat, stack, unstack
from agog_core.ops.image.intensity import as_float, check_image, convert_image_dtype, number_like, random_factor
from agog_core.ops.math import abs, clip_by_value, equal, floor, maximum, minimum, where
from agog_core.ops.random.uniform_and_normal import random_uniform
from agog_core.ops.reduce.reduction import reduce_sum
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = [
    "adjust_hue",
    "adjust_saturation",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "random_hue",
    "random_saturation",
    "rgb_to_grayscale",
    "rgb_to_hsv",
]


def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Red, green and blue to hue, saturation and value, all in [0, 1].

    A. Smith, "Color gamut transform pairs", SIGGRAPH 1978.

    Args:
        images: floats of shape (..., 3).

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: the last axis is not of size 3.

    >>> print(rgb_to_hsv([0.0, 0.5, 0.0]))
    tf.Tensor([0.33333334 1.         0.5       ], shape=(3,), dtype=float32)
    """
    red, green, blue = _colors("rgb_to_hsv", images)
    value = maximum(maximum(red, green), blue)
    spread = value - minimum(minimum(red, green), blue)
    one = 1.0
    # Divisors are replaced where they are zero, so that neither values nor gradients are NaN.
    saturation = where(value > 0.0, spread / where(value > 0.0, value, one), 0.0)
    has_hue = spread > 0.0
    scale = where(has_hue, spread, one) * 6.0
    from_blue = (red - green) / scale + 4 / 6
    from_green = (blue - red) / scale + 2 / 6
    from_red = (green - blue) / scale
    hue = where(equal(red, value), from_red, where(equal(green, value), from_green, from_blue))
    hue = where(has_hue, where(hue < 0.0, hue + 1.0, hue), 0.0)
    return stack([hue, saturation, value], -1)


@documented_like(rgb_to_hsv)
def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Hue, saturation and value to red, green and blue, all in [0, 1].

    A. Smith, "Color gamut transform pairs", SIGGRAPH 1978.

    >>> print(hsv_to_rgb([1 / 3, 1.0, 0.5]))
    tf.Tensor([0.  0.5 0. ], shape=(3,), dtype=float32)
    """
    hue, saturation, value = _colors("hsv_to_rgb", images)
    sixths = hue * 6.0
    distances = (
        abs(sixths - 3.0) - 1.0,
        2.0 - abs(sixths - 2.0),
        2.0 - abs(sixths - 4.0),
    )
    colors = [(1.0 - saturation + saturation * clip_by_value(part, 0.0, 1.0)) * value for part in distances]
    return stack(colors, -1)


def _colors(op: str, images: TensorLike) -> list[Tensor]:
    x = convert_to_tensor(images)
    if not x._shape or x._shape[-1] != 3 or not x.dtype.is_floating:
        raise InvalidArgumentError(
            f"{op}: images must be floats of shape (..., 3); got dtype {x.dtype.name} and shape {x._shape}."
        )
    return unstack(x, axis=-1)


def adjust_hue(image: TensorLike, delta: Any, name: str | None = None) -> Tensor:
    """Add to the hue of images.

    Args:
        image: a tensor of shape (..., height, width, 3).
        delta: what is added, in [-1, 1]; 1 is once around.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the shape does not fit.

    >>> print(adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy().tolist())
    [[[0.0, 1.0, 1.0]]]
    """
    x, dtype = as_float(image)
    check_image("adjust_hue", x, 3)
    hue, saturation, value = unstack(rgb_to_hsv(x), axis=-1)
    turned = hue + number_like(delta, x)
    turned = turned - floor(turned)
    return convert_image_dtype(hsv_to_rgb(stack([turned, saturation, value], -1)), dtype)


def adjust_saturation(image: TensorLike, saturation_factor: Any, name: str | None = None) -> Tensor:
    """Multiply the saturation of images.

    Args:
        image: a tensor of shape (..., height, width, 3).
        saturation_factor: the factor; 0 makes gray.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the shape does not fit.

    >>> print(adjust_saturation([[[1.0, 0.5, 0.5]]], 2.0).numpy().tolist())
    [[[1.0, 0.0, 0.0]]]
    """
    x, dtype = as_float(image)
    check_image("adjust_saturation", x, 3)
    hue, saturation, value = unstack(rgb_to_hsv(x), axis=-1)
    scaled = clip_by_value(saturation * number_like(saturation_factor, x), 0.0, 1.0)
    return convert_image_dtype(hsv_to_rgb(stack([hue, scaled, value], -1)), dtype)


def random_hue(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """Add a random number to the hue of images.

    Args:
        image: a tensor of shape (..., height, width, 3).
        max_delta: the number lies in [-max_delta, max_delta); at most 0.5.
        seed: the op's seed.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: ``max_delta`` is not in [0, 0.5].

    >>> print(random_hue([[[1.0, 0.0, 0.0]]], 0.0).numpy().tolist())
    [[[1.0, 0.0, 0.0]]]
    """
    if not 0 <= max_delta <= 0.5:
        raise ValueError(f"random_hue: max_delta must be in [0, 0.5]; got {max_delta}.")
    return adjust_hue(image, random_uniform((), -max_delta, max_delta, seed=seed))


@documented_like(adjust_saturation)
def random_saturation(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Multiply the saturation of images by a random factor.

    Args:
        lower: the least factor.
        upper: the factors lie below it.
        seed: the op's seed.

    Raises:
        ValueError: the range of factors is empty, or negative.

    >>> print(random_saturation([[[0.5, 0.5, 0.5]]], 0.5, 2.0).numpy().tolist())
    [[[0.5, 0.5, 0.5]]]
    """
    return adjust_saturation(image, random_factor("random_saturation", lower, upper, seed))


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """Red, green and blue to gray, by their luma.

    ITU-R Recommendation BT.601.

    Args:
        images: a tensor of shape (..., 3).

    Returns:
        A tensor of shape (..., 1) of the same dtype.

    Raises:
        InvalidArgumentError: the last axis is not of size 3.

    >>> print(rgb_to_grayscale([[1.0, 0.0, 0.0]]))
    tf.Tensor([[0.2989]], shape=(1, 1), dtype=float32)
    """
    x, dtype = as_float(images)
    if not x._shape or x._shape[-1] != 3:
        raise InvalidArgumentError(f"rgb_to_grayscale: images must be of shape (..., 3); got shape {x._shape}.")
    weights = number_like([0.2989, 0.5870, 0.1140], x)
    return convert_image_dtype(reduce_sum(x * weights, -1, True), dtype)


def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Gray to red, green and blue, all equal.

    Args:
        images: a tensor of shape (..., 1).

    Returns:
        A tensor of shape (..., 3) of the same dtype.

    Raises:
        InvalidArgumentError: the last axis is not of size 1.

    >>> print(grayscale_to_rgb([[7]]))
    tf.Tensor([[7 7 7]], shape=(1, 3), dtype=int32)
    """
    x = convert_to_tensor(images)
    if not x._shape or x._shape[-1] != 1:
        raise InvalidArgumentError(f"grayscale_to_rgb: images must be of shape (..., 1); got shape {x._shape}.")
    return concat([x] * 3, -1)
