"""Nn: rules of activations, losses, attention and normalization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_export.writer import Operand, Writer

__all__ = [
    "dot_product_attention",
    "gelu",
    "leaky_relu",
    "log_softmax",
    "matmul_bias",
    "neighbor_sum",
    "relu",
    "relu6",
    "selu",
    "sigmoid_cross_entropy",
    "softmax",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
    "standardize",
    "standardize_affine",
    "swish",
]


def activated(op: Writer, x: Operand, activation: str) -> Any:
    """A fused op's activation."""
    if activation == "relu6":
        return relu6(op, x)
    kind = {"linear": "Identity", "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh"}[activation]
    return getattr(op, kind)(x)


def dot_product_attention(
    op: Writer, query: Operand, key: Operand, value: Operand, bias: Operand, *, factor: float, is_causal: bool
) -> Any:
    """softmax(factor * query @ key^T + bias) @ value."""
    axes = list(range(key.rank))
    scores = op.Mul(op.MatMul(query, op.transpose(key, [*axes[:-2], axes[-1], axes[-2]])), factor)
    if 0 not in bias.shape:
        scores = op.Add(scores, bias)
    if is_causal:
        shape = [query.shape[-2], key.shape[-2]]
        is_seen = op.cast(op.Trilu(op.zeros(shape, np.dtype(np.int64), 1), np.int64(0), upper=0), bool)
        scores = op.Where(is_seen, scores, np.array(-np.inf, query.dtype))
    return op.MatMul(op.Softmax(scores, axis=-1), value)


def gelu(op: Writer, x: Operand, *, approximate: bool) -> Any:
    return op.Gelu(x, approximate="tanh" if approximate else "none")


def leaky_relu(op: Writer, x: Operand, *, alpha: float) -> Any:
    """LeakyRelu is not the maximum where the slope is above 1."""
    if 0 <= alpha <= 1:
        return op.LeakyRelu(x, alpha=float(alpha))
    return op.Max(x, op.Mul(x, alpha))


def log_softmax(op: Writer, logits: Operand, *, axis: int) -> Any:
    return op.LogSoftmax(logits, axis=axis)


def matmul_bias(op: Writer, a: Operand, b: Operand, bias: Operand, *, activation: str) -> Any:
    return activated(op, op.Add(op.MatMul(a, b), bias), activation)


def neighbor_sum(op: Writer, x: Operand, *, radius: int) -> Any:
    """The sum of the padded tensor at each shift."""
    if 0 in x.shape:
        return x
    around = min(radius, x.shape[-1].__index__() - 1)
    padded = op.Pad(x, [around, around], np.array(0, x.dtype), [-1])
    total: Any = x
    for shift in (n for n in range(2 * around + 1) if n != around):
        total = op.Add(total, op.Slice(padded, [shift], [x.shape[-1] + shift], [-1]))
    return total


def relu(op: Writer, features: Operand) -> Any:
    return op.Relu(features) if features.is_floating else op.Max(features, 0)


def relu6(op: Writer, features: Operand) -> Any:
    return op.Clip(features, 0, 6)


def selu(op: Writer, features: Operand) -> Any:
    return op.Selu(features, alpha=1.6732632423543772, gamma=1.0507009873554805)


def sigmoid_cross_entropy(op: Writer, labels: Operand, logits: Operand) -> Any:
    """max(logits, 0) - logits * labels + log(1 + exp(-|logits|))."""
    linear = op.Sub(op.Relu(logits), op.Mul(logits, labels))
    return op.Add(linear, op.Softplus(op.Neg(op.Abs(logits))))


def softmax(op: Writer, logits: Operand, *, axis: int) -> Any:
    return op.Softmax(logits, axis=axis)


def softmax_cross_entropy(op: Writer, labels: Operand, logits: Operand, *, axis: int) -> Any:
    """A label of 0 adds nothing, also where the logarithm is infinite."""
    terms = op.Mul(labels, op.LogSoftmax(logits, axis=axis))
    terms = op.Where(op.Equal(labels, 0.0), np.array(0, labels.dtype), terms)
    return op.Neg(op.ReduceSum(terms, [axis], keepdims=0))


def sparse_softmax_cross_entropy(op: Writer, labels: Operand, logits: Operand) -> Any:
    places = op.Unsqueeze(op.cast(labels, np.int64), [labels.rank])
    chosen = op.GatherElements(op.LogSoftmax(logits, axis=-1), places, axis=-1)
    return op.Neg(op.Squeeze(chosen, [labels.rank]))


def standardize(op: Writer, x: Operand, *, axes: Sequence[int], epsilon: float) -> list[Any]:
    mean = op.ReduceMean(x, list(axes), keepdims=1)
    centered = op.Sub(x, mean)
    variance = op.ReduceMean(op.Mul(centered, centered), list(axes), keepdims=1)
    return [op.Div(centered, op.Sqrt(op.Add(variance, epsilon))), mean, variance]


def standardize_affine(
    op: Writer, x: Operand, scale: Operand, offset: Operand, *, axes: Sequence[int], epsilon: float
) -> list[Any]:
    standardized, mean, variance = standardize(op, x, axes=axes, epsilon=epsilon)
    return [op.Add(op.Mul(standardized, scale), offset), mean, variance]


def swish(op: Writer, features: Operand) -> Any:
    return op.Mul(features, op.Sigmoid(features))
