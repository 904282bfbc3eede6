"""Losses from logits, and their gradients."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.nn.softmax import log_softmax, softmax
from agog_kernels_xp.parts.deferral import check, deferring
from agog_kernels_xp.parts.rows import (
    exponentials,
    identity,
    is_tame,
    is_very_short,
    maximum,
    repeated,
    repeated_total,
    row_totals,
    total,
    wide,
)


def softmax_cross_entropy(xp: Any, labels: Array, logits: Array, *, axis: int) -> Array:
    """Cross entropy with label distributions. A class of probability 0 adds nothing, whatever its logarithm."""
    y = wide(labels)
    products = xp.where(y == 0, y.dtype.type(0), y * log_softmax(xp, wide(logits), axis=axis))
    return -xp.squeeze(total(xp, products, axis), axis).astype(logits.dtype, copy=False)


def softmax_cross_entropy_grad(xp: Any, gradients: Array, labels: Array, logits: Array, *, axis: int) -> Array:
    """Its gradient."""
    y = wide(labels)
    values = softmax(xp, wide(logits), axis=axis)
    values *= repeated_total(xp, y, axis)
    values -= y
    values *= xp.expand_dims(wide(gradients), axis)
    return values.astype(logits.dtype, copy=False)


def sparse_softmax_cross_entropy(xp: Any, labels: Array, logits: Array) -> Array:
    """Cross entropy with class numbers."""
    classes = logits.shape[-1]
    flat = labels.reshape(-1)  # measured: its argmax has far less around it than a reduction
    if labels.size and (xp in deferring or flat[flat.argmax()] >= classes or flat[flat.argmin()] < 0):
        check(xp, partial(_look_at_labels, labels, classes), flat.min(), flat.max())
    x = logits if logits.ndim == 2 and logits.dtype.itemsize > 2 else _matrix(logits)
    places = _places(xp, flat, classes)
    if is_tame(xp, x):
        values = xp.exp(x)
        losses = xp.log(row_totals(xp, values) / values.reshape(-1).take(places))
    else:
        values = x - maximum(xp, x, 1)
        losses = xp.log(row_totals(xp, xp.exp(values))) - values.reshape(-1).take(places)
    return losses if x is logits else losses.reshape(labels.shape).astype(logits.dtype, copy=False)


def _look_at_labels(labels: Array, classes: int, lowest: Any, highest: Any) -> None:
    if highest >= classes or lowest < 0:
        wrong = int(labels[(labels < 0) | (labels >= classes)].reshape(-1)[0])
        raise InvalidArgumentError(
            f"sparse_softmax_cross_entropy: Received a label value of {wrong} which is outside the valid range of [0, "
            f"{classes})."
        )


def sparse_softmax_cross_entropy_grad(xp: Any, gradients: Array, labels: Array, logits: Array) -> Array:
    """Its gradient."""
    x = logits if logits.ndim == 2 and logits.dtype.itemsize > 2 else _matrix(logits)
    g = gradients if x is logits else wide(gradients).reshape(-1)
    flat, classes = labels.reshape(-1), x.shape[1]
    if is_very_short(xp, x):
        values = softmax(xp, x, axis=1)
        values -= identity(xp, x, classes).take(flat if flat.dtype.kind == "i" else flat.astype("int64"), axis=0)
        values *= repeated(xp, g, classes)
    else:
        values = exponentials(xp, x, 1)
        values *= (g / row_totals(xp, values))[:, None]
        elements = values.reshape(-1)
        elements[_places(xp, flat, classes)] -= g
        values = elements.reshape(x.shape)
    return values if x is logits else values.reshape(logits.shape).astype(logits.dtype, copy=False)


def _matrix(logits: Array) -> Array:
    """Logits of shape (examples, classes), half precision as float32."""
    x = wide(logits)
    return x if x.ndim == 2 else x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def _places(xp: Any, labels: Array, classes: int) -> Array:
    """Where the labels' classes lie among all elements of such a matrix, which is read row by row."""
    places = xp.arange(0, labels.size * classes, classes)
    places += labels if labels.dtype is places.dtype else labels.astype(places.dtype)
    return places


def sigmoid_cross_entropy(xp: Any, labels: Array, logits: Array) -> Array:
    """Cross entropy with the sigmoid of logits; the exponential's argument is never positive, so it cannot overflow."""
    y, x = wide(labels), wide(logits)
    losses = xp.log1p(xp.exp(-xp.absolute(x))) + (xp.maximum(x, x.dtype.type(0)) - x * y)
    return losses.astype(logits.dtype, copy=False)


def l2_loss(xp: Any, t: Array) -> Array:
    """Half the sum of squares."""
    x = wide(t)
    return xp.asarray(xp.vdot(x, x) / 2).astype(t.dtype)
