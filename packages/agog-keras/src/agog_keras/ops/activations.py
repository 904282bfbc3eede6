"""Activations: activations of ``tf.keras.ops`` that differ from TensorFlow's."""

from __future__ import annotations

from collections.abc import Sequence

import agog_core as ag
from agog_core import Tensor, TensorLike
from agog_core.calls.docstrings import documented_like
from agog_core.ops import nn
from agog_keras.ops.dtypes import floats

__all__ = ["elu", "gelu", "hard_sigmoid", "leaky_relu", "log_softmax", "softmax"]


def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, and ``alpha * (exp(x) - 1)`` elsewhere.

    Args:
        x: a tensor of floats.
        alpha: what negative numbers approach, with a minus.

    Returns:
        A tensor of the same shape.

    >>> elu([1.0, 0.0], 0.5).numpy().tolist()
    [1.0, 0.0]
    """
    tensor = floats(x)
    return ag.where(tensor > 0, tensor, ag.expm1(ag.minimum(tensor, 0)) * alpha)


@documented_like(elu)
def gelu(x: TensorLike, approximate: bool = True) -> Tensor:
    """``x`` times the share of the normal distribution that is below it.

    D. Hendrycks and K. Gimpel, "Gaussian error linear units", 2016.

    Args:
        approximate: whether to compute the share by a tanh.

    >>> print(gelu([0.0, 3.0], approximate=False))
    tf.Tensor([0.        2.9959502], shape=(2,), dtype=float32)
    """
    return nn.gelu(floats(x), approximate)


def hard_sigmoid(x: TensorLike) -> Tensor:
    """``x / 6 + 0.5``, no less than 0 and no more than 1; TensorFlow's has ``0.2 * x``.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> hard_sigmoid([-4.0, 0.0, 1.5]).numpy().tolist()
    [0.0, 0.5, 0.75]
    """
    return ag.clip_by_value(floats(x) / 6.0 + 0.5, 0.0, 1.0)


def leaky_relu(x: TensorLike, negative_slope: float = 0.2) -> Tensor:
    """``x`` where it is positive, and a part of it elsewhere.

    Args:
        x: a tensor of floats.
        negative_slope: the part.

    Returns:
        A tensor of the same shape.

    >>> leaky_relu([5.0, -5.0]).numpy().tolist()
    [5.0, -1.0]
    """
    return nn.leaky_relu(floats(x), negative_slope)


def softmax(x: TensorLike, axis: int | Sequence[int] | None = -1) -> Tensor:
    """Exponentials that add up to 1 along axes.

    Args:
        x: a tensor of floats.
        axis: the axes; None for all.

    Returns:
        A tensor of the same shape.

    >>> softmax([[0.0, 0.0]], axis=None).numpy().tolist()
    [[0.5, 0.5]]
    """
    return ag.exp(log_softmax(x, axis)) if not isinstance(axis, int) else nn.softmax(floats(x), axis)


@documented_like(softmax)
def log_softmax(x: TensorLike, axis: int | Sequence[int] | None = -1) -> Tensor:
    """The logarithms of `softmax`."""
    tensor = floats(x)
    if isinstance(axis, int):
        return nn.log_softmax(tensor, axis)
    return tensor - ag.reduce_logsumexp(tensor, axis, True)
