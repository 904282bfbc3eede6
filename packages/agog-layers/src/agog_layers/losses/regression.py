"""Regression: losses of predicted numbers, one for each example: the mean along the last axis."""

from __future__ import annotations

import math

import agog_core as ag
from agog_core import Tensor
from agog_core.calls.docstrings import documented_like
from agog_layers.layer.function_layer import take_symbols
from agog_layers.losses.arguments import of_floats
from agog_layers.losses.formulas import EPSILON, absolute_error, huber_error, squared_error

__all__ = [
    "cosine_proximity",
    "huber",
    "kullback_leibler_divergence",
    "logcosh",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "poisson",
]


@of_floats
def mean_squared_error(y_true: ag.TensorLike, y_pred: ag.TensorLike) -> Tensor:
    """The mean of the squared differences.

    Args:
        y_true: labels, of the predictions' shape.
        y_pred: predictions, of shape ``(..., d)``.

    Returns:
        A tensor of shape ``(...)`` and of the predictions' dtype.

    >>> print(mean_squared_error([[0.0, 1.0]], [[2.0, 1.0]]))
    tf.Tensor([2.], shape=(1,), dtype=float32)
    """
    return ag.reduce_mean(squared_error(y_true, y_pred), -1)


@documented_like(mean_squared_error)
@of_floats
def mean_absolute_error(y_true: ag.TensorLike, y_pred: ag.TensorLike) -> Tensor:
    """The mean of the absolute differences.

    >>> print(mean_absolute_error([[0.0, 1.0]], [[2.0, 1.0]]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """
    return ag.reduce_mean(absolute_error(y_true, y_pred), -1)


@documented_like(mean_squared_error)
@of_floats
def mean_absolute_percentage_error(y_true: ag.TensorLike, y_pred: ag.TensorLike) -> Tensor:
    """The mean of the absolute differences, in percent of the labels; a label counts as at least 1e-7.

    >>> print(mean_absolute_percentage_error([[2.0, 1.0]], [[1.0, 1.0]]))
    tf.Tensor([25.], shape=(1,), dtype=float32)
    """
    ratios = ag.subtract(y_true, y_pred) / ag.maximum(ag.abs(y_true), EPSILON)
    return ag.reduce_mean(ag.abs(ratios), -1) * 100.0


@documented_like(mean_squared_error)
@of_floats
def mean_squared_logarithmic_error(y_true: ag.TensorLike, y_pred: ag.TensorLike) -> Tensor:
    """The mean of the squared differences of ``log(1 + x)``; numbers count as at least 1e-7.

    >>> print(mean_squared_logarithmic_error([[1.0]], [[3.0]]))
    tf.Tensor([0.480453], shape=(1,), dtype=float32)
    """
    return ag.reduce_mean(
        squared_error(ag.log1p(ag.maximum(y_true, EPSILON)), ag.log1p(ag.maximum(y_pred, EPSILON))), -1
    )


@documented_like(mean_squared_error)
@of_floats
def logcosh(y_true: ag.TensorLike, y_pred: ag.TensorLike) -> Tensor:
    """The mean of ``log(cosh(e))`` of the differences: about ``e ** 2 / 2`` near 0, and ``|e| - log(2)`` far away.

    Returns:
        A tensor of shape ``(...)`` and of the predictions' dtype; finite for all finite differences.

    >>> print(logcosh([[0.0]], [[1000.0]]))
    tf.Tensor([999.3068], shape=(1,), dtype=float32)
    """
    error = ag.subtract(y_pred, y_true)
    return ag.reduce_mean(error + ag.nn.softplus(error * -2.0) - math.log(2.0), -1)


@of_floats
def huber(y_true: ag.TensorLike, y_pred: ag.TensorLike, delta: float = 1.0) -> Tensor:
    """The mean of ``e ** 2 / 2`` of differences up to ``delta``, and of ``delta * (|e| - delta / 2)`` of larger ones.

    P. Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics 35, 1964.

    Args:
        y_true: labels, of the predictions' shape.
        y_pred: predictions, of shape ``(..., d)``.
        delta: where the loss changes from a parabola to a line.

    Returns:
        A tensor of shape ``(...)`` and of the predictions' dtype.

    >>> print(huber([[0.0, 0.0]], [[1.0, 3.0]]))
    tf.Tensor([1.5], shape=(1,), dtype=float32)
    """
    return ag.reduce_mean(huber_error(y_true, y_pred, delta), -1)


@documented_like(mean_squared_error)
@of_floats
def poisson(y_true: ag.TensorLike, y_pred: ag.TensorLike) -> Tensor:
    """The mean of ``y_pred - y_true * log(y_pred)``: how unlikely counts are when the predictions are expected.

    The logarithm is taken of ``y_pred + 1e-7``.

    Args:
        y_pred: predictions, not negative, of shape ``(..., d)``.

    >>> print(poisson([[1.0, 0.0]], [[1.0, 3.0]]))
    tf.Tensor([2.], shape=(1,), dtype=float32)
    """
    return ag.reduce_mean(y_pred - y_true * ag.log(ag.add(y_pred, EPSILON)), -1)


@of_floats
def kullback_leibler_divergence(y_true: ag.TensorLike, y_pred: ag.TensorLike) -> Tensor:
    """How much labels that are distributions differ from predicted ones: the sum of ``p * log(p / q)``.

    S. Kullback, R. Leibler, "On information and sufficiency", Annals of Mathematical Statistics 22, 1951.

    Args:
        y_true: probabilities, of the predictions' shape; they count as at least 1e-7, and at most 1.
        y_pred: probabilities of shape ``(..., d)``, which count in the same way.

    Returns:
        A tensor of shape ``(...)`` and of the predictions' dtype.

    >>> print(kullback_leibler_divergence([[1.0, 0.0]], [[0.5, 0.5]]))
    tf.Tensor([0.69314563], shape=(1,), dtype=float32)
    """
    p, q = ag.clip_by_value(y_true, EPSILON, 1.0), ag.clip_by_value(y_pred, EPSILON, 1.0)
    return ag.reduce_sum(p * ag.log(p / q), -1)


@documented_like(mean_squared_error)
@of_floats
def cosine_proximity(y_true: ag.TensorLike, y_pred: ag.TensorLike) -> Tensor:
    """The cosine of the angle between labels and predictions, with a minus: -1 where they point the same way.

    >>> print(cosine_proximity([[1.0, 0.0]], [[3.0, 0.0]]))
    tf.Tensor([-1.], shape=(1,), dtype=float32)
    """
    return -ag.reduce_sum(ag.nn.l2_normalize(y_true, -1) * ag.nn.l2_normalize(y_pred, -1), -1)


take_symbols(globals(), room="losses")
