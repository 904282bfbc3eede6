"""Imbalance: losses for rare classes or noisy labels."""

from __future__ import annotations

from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_core.calls.docstrings import documented_like
from agog_layers.layer.function_layer import take_symbols
from agog_layers.losses.arguments import flat_classes, floats, of_floats
from agog_layers.losses.formulas import EPSILON, binary_entropy, smoothed

__all__ = [
    "binary_focal_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_generalized_cross_entropy",
    "dice",
    "tversky",
]


@of_floats
def binary_focal_crossentropy(
    y_true: ag.TensorLike,
    y_pred: ag.TensorLike,
    apply_class_balancing: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """The mean binary cross entropy, with less weight on good predictions.

    T.-Y. Lin et al., "Focal loss for dense object detection", ICCV 2017.

    Args:
        y_true: probabilities, of the predictions' shape.
        y_pred: of shape ``(..., d)``: probabilities, or logits.
        apply_class_balancing: whether yes counts ``alpha`` and no ``1 - alpha``.
        alpha: how much yes counts.
        gamma: the power of how wrong a prediction is, which it counts; 0 for `binary_crossentropy`.
        from_logits: whether the predictions are logits.
        label_smoothing: how far labels are moved towards 1/2, from 0 to 1.
        axis: the axis of the mean.

    Returns:
        A tensor of shape ``(...)`` and of the predictions' dtype.

    >>> print(binary_focal_crossentropy([[0.0, 1.0]], [[0.5, 0.5]]))
    tf.Tensor([0.1732868], shape=(1,), dtype=float32)
    """
    if label_smoothing:
        y_true = smoothed(y_true, label_smoothing, 2)
    p = ag.sigmoid(y_pred) if from_logits else ag.convert_to_tensor(y_pred)
    no = ag.subtract(1.0, y_true)
    right = y_true * p + no * (1.0 - p)
    losses = (1.0 - right) ** gamma * binary_entropy(y_true, p)
    if apply_class_balancing:
        losses = losses * (ag.multiply(y_true, alpha) + no * (1.0 - alpha))
    return ag.reduce_mean(losses, axis)


@documented_like(binary_focal_crossentropy)
@of_floats
def categorical_focal_crossentropy(
    y_true: ag.TensorLike,
    y_pred: ag.TensorLike,
    alpha: Any = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """Cross entropy between distributions over classes, with less weight on good predictions.

    T.-Y. Lin et al., "Focal loss for dense object detection", ICCV 2017.

    Args:
        y_pred: of shape ``(..., classes)``: numbers in proportion to probabilities, or logits.
        alpha: how much classes count: a number, or one for each.
        gamma: the power of how wrong a prediction is, which it counts; 0 for `categorical_crossentropy`.
        label_smoothing: the share of each label that is spread evenly over the classes.
        axis: the axis of the classes.

    >>> print(categorical_focal_crossentropy([[0.0, 1.0]], [[0.5, 0.5]]))
    tf.Tensor([0.0433217], shape=(1,), dtype=float32)
    """
    x = ag.convert_to_tensor(y_pred)
    if label_smoothing:
        y_true = smoothed(y_true, label_smoothing, x._shape[-1] or 1)
    scores = ag.nn.softmax(x, axis) if from_logits else x
    p = ag.clip_by_value(scores / ag.reduce_sum(scores, axis, True), EPSILON, 1.0 - EPSILON)
    factors = (1.0 - p) ** gamma * ag.cast(alpha, p.dtype)
    return -ag.reduce_sum(factors * (y_true * ag.log(p)), axis)


def categorical_generalized_cross_entropy(y_true: ag.TensorLike, y_pred: ag.TensorLike, q: float = 0.5) -> Tensor:
    """``(1 - p ** q) / q`` of the right class's probability, for labels of which some are wrong.

    Z. Zhang and M. Sabuncu, "Generalized cross entropy loss for training deep neural networks with noisy labels",
    NeurIPS 2018.

    Args:
        y_true: class numbers, of shape ``(...)`` or ``(..., 1)``.
        y_pred: probabilities, of shape ``(..., classes)``.
        q: between 0, the cross entropy, and 1, the mean absolute error.

    Returns:
        A tensor of shape ``(...)`` and of the predictions' dtype.

    Raises:
        ValueError: ``q`` is not between 0 and 1.

    >>> print(categorical_generalized_cross_entropy([1], [[0.75, 0.25]]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """
    if not 0 < q < 1:
        raise ValueError(f"categorical_generalized_cross_entropy: q must be between 0 and 1; got {q}.")
    p = floats(y_pred)
    classes = ag.cast(flat_classes(ag.convert_to_tensor(y_true), p), "int64")
    right = ag.reduce_sum(ag.one_hot(classes, p._shape[-1], dtype=p.dtype) * p, -1)
    return (1.0 - right**q) / q


@of_floats
def dice(y_true: ag.TensorLike, y_pred: ag.TensorLike, axis: Any = None) -> Tensor:
    """1 less the share of labels and predictions that both have.

    F. Milletari et al., "V-Net", 3DV 2016.

    Args:
        y_true: labels from 0 to 1, of the predictions' shape.
        y_pred: predictions from 0 to 1.
        axis: the axes that are added up; None for all.

    Returns:
        A tensor of the other axes, and of the predictions' dtype.

    >>> print(dice([[1.0, 0.0]], [[0.5, 0.5]]))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """
    common = ag.reduce_sum(ag.multiply(y_true, y_pred), axis) * 2.0
    total = ag.reduce_sum(y_true, axis) + ag.reduce_sum(y_pred, axis)
    return 1.0 - common / (total + EPSILON)


@of_floats
def tversky(
    y_true: ag.TensorLike, y_pred: ag.TensorLike, alpha: float = 0.5, beta: float = 0.5, axis: Any = None
) -> Tensor:
    """1 less the overlap of labels and predictions, with weights for false positives and false negatives.

    S. Salehi et al., "Tversky loss function for image segmentation using 3D fully convolutional deep networks", 2017.

    Args:
        y_true: labels from 0 to 1, of the predictions' shape.
        y_pred: predictions from 0 to 1.
        alpha: how much counts what labels alone have, as Keras computes it.
        beta: how much counts what predictions alone have.
        axis: the axes that are added up; None for all.

    Returns:
        A tensor of the other axes, and of the predictions' dtype.

    >>> print(tversky([[1.0, 0.0]], [[0.5, 0.5]]))
    tf.Tensor(0.50000006, shape=(), dtype=float32)
    """
    common = ag.reduce_sum(ag.multiply(y_true, y_pred), axis)
    wrong = ag.reduce_sum(ag.subtract(1.0, y_true) * y_pred, axis)
    missed = ag.reduce_sum(y_true * ag.subtract(1.0, y_pred), axis)
    total = common + missed * alpha + wrong * beta
    return 1.0 - common / (total + EPSILON)


take_symbols(globals(), room="losses")
