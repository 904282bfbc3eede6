"""Weighted classification: losses of predicted classes, as in ``tf.losses``."""

from __future__ import annotations

from agog_core import Tensor, TensorLike, cast, log, nn, squeeze
from agog_layers.losses.arguments import flat_classes, floats, given, pair
from agog_layers.losses.formulas import margin, smoothed
from agog_layers.losses.reduction import COLLECTION, DEFAULT, reduce_losses

__all__ = ["hinge_loss", "log_loss", "sigmoid_cross_entropy", "softmax_cross_entropy", "sparse_softmax_cross_entropy"]


def softmax_cross_entropy(
    onehot_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = COLLECTION,
    reduction: str = DEFAULT,
) -> Tensor:
    """Cross entropy between label distributions and the softmax of logits; no gradient flows into the labels.

    Label smoothing: C. Szegedy et al., "Rethinking the Inception architecture for computer vision", CVPR 2016,
    section 7.

    Args:
        onehot_labels: probabilities of shape (batch, classes).
        logits: a tensor of floats of that shape.
        weights: a scalar, or a tensor of shape (batch,) or (1,).
        label_smoothing: the share of each label that is spread evenly over the classes.
        reduction: one of `Reduction`.

    Returns:
        A scalar, or for ``Reduction.NONE`` a tensor of shape (batch,).

    Raises:
        ValueError: shapes do not fit, or an argument is None.

    >>> print(softmax_cross_entropy([[1.0, 0.0]], [[0.0, 0.0]]))
    tf.Tensor(0.6931472, shape=(), dtype=float32)
    """
    y, z = pair("softmax_cross_entropy", onehot_labels, logits, ("onehot_labels", "logits"))
    if label_smoothing > 0:
        y = smoothed(y, label_smoothing, y.shape[-1] or 1)
    losses = nn.softmax_cross_entropy_with_logits(labels=y, logits=z)
    return reduce_losses("softmax_cross_entropy", losses, weights, reduction)


def sigmoid_cross_entropy(
    multi_class_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = COLLECTION,
    reduction: str = DEFAULT,
) -> Tensor:
    """Cross entropy between probabilities and the sigmoid of logits, for classes that do not exclude each other.

    Args:
        multi_class_labels: probabilities of shape (batch, classes).
        logits: a tensor of floats of that shape.
        label_smoothing: how far the labels are moved towards 1/2, from 0 to 1.
        Other arguments: see `compute_weighted_loss`.

    Returns:
        A scalar, or for ``Reduction.NONE`` a tensor of the logits' shape.

    Raises:
        ValueError: shapes do not fit, or an argument is None.

    >>> print(sigmoid_cross_entropy([[1.0, 0.0]], [[0.0, 0.0]]))
    tf.Tensor(0.6931472, shape=(), dtype=float32)
    """
    y, z = pair("sigmoid_cross_entropy", multi_class_labels, logits, ("multi_class_labels", "logits"))
    if label_smoothing > 0:
        y = smoothed(y, label_smoothing, 2)
    losses = nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z)
    return reduce_losses("sigmoid_cross_entropy", losses, weights, reduction)


def sparse_softmax_cross_entropy(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = COLLECTION,
    reduction: str = DEFAULT,
) -> Tensor:
    """Cross entropy between class numbers and the softmax of logits.

    Args:
        labels: integers in [0, classes), of shape (batch,) or (batch, 1).
        logits: a tensor of floats of shape (batch, classes).
        weights: a scalar, or a tensor of shape (batch,), (batch, 1) or (1,).
        reduction: one of `Reduction`.

    Returns:
        A scalar, or for ``Reduction.NONE`` a tensor of shape (batch,).

    Raises:
        ValueError: an argument is None, or the weights' shape does not fit.
        InvalidArgumentError: the labels' shape does not fit, or a label is out of range.

    >>> print(sparse_softmax_cross_entropy([1], [[0.0, 0.0]]))
    tf.Tensor(0.6931472, shape=(), dtype=float32)
    """
    what = "sparse_softmax_cross_entropy"
    y, z = given(what, "labels", labels), floats(given(what, "logits", logits))
    y = flat_classes(y, z)
    if type(weights) not in (int, float):
        weights = given(what, "weights", weights)
        if weights.ndim == y.ndim + 1 and weights.shape[-1] == 1:
            weights = squeeze(weights, -1)
    return reduce_losses(what, nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=z), weights, reduction)


def hinge_loss(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = COLLECTION,
    reduction: str = DEFAULT,
) -> Tensor:
    """``max(0, 1 - z)`` where the label is 1, and ``max(0, 1 + z)`` where it is 0.

    Args:
        labels: zeros and ones, a tensor of the logits' shape.
        logits: a tensor; the loss has its dtype, or float32 for integers.
        Other arguments: see `compute_weighted_loss`.

    Returns:
        A scalar, or for ``Reduction.NONE`` a tensor of the logits' shape.

    Raises:
        ValueError: shapes do not fit, or an argument is None.

    >>> print(hinge_loss([1.0, 0.0], [0.5, 0.5], reduction="none"))
    tf.Tensor([0.5 1.5], shape=(2,), dtype=float32)
    """
    y, z = pair("hinge_loss", labels, logits, ("labels", "logits"))
    signs = y * 2.0 - 1.0
    return reduce_losses("hinge_loss", nn.relu(margin(signs, z)), weights, reduction)


def log_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = COLLECTION,
    reduction: str = DEFAULT,
) -> Tensor:
    """Cross entropy between labels and predicted probabilities of yes and no.

    Args:
        labels: probabilities, a tensor of the predictions' shape.
        predictions: probabilities; the loss has their dtype, or float32 for integers.
        epsilon: what is added to probabilities before their logarithm is taken.
        Other arguments: see `compute_weighted_loss`.

    Returns:
        A scalar, or for ``Reduction.NONE`` a tensor of the predictions' shape.

    Raises:
        ValueError: shapes do not fit, or an argument is None.

    >>> print(log_loss([1.0, 0.0], [0.5, 0.25], reduction="none"))
    tf.Tensor([0.69314694 0.28768194], shape=(2,), dtype=float32)
    """
    y, p = pair("log_loss", labels, predictions, ("labels", "predictions"))
    # Half precision does not hold 1 + epsilon.
    y, q = (cast(x, "float32") if x.dtype.size < 4 else x for x in (y, p))
    yes = y * log(q + epsilon)
    no = (1.0 - y) * log(1.0 - q + epsilon)
    return reduce_losses("log_loss", cast(-(yes + no), p.dtype), weights, reduction)
