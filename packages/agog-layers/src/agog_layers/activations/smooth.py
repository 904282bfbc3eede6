"""Smooth activations: activations without kinks, and gated ones."""

from __future__ import annotations

import builtins

import agog_core as ag
from agog_core import Tensor
from agog_core.calls.docstrings import documented_like
from agog_core.ops import nn
from agog_core.ops.nn import softplus

__all__ = ["celu", "elu", "gelu", "glu", "log_sigmoid", "mish", "sparsemax", "squareplus", "tanh_shrink"]


def celu(x: ag.TensorLike, alpha: float = 1.0) -> Tensor:
    """Continuously differentiable exponential linear unit, elementwise.

    J. Barron, "Continuously differentiable exponential linear units", arXiv:1704.07483, 2017.

    Args:
        x: a tensor of floats.
        alpha: the size of the least value.

    Returns:
        ``alpha * (exp(x / alpha) - 1)`` where ``x`` is negative, else ``x``.

    >>> print(celu([-1.0, 2.0], alpha=2.0))
    tf.Tensor([-0.78693867  2.        ], shape=(2,), dtype=float32)
    """
    tensor = ag.convert_to_tensor(x)
    below = ag.expm1(ag.minimum(tensor, 0.0) / alpha) * alpha
    return ag.maximum(tensor, 0.0) + below


def glu(x: ag.TensorLike, axis: int = -1) -> Tensor:
    """Gated linear unit: the first half of an axis, times the sigmoid of the second.

    Y. Dauphin et al., "Language modeling with gated convolutional networks", ICML 2017.

    Args:
        x: a tensor of floats.
        axis: the axis, of an even size.

    Returns:
        A tensor whose axis has half the size.

    >>> print(glu([3.0, 0.0]))
    tf.Tensor([1.5], shape=(1,), dtype=float32)
    """
    values, gates = ag.split(ag.convert_to_tensor(x), 2, axis)
    return values * ag.sigmoid(gates)


def log_sigmoid(x: ag.TensorLike) -> Tensor:
    """The logarithm of the sigmoid, elementwise.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> print(log_sigmoid([0.0]))
    tf.Tensor([-0.6931472], shape=(1,), dtype=float32)
    """
    return -softplus(-ag.convert_to_tensor(x))


def squareplus(x: ag.TensorLike, b: float = 4.0) -> Tensor:
    """``(x + sqrt(x ** 2 + b)) / 2``, elementwise.

    Args:
        x: a tensor of floats.
        b: how smooth it is near 0.

    Returns:
        A tensor of the same shape.

    >>> print(squareplus([0.0]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """
    tensor = ag.convert_to_tensor(x)
    return (tensor + ag.sqrt(ag.square(tensor) + b)) * 0.5


@documented_like(log_sigmoid)
def tanh_shrink(x: ag.TensorLike) -> Tensor:
    """``x - tanh(x)``, elementwise.

    >>> print(tanh_shrink([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """
    tensor = ag.convert_to_tensor(x)
    return tensor - ag.tanh(tensor)


def sparsemax(x: ag.TensorLike, axis: int = -1) -> Tensor:
    """The probabilities nearest to some numbers, of which many are 0.

    A. Martins and R. Astudillo, "From softmax to sparsemax", ICML 2016.

    Args:
        x: a tensor of floats.
        axis: the axis along which the probabilities add up to 1.

    Returns:
        A tensor of the same shape.

    >>> print(sparsemax([2.0, 1.5, 0.0]))
    tf.Tensor([0.75 0.25 0.  ], shape=(3,), dtype=float32)
    """
    tensor = ag.convert_to_tensor(x)
    rank = len(tensor._shape)
    order = [n for n in builtins.range(rank) if n != axis % rank] + [axis % rank]
    moved = ag.transpose(tensor, order)
    falling = ag.sort(moved, direction="DESCENDING")
    places = ag.cast(ag.range(moved._shape[-1]) + 1, moved.dtype)
    sums = ag.cumsum(falling, -1) - 1.0
    count = ag.reduce_sum(ag.cast(falling * places > sums, moved.dtype), -1, True)
    support = ag.cast(places <= count, moved.dtype)
    level = (ag.reduce_sum(falling * support, -1, True) - 1.0) / count
    return ag.transpose(ag.maximum(moved - level, 0.0), [order.index(n) for n in builtins.range(rank)])


def elu(x: ag.TensorLike, alpha: float = 1.0) -> Tensor:
    """Exponential linear unit, elementwise.

    Args:
        x: a tensor of floats.
        alpha: the factor where ``x`` is negative.

    Returns:
        ``alpha * (exp(x) - 1)`` where ``x`` is negative, else ``x``.

    >>> print(elu([-1.0, 2.0], alpha=2.0))
    tf.Tensor([-1.2642411  2.       ], shape=(2,), dtype=float32)
    """
    unit = nn.elu(x)
    return unit if alpha == 1 else ag.where(unit > 0, unit, unit * alpha)


def gelu(x: ag.TensorLike, approximate: bool = False) -> Tensor:
    """Gaussian error linear unit, elementwise. See `agog_core.ops.nn.gelu`.

    >>> print(gelu([-1.0, 0.0, 2.0]))
    tf.Tensor([-0.15865526  0.          1.9544997 ], shape=(3,), dtype=float32)
    """
    return nn.gelu(x, approximate)


def mish(x: ag.TensorLike) -> Tensor:
    """``x * tanh(softplus(x))``, elementwise.

    D. Misra, "Mish: a self regularized non-monotonic activation function", BMVC 2020.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> print(mish([0.0, 1.0]))
    tf.Tensor([0.        0.8650984], shape=(2,), dtype=float32)
    """
    tensor = ag.convert_to_tensor(x)
    return tensor * ag.tanh(softplus(tensor))
