"""Intensity of images: dtypes and their ranges, brightness, contrast, gamma."""

from __future__ import annotations

from typing import Any

from agog_core.dtypes import DType, as_dtype, float32
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.casting import cast
from agog_core.ops.image.geometry import image_tensor
from agog_core.ops.math import maximum, multiply, saturate_cast, sqrt, square
from agog_core.ops.random.uniform_and_normal import random_uniform
from agog_core.ops.reduce.reduction import reduce_mean
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "convert_image_dtype",
    "per_image_standardization",
    "random_brightness",
    "random_contrast",
]


def convert_image_dtype(image: TensorLike, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """Convert images to a dtype and to its range: floats are in [0, 1), integers from 0 to the largest.

    Args:
        image: a tensor of any shape.
        dtype: the new dtype.
        saturate: whether values out of range become the nearest one in range.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: a dtype is neither integer nor floating point.

    >>> import numpy as np
    >>> print(convert_image_dtype(np.array([0, 255], np.uint8), "float32"))
    tf.Tensor([0. 1.], shape=(2,), dtype=float32)
    """
    x, new = convert_to_tensor(image), as_dtype(dtype)
    old = x.dtype
    for kind in (old, new):
        if not (kind.is_integer or kind.is_floating):
            raise InvalidArgumentError(
                f"convert_image_dtype: from {old.name} to {new.name}; use integer or floating-point dtypes."
            )
    if old is new:
        return x
    if old.is_floating and new.is_floating:
        return cast(x, new)
    if new.is_floating:
        return multiply(cast(x, new), 1 / old.max)
    to_integer = saturate_cast if saturate else cast
    if old.is_floating:
        return to_integer(x * (new.max + 0.5), new)
    if old.max > new.max:
        return to_integer(x // ((old.max + 1) // (new.max + 1)), new)
    return multiply(to_integer(x, new), (new.max + 1) // (old.max + 1))


def as_float(image: TensorLike) -> tuple[Tensor, DType]:
    """Convert an image to floats in [0, 1), unless it has floats; and its dtype."""
    x = convert_to_tensor(image)
    return (x if x.dtype.is_floating else convert_image_dtype(x, float32)), x.dtype


def adjust_brightness(image: TensorLike, delta: Any) -> Tensor:
    """Add to the brightness of images.

    Args:
        image: a tensor of any shape.
        delta: what is added, on the scale on which white is 1.

    Returns:
        A tensor of the same shape and dtype; integers stay in their range.

    >>> import numpy as np
    >>> print(adjust_brightness(np.array([0, 100, 250], np.uint8), 0.1))
    tf.Tensor([ 25 125 255], shape=(3,), dtype=uint8)
    """
    x, dtype = as_float(image)
    return convert_image_dtype(x + number_like(delta, x), dtype, saturate=True)


def adjust_contrast(images: TensorLike, contrast_factor: Any) -> Tensor:
    """Move each pixel away from, or towards, the mean of its channel.

    Args:
        images: a tensor of shape (..., height, width, channels).
        contrast_factor: the factor of the distances to the mean.

    Returns:
        A tensor of the same shape and dtype; integers stay in their range.

    Raises:
        InvalidArgumentError: there are fewer than 3 axes.

    >>> print(adjust_contrast([[[0.25], [0.75]]], 2.0).numpy().tolist())
    [[[0.0], [1.0]]]
    """
    x, dtype = as_float(images)
    check_image("adjust_contrast", x)
    mean = reduce_mean(x, (-3, -2), True)
    adjusted = (x - mean) * number_like(contrast_factor, x) + mean
    return convert_image_dtype(adjusted, dtype, saturate=True)


def number_like(value: TensorLike, x: Tensor) -> Tensor:
    """Convert a number to an image's dtype; a Python number without rounding it to float32 first."""
    return cast(convert_to_tensor(value, preferred_dtype=x.dtype), x.dtype)


def check_image(op: str, x: Tensor, channels: int | None = None) -> None:
    """Raise when a tensor is not of shape (..., height, width, channels); None allows any number of channels."""
    if len(x._shape) < 3 or channels not in (None, x._shape[-1]):
        wanted = "channels" if channels is None else channels
        raise InvalidArgumentError(f"{op}: images must be of shape (..., height, width, {wanted}); got {x._shape}.")


def adjust_gamma(image: TensorLike, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """Apply the power law ``gain * image ** gamma`` to images, on the scale on which white is 1.

    Args:
        image: a tensor of any shape, not negative.
        gamma: the exponent, not negative; above 1 it darkens.
        gain: the factor.

    Returns:
        A tensor of floats (float32 for integers) on the image's own scale.

    Raises:
        ValueError: ``gamma`` is negative.

    >>> print(adjust_gamma([0.25, 1.0], 0.5))
    tf.Tensor([0.5 1. ], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(image)
    if not isinstance(gamma, Tensor) and gamma < 0:
        raise ValueError(f"adjust_gamma: gamma should be a non-negative real number; got {gamma}.")
    scale = float(x.dtype.max - x.dtype.min) if x.dtype.is_integer else 1.0
    values = x if x.dtype.is_floating else cast(x, float32)
    bent = (values / scale) ** number_like(gamma, values)
    return bent * scale * number_like(gain, values)


def random_brightness(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """Add a random number to the brightness of images.

    Args:
        image: a tensor of any shape.
        max_delta: the number lies in [-max_delta, max_delta), on the scale on which white is 1.
        seed: the op's seed.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: ``max_delta`` is negative.

    >>> print(random_brightness([0.5], 0.0))
    tf.Tensor([0.5], shape=(1,), dtype=float32)
    """
    if max_delta < 0:
        raise ValueError(f"random_brightness: max_delta must be non-negative; got {max_delta}.")
    return adjust_brightness(image, random_uniform((), -max_delta, max_delta, seed=seed))


def random_contrast(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Change the contrast of images by a random factor.

    Args:
        image: a tensor of shape (..., height, width, channels).
        lower: the least factor.
        upper: the factors lie below it.
        seed: the op's seed.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: the range of factors is empty, or negative.

    >>> print(random_contrast([[[0.5], [0.5]]], 0.5, 2.0).numpy().tolist())
    [[[0.5], [0.5]]]
    """
    return adjust_contrast(image, random_factor("random_contrast", lower, upper, seed))


def random_factor(op: str, lower: float, upper: float, seed: int | None) -> Tensor:
    """A random number in [lower, upper), which must not be negative."""
    if not 0 <= lower < upper:
        raise ValueError(f"{op}: upper must be > lower, and lower must be non-negative; got {lower} and {upper}.")
    return random_uniform((), lower, upper, seed=seed)


def per_image_standardization(image: TensorLike) -> Tensor:
    """Shift and scale each image to mean 0 and variance 1.

    Args:
        image: a tensor of shape (height, width, channels) or (batch, height, width, channels).

    Returns:
        A float32 tensor of the same shape. The divisor is at least 1 / sqrt(number of elements), so that uniform images
        give zeros.

    Raises:
        ValueError: it is of another rank.

    >>> print(per_image_standardization([[[1.0], [3.0]]]).numpy().tolist())
    [[[-1.0], [1.0]]]
    """
    x = cast(image_tensor("per_image_standardization", image), float32)
    height, width, channels = x._shape[-3:]
    centered = x - reduce_mean(x, (-3, -2, -1), True)
    variance = reduce_mean(square(centered), (-3, -2, -1), True)
    # The maximum is taken of the squares: a root's gradient at 0 is infinite.
    return centered / sqrt(maximum(variance, 1.0 / max(1, height * width * channels)))
