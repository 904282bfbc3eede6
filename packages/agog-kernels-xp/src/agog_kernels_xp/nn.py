"""Activations, softmax and its losses."""

from __future__ import annotations

from typing import Any

from agog_core.plugin import InvalidArgumentError

Array = Any


def relu(xp: Any, features: Array) -> Array:
    """Rectified linear unit."""
    return xp.maximum(features, features.dtype.type(0))  # a Python 0 would widen bfloat16 before NumPy 2.2


def relu_grad(xp: Any, gradients: Array, features: Array) -> Array:
    """Its gradient."""
    return xp.multiply(gradients, features > 0)


def softmax(xp: Any, logits: Array, *, axis: int) -> Array:
    """Exponentials divided by their sum; the maximum is taken off first, so nothing overflows."""
    values = xp.exp(logits - _maximum(xp, logits, axis))
    values /= xp.add.reduce(values, axis=axis, keepdims=True, dtype=values.dtype)
    return values


def log_softmax(xp: Any, logits: Array, *, axis: int) -> Array:
    """Logarithm of softmax."""
    shifted = logits - _maximum(xp, logits, axis)
    shifted -= xp.log(xp.add.reduce(xp.exp(shifted), axis=axis, keepdims=True, dtype=shifted.dtype))
    return shifted


def softmax_cross_entropy(xp: Any, labels: Array, logits: Array, *, axis: int) -> Array:
    """Cross entropy with label distributions. A class of probability 0 adds nothing, whatever its logarithm."""
    zero = labels.dtype.type(0)  # of one dtype: NumPy 2.0 crashes where it has to promote bfloat16
    products = xp.where(labels == zero, zero, labels * log_softmax(xp, logits, axis=axis))
    return -xp.add.reduce(products, axis=axis, dtype=logits.dtype)


def sparse_softmax_cross_entropy(xp: Any, labels: Array, logits: Array) -> Array:
    """Cross entropy with class numbers."""
    classes = logits.shape[-1]
    if labels.size and not (int(labels.min()) >= 0 and int(labels.max()) < classes):
        wrong = int(labels[(labels < 0) | (labels >= classes)].reshape(-1)[0])
        raise InvalidArgumentError(
            f"sparse_softmax_cross_entropy: Received a label value of {wrong} which is outside the valid range of [0, "
            f"{classes})."
        )
    chosen = xp.take_along_axis(log_softmax(xp, logits, axis=-1), xp.expand_dims(labels, -1).astype("int64"), -1)
    return -chosen.reshape(labels.shape)


def _maximum(xp: Any, logits: Array, axis: int) -> Array:
    if logits.shape[axis] == 0:
        return logits.dtype.type(0)
    highest = xp.maximum.reduce(logits, axis=axis, keepdims=True)
    return xp.where(xp.isfinite(highest), highest, xp.zeros_like(highest))
