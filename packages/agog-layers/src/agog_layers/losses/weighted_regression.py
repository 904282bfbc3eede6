"""Weighted regression: losses of predicted numbers, as in ``tf.losses``."""

from __future__ import annotations

import agog_core as ag
from agog_core import Tensor
from agog_core.calls.docstrings import documented_like
from agog_layers.losses.arguments import given, pair
from agog_layers.losses.formulas import absolute_error, huber_error, squared_error
from agog_layers.losses.reduction import COLLECTION, DEFAULT, reduce_losses
from agog_layers.losses.sample_weights import repeats

__all__ = ["absolute_difference", "cosine_distance", "huber_loss", "mean_pairwise_squared_error", "mean_squared_error"]


def absolute_difference(
    labels: ag.TensorLike,
    predictions: ag.TensorLike,
    weights: ag.TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = COLLECTION,
    reduction: str = DEFAULT,
) -> Tensor:
    """The absolute difference of labels and predictions.

    Args:
        labels: a tensor of the predictions' shape.
        predictions: a tensor; the loss has its dtype, or float32 for integers.
        Other arguments: see `compute_weighted_loss`.

    Returns:
        A scalar, or for ``Reduction.NONE`` a tensor of the predictions' shape.

    Raises:
        ValueError: shapes do not fit, or an argument is None.

    >>> print(absolute_difference([1.0, 2.0], [1.0, 5.0]))
    tf.Tensor(1.5, shape=(), dtype=float32)
    """
    y, x = pair("absolute_difference", labels, predictions, ("labels", "predictions"))
    return reduce_losses("absolute_difference", absolute_error(y, x), weights, reduction)


@documented_like(absolute_difference)
def mean_squared_error(
    labels: ag.TensorLike,
    predictions: ag.TensorLike,
    weights: ag.TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = COLLECTION,
    reduction: str = DEFAULT,
) -> Tensor:
    """The square of the difference of labels and predictions.

    Args:
        Other arguments: see `compute_weighted_loss`.

    >>> print(mean_squared_error([1.0, 2.0], [1.0, 5.0]))
    tf.Tensor(4.5, shape=(), dtype=float32)
    """
    y, x = pair("mean_squared_error", labels, predictions, ("labels", "predictions"))
    return reduce_losses("mean_squared_error", squared_error(y, x), weights, reduction)


def huber_loss(
    labels: ag.TensorLike,
    predictions: ag.TensorLike,
    weights: ag.TensorLike = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str | None = COLLECTION,
    reduction: str = DEFAULT,
) -> Tensor:
    """Half the squared error up to ``delta``, and linear beyond.

    ``0.5 * e ** 2`` where ``|e| <= delta``, else ``delta * (|e| - 0.5 * delta)``. P. Huber, "Robust estimation of a
    location parameter", Annals of Mathematical Statistics 35, 1964.

    Args:
        labels: a tensor of the predictions' shape.
        predictions: a tensor; the loss has its dtype, or float32 for integers.
        delta: where the loss changes from a parabola to a line.
        Other arguments: see `compute_weighted_loss`.

    Returns:
        A scalar, or for ``Reduction.NONE`` a tensor of the predictions' shape.

    Raises:
        ValueError: shapes do not fit, or an argument is None.

    >>> print(huber_loss([0.0, 0.0], [0.5, 3.0], reduction="none"))
    tf.Tensor([0.125 2.5  ], shape=(2,), dtype=float32)
    """
    y, x = pair("huber_loss", labels, predictions, ("labels", "predictions"))
    return reduce_losses("huber_loss", huber_error(y, x, delta), weights, reduction)


def cosine_distance(
    labels: ag.TensorLike,
    predictions: ag.TensorLike,
    axis: int | None = None,
    weights: ag.TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = COLLECTION,
    reduction: str = DEFAULT,
    dim: int | None = None,
) -> Tensor:
    """1 less the product of labels and predictions, for vectors of length 1: 1 less the cosine of their angle.

    Args:
        labels: a tensor of the predictions' shape.
        predictions: a tensor; the loss has its dtype, or float32 for integers.
        axis: the axis along which the vectors lie.
        weights: a scalar, or a tensor of the labels' rank, of size 1 along the axis and of their sizes or 1 elsewhere.
        reduction: one of `Reduction`.
        dim: the older name of ``axis``.

    Returns:
        A scalar, or for ``Reduction.NONE`` a tensor of the predictions' shape with size 1 along the axis.

    Raises:
        ValueError: shapes do not fit, an argument is None, or not one of ``axis`` and ``dim`` is given.

    >>> print(cosine_distance([[1.0, 0.0]], [[0.6, 0.8]], axis=1))
    tf.Tensor(0.39999998, shape=(), dtype=float32)
    """
    if (axis is None) == (dim is None):
        raise ValueError(
            f"cosine_distance: takes one of axis and its older name dim; got axis={axis!r} and dim={dim!r}."
        )
    y, x = pair("cosine_distance", labels, predictions, ("labels", "predictions"))
    losses = 1.0 - ag.reduce_sum(x * y, dim if axis is None else axis, True)
    return reduce_losses("cosine_distance", losses, weights, reduction)


@documented_like(mean_squared_error)
def mean_pairwise_squared_error(
    labels: ag.TensorLike,
    predictions: ag.TensorLike,
    weights: ag.TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = COLLECTION,
) -> Tensor:
    """Squared differences between the errors of two elements of an example, over its pairs, summed over the examples.

    For ``n`` elements with errors ``e = predictions - labels``: ``2 * (sum(e ** 2) / (n - 1) - sum(e) ** 2 / (n * (n -
    1)))``, the mean over pairs. As in TensorFlow 1.12's eager mode, ``n`` counts the elements of an example whose
    weights are not 0, but for a scalar weight those of the whole batch; weights of shape (batch, 1) give the mean. D.
    Eigen et al., "Depth map prediction from a single image using a multi-scale deep network", NIPS 2014.

    Args:
        predictions: a tensor of shape (batch, ...); the loss has its dtype, or float32 for integers.
        weights: a scalar, or a tensor of the labels' rank whose sizes are theirs or 1.

    Returns:
        A scalar.

    >>> labels, predictions = [[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]], [[0.0, 2.0, 4.0], [0.0, 0.0, 0.0]]
    >>> print(mean_pairwise_squared_error(labels, predictions, weights=[[1.0], [1.0]]))
    tf.Tensor(2.0, shape=(), dtype=float32)
    >>> print(mean_pairwise_squared_error(labels, predictions))
    tf.Tensor(1.4, shape=(), dtype=float32)
    """
    what = "mean_pairwise_squared_error"
    y, x = pair(what, labels, predictions, ("labels", "predictions"))
    if not x.ndim:
        raise ValueError(f"{what}: labels and predictions must have a batch axis; got scalars.")
    rest, error = list(range(1, x.ndim)), x - y
    factors = ag.cast(given(what, "weights", weights), error.dtype)
    repeats(what, factors, error)
    if factors.ndim:
        present = ag.broadcast_to(ag.cast(ag.not_equal(factors, 0.0), error.dtype), error.shape)
        count = ag.reduce_sum(present, rest, True)
    else:
        count = ag.cast(error.shape.num_elements() or 0, error.dtype)
    others = ag.maximum(count - 1.0, 0.0)
    squares = ag.div_no_nan(ag.reduce_sum(ag.square(error), rest, True), others)
    sums = ag.div_no_nan(ag.square(ag.reduce_sum(error, rest, True)), count * others)
    return ag.reduce_sum((squares - sums) * 2.0 * factors)
