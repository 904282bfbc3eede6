"""Formulas: elementwise formulas of losses and metrics with several names."""

from __future__ import annotations

from agog_core import Tensor, minimum, square, squared_difference
from agog_core import abs as absolute

__all__ = ["absolute_error", "huber_error", "margin", "smoothed", "squared_error"]


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
