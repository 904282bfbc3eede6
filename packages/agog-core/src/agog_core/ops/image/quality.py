"""Quality: measures of the difference of images, and edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, pad, reshape, stack, tile
from agog_core.ops.conv import avg_pool, depthwise_conv2d
from agog_core.ops.image.geometry import image_tensor
from agog_core.ops.image.intensity import convert_image_dtype
from agog_core.ops.indexing.indexing import getitem
from agog_core.ops.math import abs, log, square
from agog_core.ops.nn.activations import relu
from agog_core.ops.reduce.reduction import reduce_mean, reduce_sum
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["image_gradients", "psnr", "sobel_edges", "ssim", "ssim_multiscale", "total_variation"]


def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the absolute differences of neighbouring pixels: how noisy an image is.

    L. Rudin, S. Osher, E. Fatemi, "Nonlinear total variation based noise removal algorithms", Physica D 60, 1992.

    Args:
        images: numbers of shape (height, width, channels) or (batch, height, width, channels).

    Returns:
        A scalar, or a tensor of shape (batch,).

    Raises:
        ValueError: it is of another rank.

    >>> print(total_variation([[[1.0], [3.0]], [[1.0], [0.0]]]))
    tf.Tensor(6.0, shape=(), dtype=float32)
    """
    x = image_tensor("total_variation", images)
    down, across = _steps(x)
    axes = (-3, -2, -1)
    return reduce_sum(abs(down), axes) + reduce_sum(abs(across), axes)


def _steps(x: Tensor) -> tuple[Tensor, Tensor]:
    """Differences of neighbours: those below, and those on the right."""
    every, first, last = slice(None), slice(None, -1), slice(1, None)
    down = getitem(x, (..., last, every, every)) - getitem(x, (..., first, every, every))
    across = getitem(x, (..., last, every)) - getitem(x, (..., first, every))
    return down, across


def image_gradients(image: TensorLike) -> tuple[Tensor, Tensor]:
    """Differences of each pixel to the one below, and to the one on its right.

    Args:
        image: numbers of shape (batch, height, width, channels).

    Returns:
        Both, of the images' shape; zeros where there is no such pixel.

    Raises:
        ValueError: it is of another rank.

    >>> down, across = image_gradients([[[[1.0], [3.0]], [[1.0], [0.0]]]])
    >>> print(down.numpy().tolist(), across.numpy().tolist())
    [[[[0.0], [-3.0]], [[0.0], [0.0]]]] [[[[2.0], [0.0]], [[-1.0], [0.0]]]]
    """
    x = convert_to_tensor(image)
    if len(x._shape) != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not a tensor of shape {x._shape}."
        )
    down, across = _steps(x)
    none, one = (0, 0), (0, 1)
    return pad(down, (none, one, none, none)), pad(across, (none, none, one, none))


def sobel_edges(image: TensorLike) -> Tensor:
    """The derivatives of images downwards and to the right, by Sobel's filters.

    R. Duda, P. Hart, "Pattern classification and scene analysis", 1973, p. 271.

    Args:
        image: floats of shape (batch, height, width, channels), at least 2 pixels high and wide.

    Returns:
        A tensor of shape (batch, height, width, channels, 2): the change downwards, and that to the right.

    Raises:
        InvalidArgumentError: it is of another rank.

    >>> print(sobel_edges([[[[0.0], [1.0]], [[0.0], [1.0]]]]).numpy().tolist())
    [[[[[0.0, 0.0]], [[0.0, 0.0]]], [[[0.0, 0.0]], [[0.0, 0.0]]]]]
    >>> print(sobel_edges([[[[0.0], [1.0], [2.0]], [[0.0], [1.0], [2.0]]]]).numpy()[0, 0, 1].tolist())
    [[0.0, 8.0]]
    """
    x = convert_to_tensor(image)
    if len(x._shape) != 4:
        raise InvalidArgumentError(
            f"sobel_edges: image must be of shape (batch, height, width, channels); got shape {x._shape}."
        )
    down = [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]
    right = [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]
    filters = reshape(stack([cast(down, x.dtype), cast(right, x.dtype)], -1), (3, 3, 1, 2))
    channels = x._shape[-1]
    bordered = pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="REFLECT")
    edges = depthwise_conv2d(bordered, tile(filters, (1, 1, channels, 1)), [1, 1, 1, 1], "VALID")
    return reshape(edges, (*x._shape, 2))


def psnr(a: TensorLike, b: TensorLike, max_val: float, name: str | None = None) -> Tensor:
    """Peak signal-to-noise ratio of images, in decibels.

    Args:
        a: images of shape (..., height, width, channels).
        b: images of the same shape and dtype.
        max_val: the distance of the largest possible value to the smallest, such as 255.

    Returns:
        A float32 tensor of shape (...).

    Raises:
        ValueError: the shapes differ, or have fewer than 3 axes.

    >>> print(psnr([[[0.0], [10.0]]], [[[0.0], [0.0]]], 255.0))
    tf.Tensor(31.141102, shape=(), dtype=float32)
    """
    x, y, largest = _pair("psnr", a, b, max_val)
    error = reduce_mean(square(x - y), (-3, -2, -1))
    return log(error / (largest * largest)) * (-10 / math.log(10))


def _pair(op: str, a: TensorLike, b: TensorLike, max_val: float) -> tuple[Tensor, Tensor, float]:
    """Both images as float32, and the largest value on their scale."""
    x, y = convert_to_tensor(a), convert_to_tensor(b)
    if x._shape != y._shape or len(x._shape) < 3:
        raise ValueError(
            f"{op}: both images must be of one shape (..., height, width, channels); got {x._shape} and {y._shape}."
        )
    scale = 1 / x.dtype.max if x.dtype.is_integer else 1.0
    return convert_image_dtype(x, "float32"), convert_image_dtype(y, "float32"), float(max_val) * scale


def ssim(img1: TensorLike, img2: TensorLike, max_val: float) -> Tensor:
    """Structural similarity of images: 1 for equal ones.

    Z. Wang et al., "Image quality assessment: from error visibility to structural similarity", IEEE Transactions on
    Image Processing 13(4), 2004; with a Gaussian window of 11 x 11 pixels and a standard deviation of 1.5.

    Args:
        img1: images of shape (..., height, width, channels), at least 11 pixels high and wide.
        img2: images of the same shape and dtype.
        max_val: the distance of the largest possible value to the smallest, such as 255.

    Returns:
        A float32 tensor of shape (...).

    Raises:
        ValueError: the shapes differ, or have fewer than 3 axes, or the images are too small.

    >>> import numpy as np
    >>> print(ssim(np.ones((11, 11, 1), np.float32), np.ones((11, 11, 1), np.float32), 1.0))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    x, y, largest = _pair("ssim", img1, img2, max_val)
    _check_size("ssim", x, 11)
    similarity, _ = _similarity(_batch(x), _batch(y), largest)
    return reshape(reduce_mean(similarity, -1), x._shape[:-3])


def _check_size(op: str, x: Tensor, least: int) -> None:
    if min(x._shape[-3:-1]) < least:
        raise ValueError(f"{op}: images must be at least {least} pixels high and wide; got shape {x._shape}.")


def _batch(x: Tensor) -> Tensor:
    return reshape(x, (-1, *x._shape[-3:]))


def _similarity(first: Tensor, second: Tensor, largest: float) -> tuple[Tensor, Tensor]:
    """Structural similarity, and its part without the luminance, both of shape (batch, channels)."""
    window = _gaussian(first._shape[-1])

    def mean(image: Tensor) -> Tensor:
        return depthwise_conv2d(image, window, [1, 1, 1, 1], "VALID")

    c1, c2 = (0.01 * largest) ** 2, (0.03 * largest) ** 2
    mean1, mean2 = mean(first), mean(second)
    means, squares = mean1 * mean2 * 2.0, square(mean1) + square(mean2)
    luminance = (means + c1) / (squares + c1)
    products = mean(first * second) * 2.0
    sums = mean(square(first) + square(second))
    structure = (products - means + c2) / (sums - squares + c2)
    return reduce_mean(luminance * structure, (-3, -2)), reduce_mean(structure, (-3, -2))


def _gaussian(channels: int) -> Tensor:
    weights = [math.exp(-(n**2) / (2 * 1.5**2)) for n in range(-5, 6)]
    total = math.fsum(weights) ** 2
    table: list[Any] = [[[[y * x / total]] * channels for x in weights] for y in weights]
    return convert_to_tensor(table)


_POWERS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def ssim_multiscale(
    img1: TensorLike, img2: TensorLike, max_val: float, power_factors: Sequence[float] = _POWERS
) -> Tensor:
    """Structural similarity of images on several scales: 1 for equal ones.

    Z. Wang, E. Simoncelli, A. Bovik, "Multiscale structural similarity for image quality assessment", Asilomar
    Conference on Signals, Systems and Computers, 2003.

    Args:
        img1: images of shape (..., height, width, channels), at least 11 pixels high and wide on the smallest scale.
        img2: images of the same shape and dtype.
        max_val: the distance of the largest possible value to the smallest, such as 255.
        power_factors: the exponent of each scale; each scale has half the height and width of the one before.

    Returns:
        A float32 tensor of shape (...).

    Raises:
        ValueError: the shapes differ, or have fewer than 3 axes, or the images are too small.

    >>> import numpy as np
    >>> print(ssim_multiscale(np.ones((22, 22, 1), np.float32), np.ones((22, 22, 1), np.float32), 1.0, (0.5, 0.5)))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    x, y, largest = _pair("ssim_multiscale", img1, img2, max_val)
    last = len(power_factors) - 1
    _check_size("ssim_multiscale", x, 10 * 2**last + 1)
    first, second = _batch(x), _batch(y)
    product: Any = 1.0
    for scale, power in enumerate(power_factors):
        if scale:
            first, second = _halved(first), _halved(second)
        whole, structure = _similarity(first, second, largest)
        product = relu(whole if scale == last else structure) ** power * product
    return reshape(reduce_mean(product, -1), x._shape[:-3])


def _halved(x: Tensor) -> Tensor:
    """Means of 2 x 2 pixels; an odd last row or column is repeated first."""
    height, width = x._shape[1:3]
    if height % 2 or width % 2:
        x = pad(x, ((0, 0), (0, height % 2), (0, width % 2), (0, 0)), mode="SYMMETRIC")
    return avg_pool(x, 2, 2, "VALID")
