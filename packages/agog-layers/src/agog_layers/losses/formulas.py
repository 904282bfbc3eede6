"""Formulas: elementwise formulas of losses and metrics with several names."""

from __future__ import annotations

import agog_core as ag
from agog_core import Tensor, minimum, square, squared_difference
from agog_core import abs as absolute
from agog_core.ops import nn

__all__ = [
    "EPSILON",
    "absolute_error",
    "binary_entropy",
    "categorical_entropy",
    "huber_error",
    "margin",
    "smoothed",
    "squared_error",
]

# The least that a probability counts as, where its logarithm is taken.
EPSILON = 1e-7


def binary_entropy(labels: Tensor, outputs: Tensor, from_logits: bool = False, least: float = EPSILON) -> Tensor:
    """The cross entropy of yes and no: ``-labels * log(p) - (1 - labels) * log(1 - p)``."""
    if from_logits:
        return nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=outputs)
    p = ag.clip_by_value(outputs, least, 1.0 - least)
    likelihood: Tensor = labels * ag.log(p) + (1.0 - labels) * ag.log1p(-p)
    return -likelihood


def categorical_entropy(labels: Tensor, outputs: Tensor, from_logits: bool = False, axis: int = -1) -> Tensor:
    """The cross entropy of distributions: ``-sum(labels * log(p))`` along an axis, of outputs in proportion to p."""
    if from_logits:
        return nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=outputs, axis=axis)
    p = ag.clip_by_value(outputs / ag.reduce_sum(outputs, axis, True), EPSILON, 1.0 - EPSILON)
    return -ag.reduce_sum(labels * ag.log(p), axis)


def squared_error(labels: Tensor, predictions: Tensor) -> Tensor:
    """The squares of the differences."""
    return squared_difference(predictions, labels)


def absolute_error(labels: Tensor, predictions: Tensor) -> Tensor:
    """The absolute differences."""
    return absolute(predictions - labels)


def huber_error(labels: Tensor, predictions: Tensor, delta: float) -> Tensor:
    """``e ** 2 / 2`` of differences up to ``delta``, and ``delta * (|e| - delta / 2)`` of larger ones.

    P. Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics 35, 1964.
    """
    error = absolute_error(labels, predictions)
    quadratic = minimum(error, delta)
    return square(quadratic) * 0.5 + (error - quadratic) * delta


def margin(signs: Tensor, scores: Tensor) -> Tensor:
    """How far scores are from being 1 on the side of their sign, -1 or 1; below 0 where they are farther."""
    return 1.0 - signs * scores


def smoothed(labels: Tensor, share: float, classes: int) -> Tensor:
    """Spread a share of each label, a probability, evenly over the classes.

    C. Szegedy et al., "Rethinking the Inception architecture for computer vision", CVPR 2016, section 7.
    """
    return labels * (1.0 - share) + share / classes
