"""Normalization: batch normalization in ``tf.keras.backend``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core import Tensor, TensorLike, convert_to_tensor, reshape, squeeze
from agog_core.ops.nn.normalization import batch_normalization as normalized
from agog_core.ops.reduce.moments import moments

__all__ = ["batch_normalization", "normalize_batch_in_training"]


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    var: TensorLike,
    beta: TensorLike,
    gamma: TensorLike,
    axis: int = -1,
    epsilon: float = 1e-3,
) -> Tensor:
    """Normalise by a mean and a variance.

    Args:
        x: a tensor.
        mean: the mean of each channel.
        var: its variance.
        beta: what is added to it afterwards; None for nothing.
        gamma: what it is multiplied with before that; None for 1.
        axis: the axis of the channels.
        epsilon: what is added to the variance.

    Returns:
        ``gamma * (x - mean) / sqrt(var + epsilon) + beta``, of the shape of ``x``.

    >>> print(batch_normalization([[3.0]], [1.0], [4.0], [0.5], [2.0], epsilon=0.0))
    tf.Tensor([[2.5]], shape=(1, 1), dtype=float32)
    """
    inputs = convert_to_tensor(x)
    others = [each for each in range(inputs.ndim) if each != axis % inputs.ndim]
    return _normalized(inputs, (mean, var, beta, gamma), others, epsilon)


def normalize_batch_in_training(
    x: TensorLike, gamma: TensorLike, beta: TensorLike, reduction_axes: Sequence[int], epsilon: float = 1e-3
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalise by the batch's own mean and variance.

    Args:
        x: a tensor.
        gamma: what each channel is multiplied with; None for 1.
        beta: what is added to it afterwards; None for nothing.
        reduction_axes: the axes over which the mean is taken: all but that of the channels.
        epsilon: what is added to the variance.

    Returns:
        The normalised tensor, the mean and the variance.

    >>> print(normalize_batch_in_training([[1.0], [3.0]], None, None, [0], epsilon=0.0)[0])
    tf.Tensor(
    [[-1.]
     [ 1.]], shape=(2, 1), dtype=float32)
    """
    inputs = convert_to_tensor(x)
    mean, variance = moments(inputs, list(reduction_axes), keep_dims=True)
    outputs = _normalized(inputs, (mean, variance, beta, gamma), reduction_axes, epsilon)
    return outputs, squeeze(mean, list(reduction_axes)), squeeze(variance, list(reduction_axes))


def _normalized(x: Tensor, parts: Sequence[Any], others: Sequence[int], epsilon: float) -> Tensor:
    shape = [1 if axis in others else size for axis, size in enumerate(x.shape.as_list())]
    mean, variance, beta, gamma = [None if part is None else reshape(part, shape) for part in parts]
    return normalized(x, mean, variance, beta, gamma, epsilon)
