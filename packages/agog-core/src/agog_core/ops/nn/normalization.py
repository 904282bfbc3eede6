"""Normalization, composed of `standardize` and arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agog_core.calls.docstrings import documented_like
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.reshaping import reshape
from agog_core.ops.math import add, maximum, multiply, rsqrt, square
from agog_core.ops.nn.affine import broadcasts, standardize_affine
from agog_core.ops.nn.standardization import neighbor_sum, standardize
from agog_core.ops.reduce.reduction import reduce_sum
from agog_core.shapes import Shape, normalize_axes
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = [
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "fused_batch_norm",
    "group_normalization",
    "instance_normalization",
    "l2_normalize",
    "layer_normalization",
    "local_response_normalization",
    "lrn",
]


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None,
    scale: TensorLike | None,
    variance_epsilon: float,
    name: str | None = None,
) -> Tensor:
    """Normalise by a given mean and variance, then scale and shift.

    S. Ioffe and C. Szegedy, "Batch normalization", ICML 2015.

    Args:
        x: a tensor of floats.
        mean, variance: tensors that broadcast with ``x``.
        offset: what is added, which broadcasts too, or None.
        scale: what is multiplied by, which broadcasts too, or None.
        variance_epsilon: a small number that is added to the variance.

    Returns:
        ``scale * (x - mean) / sqrt(variance + variance_epsilon) + offset``.

    Raises:
        InvalidArgumentError: shapes or dtypes do not fit.

    >>> print(batch_normalization([3.0, 5.0], 1.0, 4.0, None, 10.0, 0.0))
    tf.Tensor([10. 20.], shape=(2,), dtype=float32)
    """
    factor = rsqrt(add(variance, variance_epsilon))
    if scale is not None:
        factor = factor * scale
    shift: Tensor = mean * factor
    shift = shift * -1 if offset is None else offset - shift
    return multiply(x, factor) + shift


def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Batch normalisation of images: by the batch's mean and variance in training, else by given ones.

    S. Ioffe and C. Szegedy, "Batch normalization", ICML 2015.

    Args:
        x: a tensor of floats of rank 4.
        scale, offset: of shape (channels,).
        mean, variance: of shape (channels,); only where ``is_training`` is False.
        epsilon: a small number that is added to the variance; at least 1.001e-5 is.
        data_format: ``"NHWC"`` or ``"NCHW"``.
        is_training: whether the mean and the variance are those of the batch.

    Returns:
        The normalised tensor; the batch's mean; the batch's variance, unbiased (its sum of squares is divided by one
        less than the number of elements), while the normalisation takes the biased one. Where ``is_training`` is False,
        the given mean and variance.

    Raises:
        InvalidArgumentError: ``x`` is not of rank 4.
        ValueError: ``data_format`` is unknown, or mean and variance are missing or not allowed.

    >>> y, mean, variance = fused_batch_norm([[[[1.0], [3.0]]]], [1.0], [0.0])
    >>> print(mean, variance)
    tf.Tensor([2.], shape=(1,), dtype=float32) tf.Tensor([2.], shape=(1,), dtype=float32)
    """
    images = convert_to_tensor(x)
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"fused_batch_norm: data_format must be 'NHWC' or 'NCHW'; got {data_format!r}.")
    if len(images._shape) != 4:
        raise InvalidArgumentError(f"fused_batch_norm: x must be of rank 4; got shape {images._shape}.")
    if is_training != (mean is None) or is_training != (variance is None):
        raise ValueError(
            "fused_batch_norm: mean and variance must be None where is_training is True, and be given where it is "
            f"False; got is_training={is_training}, mean {'None' if mean is None else 'given'} and variance "
            f"{'None' if variance is None else 'given'}."
        )
    epsilon = max(epsilon, 1.001e-5)  # as TensorFlow does, for cuDNN's sake
    channel = data_format.index("C")
    channels = images._shape[channel]

    def spread(value: TensorLike) -> Tensor:
        tensor = convert_to_tensor(value)
        return tensor if channel == 3 else reshape(tensor, (1, channels, 1, 1))

    if mean is not None and variance is not None:
        arguments = spread(mean), spread(variance), spread(offset), spread(scale)
        return (
            batch_normalization(images, *arguments, epsilon),
            convert_to_tensor(mean),
            convert_to_tensor(variance),
        )
    axes = tuple([axis for axis in range(4) if axis != channel])
    count = math.prod([images._shape[axis] for axis in axes])
    y, batch_mean, batch_variance = standardize_affine(images, spread(scale), spread(offset), axes, epsilon)
    unbiased = reshape(batch_variance, (channels,)) * (count / max(count - 1, 1))
    return y, reshape(batch_mean, (channels,)), unbiased


def batch_norm_with_global_normalization(
    t: TensorLike,
    m: TensorLike,
    v: TensorLike,
    beta: TensorLike,
    gamma: TensorLike,
    variance_epsilon: float,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Tensor:
    """Batch normalisation with the arguments of an older op; `batch_normalization` is the newer one.

    Args:
        t: a tensor of floats.
        m: the mean.
        v: the variance.
        beta: what is added.
        gamma: what is multiplied by.
        variance_epsilon: a small number that is added to the variance.
        scale_after_normalization: whether ``gamma`` is used.

    Returns:
        ``gamma * (t - m) / sqrt(v + variance_epsilon) + beta``.

    >>> print(batch_norm_with_global_normalization([3.0, 5.0], 1.0, 4.0, 1.0, 10.0, 0.0, True))
    tf.Tensor([11. 21.], shape=(2,), dtype=float32)
    """
    return batch_normalization(t, m, v, beta, gamma if scale_after_normalization else None, variance_epsilon)


def layer_normalization(
    x: TensorLike,
    axes: int | Sequence[int] = -1,
    scale: TensorLike | None = None,
    offset: TensorLike | None = None,
    epsilon: float = 1e-12,
    name: str | None = None,
) -> Tensor:
    """Normalise each example by its own mean and variance, then scale and shift.

    J. Ba et al., "Layer normalization", arXiv:1607.06450, 2016.

    Args:
        x: a tensor of floats.
        axes: the axes over which mean and variance are taken.
        scale, offset: what is multiplied by and added, which broadcast with ``x``, or None.
        epsilon: a small number that is added to the variance.

    Returns:
        A tensor of x's shape.

    Raises:
        InvalidArgumentError: an axis is out of range.

    >>> print(layer_normalization([[1.0, 3.0], [0.0, 8.0]]))
    tf.Tensor(
    [[-1.  1.]
     [-1.  1.]], shape=(2, 2), dtype=float32)
    """
    return _standardized(convert_to_tensor(x), axes, epsilon, scale, offset)


def _standardized(
    x: Tensor, axes: int | Sequence[int], epsilon: float, scale: TensorLike | None, offset: TensorLike | None
) -> Tensor:
    """Standardize, scale and shift, in one op where both weights are there and of one shape."""
    if scale is not None and offset is not None:
        factor, shift = convert_to_tensor(scale), convert_to_tensor(offset)
        if factor._shape == shift._shape and broadcasts(factor._shape, x._shape):
            return standardize_affine(x, factor, shift, axes, epsilon)[0]
    return _scaled(standardize(x, axes, epsilon)[0], scale, offset)


def _scaled(standardized: Tensor, scale: TensorLike | None, offset: TensorLike | None) -> Tensor:
    scaled = standardized if scale is None else standardized * scale
    return scaled if offset is None else scaled + offset


def instance_normalization(
    x: TensorLike,
    scale: TensorLike | None = None,
    offset: TensorLike | None = None,
    epsilon: float = 1e-6,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """Normalise each channel of each image by its own mean and variance, then scale and shift.

    D. Ulyanov et al., "Instance normalization: the missing ingredient for fast stylization", arXiv:1607.08022, 2016.

    Args:
        See `group_normalization`.

    Returns:
        A tensor of x's shape.

    >>> print(instance_normalization([[[1.0], [3.0]]], epsilon=0.0))
    tf.Tensor(
    [[[-1.]
      [ 1.]]], shape=(1, 2, 1), dtype=float32)
    """
    return group_normalization(x, None, scale, offset, epsilon, data_format)


@documented_like(layer_normalization)
def group_normalization(
    x: TensorLike,
    groups: int | None = 32,
    scale: TensorLike | None = None,
    offset: TensorLike | None = None,
    epsilon: float = 1e-6,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """Normalise groups of channels of each image by their own mean and variance, then scale and shift.

    Y. Wu and K. He, "Group normalization", ECCV 2018.

    Args:
        x: a tensor of floats of shape (batch, ..., channels), or (batch, channels, ...) for formats that begin with NC.
        groups: how many groups there are; None for one for each channel.
        scale, offset: of shape (channels,), or None.
        data_format: ``"NHWC"`` or ``"NCHW"``; for any number of axes.

    Raises:
        InvalidArgumentError: the channels cannot be divided into that many groups, or there is no axis for them.

    >>> print(group_normalization([[1.0, 3.0, 0.0, 8.0]], 2, epsilon=0.0))
    tf.Tensor([[-1.  1. -1.  1.]], shape=(1, 4), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    shape = tensor._shape
    channel = 1 if data_format.startswith("NC") else len(shape) - 1
    if len(shape) < 2 or (groups is not None and (groups < 1 or shape[channel] % groups)):
        raise InvalidArgumentError(
            f"group_normalization: x of shape {shape} has no channels (axis {channel}) that make {groups} groups."
        )
    channels = shape[channel]
    if groups is None:
        groups = channels
    split = (*shape[:channel], groups, channels // groups if groups else 0, *shape[channel + 1 :])
    axes = tuple([axis for axis in range(1, len(split)) if axis != channel])
    standardized = reshape(standardize(reshape(tensor, split), axes, epsilon)[0], shape)
    along: Shape = tuple([channels if axis == channel else 1 for axis in range(len(shape))])
    factors: list[Any] = [None if value is None else reshape(value, along) for value in (scale, offset)]
    return _scaled(standardized, *factors)


def local_response_normalization(
    input: TensorLike,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Divide each channel by a power of the sum of squares of the channels around it.

    A. Krizhevsky et al., "ImageNet classification with deep convolutional neural networks", NIPS 2012, section 3.3.

    Args:
        input: a tensor of floats of rank 4, channels last.
        depth_radius: how many channels count on each side.
        bias: a number, usually positive, so that nothing is divided by 0.
        alpha: the factor of the sum.
        beta: the exponent.

    Returns:
        ``input / (bias + alpha * sum of squares) ** beta``.

    Raises:
        InvalidArgumentError: the input is not of rank 4.

    >>> print(local_response_normalization([[[[3.0, 4.0]]]], bias=0.0))
    tf.Tensor([[[[0.6 0.8]]]], shape=(1, 1, 1, 2), dtype=float32)
    """
    x = convert_to_tensor(input)
    if len(x._shape) != 4:
        raise InvalidArgumentError(f"local_response_normalization: input must be of rank 4; got shape {x._shape}.")
    squares = neighbor_sum(square(x), depth_radius)
    return x * (squares * alpha + bias) ** -beta


lrn = local_response_normalization


@documented_like(layer_normalization)
def l2_normalize(
    x: TensorLike, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """Divide by the Euclidean length along axes.

    Args:
        axis: an axis or several; None for all. Older name: ``dim``.
        epsilon: the least that the sum of squares counts as.

    Returns:
        ``x / sqrt(max(sum(x ** 2), epsilon))``.

    >>> print(l2_normalize([3.0, 4.0]))
    tf.Tensor([0.6 0.8], shape=(2,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    axes = normalize_axes("l2_normalize", dim if axis is None else axis, len(tensor._shape))
    return tensor * rsqrt(maximum(reduce_sum(square(tensor), axes, True), epsilon))
