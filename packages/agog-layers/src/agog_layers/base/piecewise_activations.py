"""Piecewise activations: activations of a few pieces."""

from __future__ import annotations

from agog_core import (
    Tensor,
    TensorLike,
    abs,
    clip_by_value,
    convert_to_tensor,
    maximum,
    sign,
    square,
    where,
    zeros_like,
)
from agog_core.ops.nn import relu6

__all__ = [
    "h_sigmoid",
    "hard_shrink",
    "hard_silu",
    "hard_tanh",
    "soft_shrink",
    "sparse_plus",
    "sparse_sigmoid",
    "threshold",
]


def threshold(x: TensorLike, threshold: float, default_value: float) -> Tensor:
    """Values above a threshold, and else 0, elementwise.

    Args:
        x: a tensor of floats.
        threshold: the threshold.
        default_value: what stands in for the rest.

    Returns:
        A tensor of the same shape.

    >>> print(threshold([0.5, 2.0], 1.0, -1.0))
    tf.Tensor([-1.  2.], shape=(2,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    return where(tensor > threshold, tensor, convert_to_tensor(default_value, tensor.dtype))


def hard_shrink(x: TensorLike, threshold: float = 0.5) -> Tensor:
    """Values farther from 0 than a threshold, and else 0, elementwise.

    Args:
        x: a tensor of floats.
        threshold: the threshold.

    Returns:
        A tensor of the same shape.

    >>> print(hard_shrink([-0.7, 0.3]))
    tf.Tensor([-0.7  0. ], shape=(2,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    return where(abs(tensor) > threshold, tensor, zeros_like(tensor))


def soft_shrink(x: TensorLike, threshold: float = 0.5) -> Tensor:
    """Values moved towards 0 by a threshold, and not past it, elementwise.

    Args:
        x: a tensor of floats.
        threshold: the threshold.

    Returns:
        A tensor of the same shape.

    >>> print(soft_shrink([-2.0, 0.3]))
    tf.Tensor([-1.5  0. ], shape=(2,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    return sign(tensor) * maximum(abs(tensor) - threshold, 0.0)


def h_sigmoid(x: TensorLike) -> Tensor:
    """``relu6(x + 3) / 6``, elementwise, which is near the sigmoid; Keras 3 and PyTorch call it hard_sigmoid.

    A. Howard et al., "Searching for MobileNetV3", ICCV 2019.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> print(h_sigmoid([-3.0, 0.0, 1.5]))
    tf.Tensor([0.   0.5  0.75], shape=(3,), dtype=float32)
    """
    return relu6(convert_to_tensor(x) + 3.0) * (1 / 6)


def hard_silu(x: TensorLike) -> Tensor:
    """``x * relu6(x + 3) / 6``, elementwise, which is near the swish.

    A. Howard et al., "Searching for MobileNetV3", ICCV 2019.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> print(hard_silu([-3.0, 1.0, 3.0]))
    tf.Tensor([-0.         0.6666667  3.       ], shape=(3,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    return tensor * h_sigmoid(tensor)


def hard_tanh(x: TensorLike) -> Tensor:
    """``x``, but not less than -1 nor more than 1, elementwise.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> print(hard_tanh([-3.0, 0.5]))
    tf.Tensor([-1.   0.5], shape=(2,), dtype=float32)
    """
    return clip_by_value(convert_to_tensor(x), -1.0, 1.0)


def sparse_plus(x: TensorLike) -> Tensor:
    """0 up to -1, ``x`` from 1 on, and a parabola between, elementwise.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> print(sparse_plus([-2.0, 0.0, 2.0]))
    tf.Tensor([0.   0.25 2.  ], shape=(3,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    inner = where(tensor <= -1.0, zeros_like(tensor), square(tensor + 1.0) * 0.25)
    return where(tensor <= 1.0, inner, tensor)


def sparse_sigmoid(x: TensorLike) -> Tensor:
    """0 up to -1, 1 from 1 on, and a line between, elementwise.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> print(sparse_sigmoid([-2.0, 0.0, 2.0]))
    tf.Tensor([0.  0.5 1. ], shape=(3,), dtype=float32)
    """
    return clip_by_value((convert_to_tensor(x) + 1.0) * 0.5, 0.0, 1.0)
