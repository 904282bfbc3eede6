"""Piecewise activations: activations of a few pieces."""

from __future__ import annotations

from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_core.calls.docstrings import documented_like
from agog_core.ops.nn import relu6

__all__ = [
    "h_sigmoid",
    "hard_shrink",
    "hard_sigmoid",
    "hard_silu",
    "hard_tanh",
    "linear",
    "soft_shrink",
    "sparse_plus",
    "sparse_sigmoid",
    "threshold",
]


def threshold(x: ag.TensorLike, threshold: float, default_value: float) -> Tensor:
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
    tensor = ag.convert_to_tensor(x)
    return ag.where(tensor > threshold, tensor, ag.convert_to_tensor(default_value, tensor.dtype))


def hard_shrink(x: ag.TensorLike, threshold: float = 0.5) -> Tensor:
    """Values farther from 0 than a threshold, and else 0, elementwise.

    Args:
        x: a tensor of floats.
        threshold: the threshold.

    Returns:
        A tensor of the same shape.

    >>> print(hard_shrink([-0.7, 0.3]))
    tf.Tensor([-0.7  0. ], shape=(2,), dtype=float32)
    """
    tensor = ag.convert_to_tensor(x)
    return ag.where(ag.abs(tensor) > threshold, tensor, ag.zeros_like(tensor))


@documented_like(hard_shrink)
def soft_shrink(x: ag.TensorLike, threshold: float = 0.5) -> Tensor:
    """Values moved towards 0 by a threshold, and not past it, elementwise.

    >>> print(soft_shrink([-2.0, 0.3]))
    tf.Tensor([-1.5  0. ], shape=(2,), dtype=float32)
    """
    tensor = ag.convert_to_tensor(x)
    return ag.sign(tensor) * ag.maximum(ag.abs(tensor) - threshold, 0.0)


def h_sigmoid(x: ag.TensorLike) -> Tensor:
    """``relu6(x + 3) / 6``, elementwise, which is near the sigmoid; Keras 3 and PyTorch call it hard_sigmoid.

    A. Howard et al., "Searching for MobileNetV3", ICCV 2019.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> print(h_sigmoid([-3.0, 0.0, 1.5]))
    tf.Tensor([0.   0.5  0.75], shape=(3,), dtype=float32)
    """
    return relu6(ag.convert_to_tensor(x) + 3.0) * (1 / 6)


@documented_like(hard_shrink)
def hard_silu(x: ag.TensorLike) -> Tensor:
    """``x * relu6(x + 3) / 6``, elementwise, which is near the swish.

    A. Howard et al., "Searching for MobileNetV3", ICCV 2019.

    >>> print(hard_silu([-3.0, 1.0, 3.0]))
    tf.Tensor([-0.         0.6666667  3.       ], shape=(3,), dtype=float32)
    """
    tensor = ag.convert_to_tensor(x)
    return tensor * h_sigmoid(tensor)


@documented_like(h_sigmoid)
def hard_tanh(x: ag.TensorLike) -> Tensor:
    """``x``, but not less than -1 nor more than 1, elementwise.

    >>> print(hard_tanh([-3.0, 0.5]))
    tf.Tensor([-1.   0.5], shape=(2,), dtype=float32)
    """
    return ag.clip_by_value(ag.convert_to_tensor(x), -1.0, 1.0)


@documented_like(h_sigmoid)
def sparse_plus(x: ag.TensorLike) -> Tensor:
    """0 up to -1, ``x`` from 1 on, and a parabola between, elementwise.

    >>> print(sparse_plus([-2.0, 0.0, 2.0]))
    tf.Tensor([0.   0.25 2.  ], shape=(3,), dtype=float32)
    """
    tensor = ag.convert_to_tensor(x)
    inner = ag.where(tensor <= -1.0, ag.zeros_like(tensor), ag.square(tensor + 1.0) * 0.25)
    return ag.where(tensor <= 1.0, inner, tensor)


@documented_like(h_sigmoid)
def sparse_sigmoid(x: ag.TensorLike) -> Tensor:
    """0 up to -1, 1 from 1 on, and a line between, elementwise.

    >>> print(sparse_sigmoid([-2.0, 0.0, 2.0]))
    tf.Tensor([0.  0.5 1. ], shape=(3,), dtype=float32)
    """
    return ag.clip_by_value((ag.convert_to_tensor(x) + 1.0) * 0.5, 0.0, 1.0)


def linear(x: ag.TensorLike) -> Any:
    """The identity.

    Args:
        x: anything.

    Returns:
        ``x`` itself.

    >>> linear(3.0)
    3.0
    """
    return x


def hard_sigmoid(x: ag.TensorLike) -> Tensor:
    """Three lines that are near the sigmoid, elementwise; at the corners the gradient is that of the middle line.

    Args:
        x: a tensor of floats.

    Returns:
        ``0.2 * x + 0.5``, but not less than 0 nor more than 1.

    >>> print(hard_sigmoid([-3.0, 0.0, 1.0, 3.0]))
    tf.Tensor([0.  0.5 0.7 1. ], shape=(4,), dtype=float32)
    """
    return ag.minimum(ag.maximum(ag.convert_to_tensor(x) * 0.2 + 0.5, 0.0), 1.0)
