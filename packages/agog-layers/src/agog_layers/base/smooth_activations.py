"""Smooth activations: activations without kinks, and gated ones."""

from __future__ import annotations

import builtins

from agog_core import (
    Tensor,
    TensorLike,
    cast,
    convert_to_tensor,
    cumsum,
    expm1,
    maximum,
    minimum,
    range,
    reduce_sum,
    sigmoid,
    sort,
    split,
    sqrt,
    square,
    tanh,
    transpose,
)
from agog_core.ops.nn import softplus

__all__ = ["celu", "glu", "log_sigmoid", "sparsemax", "squareplus", "tanh_shrink"]


def celu(x: TensorLike, alpha: float = 1.0) -> Tensor:
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
    tensor = convert_to_tensor(x)
    below = expm1(minimum(tensor, 0.0) / alpha) * alpha
    return maximum(tensor, 0.0) + below


def glu(x: TensorLike, axis: int = -1) -> Tensor:
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
    values, gates = split(convert_to_tensor(x), 2, axis)
    return values * sigmoid(gates)


def log_sigmoid(x: TensorLike) -> Tensor:
    """The logarithm of the sigmoid, elementwise.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> print(log_sigmoid([0.0]))
    tf.Tensor([-0.6931472], shape=(1,), dtype=float32)
    """
    return -softplus(-convert_to_tensor(x))


def squareplus(x: TensorLike, b: float = 4.0) -> Tensor:
    """``(x + sqrt(x ** 2 + b)) / 2``, elementwise.

    Args:
        x: a tensor of floats.
        b: how smooth it is near 0.

    Returns:
        A tensor of the same shape.

    >>> print(squareplus([0.0]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    return (tensor + sqrt(square(tensor) + b)) * 0.5


def tanh_shrink(x: TensorLike) -> Tensor:
    """``x - tanh(x)``, elementwise.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> print(tanh_shrink([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    return tensor - tanh(tensor)


def sparsemax(x: TensorLike, axis: int = -1) -> Tensor:
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
    tensor = convert_to_tensor(x)
    rank = len(tensor._shape)
    order = [n for n in builtins.range(rank) if n != axis % rank] + [axis % rank]
    moved = transpose(tensor, order)
    falling = sort(moved, direction="DESCENDING")
    places = cast(range(moved._shape[-1]) + 1, moved.dtype)
    sums = cumsum(falling, -1) - 1.0
    count = reduce_sum(cast(falling * places > sums, moved.dtype), -1, True)
    support = cast(places <= count, moved.dtype)
    level = (reduce_sum(falling * support, -1, True) - 1.0) / count
    return transpose(maximum(moved - level, 0.0), [order.index(n) for n in builtins.range(rank)])
