"""Classification: losses of predicted classes, one for each example."""

from __future__ import annotations

import agog_core as ag
from agog_core import Tensor
from agog_core.calls.docstrings import documented_like
from agog_layers.layer.function_layer import take_symbols
from agog_layers.losses.arguments import flat_classes, floats, of_floats
from agog_layers.losses.formulas import EPSILON, binary_entropy, categorical_entropy, margin, smoothed

__all__ = [
    "binary_crossentropy",
    "categorical_crossentropy",
    "categorical_hinge",
    "hinge",
    "sparse_categorical_crossentropy",
    "squared_hinge",
]


@of_floats
def hinge(y_true: ag.TensorLike, y_pred: ag.TensorLike) -> Tensor:
    """The mean of ``max(0, 1 - y_true * y_pred)``.

    Args:
        y_true: labels, each -1 or 1, of the predictions' shape.
        y_pred: predictions, of shape ``(..., d)``.

    Returns:
        A tensor of shape ``(...)`` and of the predictions' dtype.

    >>> print(hinge([[-1.0, 1.0]], [[0.5, 0.5]]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """
    return ag.reduce_mean(ag.maximum(margin(y_true, y_pred), 0.0), -1)


@documented_like(hinge)
@of_floats
def squared_hinge(y_true: ag.TensorLike, y_pred: ag.TensorLike) -> Tensor:
    """The mean of ``max(0, 1 - y_true * y_pred) ** 2``.

    >>> print(squared_hinge([[-1.0, 1.0]], [[0.5, 0.5]]))
    tf.Tensor([1.25], shape=(1,), dtype=float32)
    """
    return ag.reduce_mean(ag.square(ag.maximum(margin(y_true, y_pred), 0.0)), -1)


@of_floats
def categorical_hinge(y_true: ag.TensorLike, y_pred: ag.TensorLike) -> Tensor:
    """How far the right class's score is from being 1 above that of all others, and 0 if it is.

    Args:
        y_true: a 1 for the right class and 0 for others, of the predictions' shape.
        y_pred: scores, of shape ``(..., classes)``.

    Returns:
        A tensor of shape ``(...)`` and of the predictions' dtype.

    >>> print(categorical_hinge([[0.0, 1.0, 0.0]], [[3.0, 2.5, 1.0]]))
    tf.Tensor([1.5], shape=(1,), dtype=float32)
    """
    right = ag.reduce_sum(ag.multiply(y_true, y_pred), -1)
    wrong = ag.reduce_max(ag.subtract(1.0, y_true) * y_pred, -1)
    return ag.maximum(wrong - right + 1.0, 0.0)


@of_floats
def categorical_crossentropy(
    y_true: ag.TensorLike, y_pred: ag.TensorLike, from_logits: bool = False, label_smoothing: float = 0
) -> Tensor:
    """Cross entropy between distributions over classes.

    Args:
        y_true: probabilities, of the predictions' shape.
        y_pred: of shape ``(..., classes)``: numbers in proportion to probabilities, which count as at least 1e-7 and
            at most 1 - 1e-7; or logits.
        from_logits: whether the predictions are logits, which is more exact.
        label_smoothing: the share of each label that is spread evenly over the classes.

    Returns:
        A tensor of shape ``(...)`` and of the predictions' dtype.

    >>> print(categorical_crossentropy([[0.0, 1.0]], [[0.5, 0.5]]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    if label_smoothing:
        y_true = smoothed(y_true, label_smoothing, y_true.shape[-1] or 1)
    return categorical_entropy(y_true, y_pred, from_logits)


@documented_like(categorical_crossentropy)
def sparse_categorical_crossentropy(y_true: ag.TensorLike, y_pred: ag.TensorLike, from_logits: bool = False) -> Tensor:
    """Cross entropy between class numbers and distributions over classes.

    Args:
        y_true: class numbers, of shape ``(...)`` or ``(..., 1)``; floats are cut off.

    Raises:
        InvalidArgumentError: the shapes do not fit, or a class number is out of range.

    >>> print(sparse_categorical_crossentropy([1, 0], [[0.5, 0.5], [0.25, 0.75]]))
    tf.Tensor([0.6931472 1.3862944], shape=(2,), dtype=float32)
    """
    x = floats(y_pred)
    y = flat_classes(ag.convert_to_tensor(y_true), x)
    y = y if y.dtype.is_integer else ag.cast(y, "int64")
    if from_logits:
        return ag.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)
    wide = ag.cast(x, "float32") if x.dtype.size < 4 else x
    scores = ag.log(ag.clip_by_value(wide, EPSILON, 1.0 - EPSILON))
    return ag.cast(ag.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores), x.dtype)


@documented_like(categorical_crossentropy)
@of_floats
def binary_crossentropy(
    y_true: ag.TensorLike, y_pred: ag.TensorLike, from_logits: bool = False, label_smoothing: float = 0
) -> Tensor:
    """The mean of the cross entropies of yes and no, for classes that do not exclude each other.

    Args:
        y_pred: of shape ``(..., d)``: probabilities, which count as at least 1e-7 and at most 1 - 1e-7; or logits.
        label_smoothing: how far labels are moved towards 1/2, from 0 to 1.

    >>> print(binary_crossentropy([[0.0, 1.0]], [[0.5, 0.5]]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    if label_smoothing:
        y_true = smoothed(y_true, label_smoothing, 2)
    return ag.reduce_mean(binary_entropy(y_true, y_pred, from_logits), -1)


take_symbols(globals(), room="losses")
