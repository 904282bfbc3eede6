"""Correctness: the predictions that are right, as ones and zeros."""

from __future__ import annotations

from agog_core import Tensor, TensorLike, argmax, cast, convert_to_tensor, equal, reduce_mean
from agog_core.calls.docstrings import documented_like
from agog_core.ops.sorting.sorting import in_top_k
from agog_layers.losses.arguments import flat_classes, floats, of_one_rank

__all__ = [
    "accuracy",
    "binary_accuracy",
    "categorical_accuracy",
    "sparse_categorical_accuracy",
    "sparse_top_k_categorical_accuracy",
    "top_k_categorical_accuracy",
]


def same(y: Tensor, x: Tensor) -> Tensor:
    """Where tensors of one shape are equal by value, regardless of dtypes.

    >>> print(same(convert_to_tensor([1, 2]), convert_to_tensor([1.0, 2.5])))
    tf.Tensor([ True False], shape=(2,), dtype=bool)
    """
    if y.dtype != x.dtype:
        common = "int64" if y.dtype.is_integer and x.dtype.is_integer else "float64"
        y, x = cast(y, common), cast(x, common)
    return equal(y, x)


def above(x: Tensor, threshold: float) -> Tensor:
    """Where numbers or bools are greater than a threshold.

    >>> print(above(convert_to_tensor([True, False]), 0.5))
    tf.Tensor([ True False], shape=(2,), dtype=bool)
    """
    return (x if x.dtype.is_floating else cast(x, "float64")) > threshold


def on_right_side(y: Tensor, x: Tensor, threshold: float) -> Tensor:
    """Where predictions are above a threshold for labels of 1, and not above it for labels of 0."""
    return same(y, cast(above(x, threshold), "int32"))


def likeliest(y: TensorLike, x: TensorLike) -> Tensor:
    """Where labels and predictions, of shape ``(..., classes)``, have the same likeliest class."""
    return equal(argmax(y, -1), argmax(x, -1))


def in_top(classes: TensorLike, scores: TensorLike, k: int) -> Tensor:
    """Where class numbers of shape ``(batch,)`` are among the k likeliest by scores of shape ``(batch, classes)``.

    >>> print(in_top([2], [[0.1, 0.9, 0.8]], 2))
    tf.Tensor([ True], shape=(1,), dtype=bool)
    """
    return in_top_k(cast(scores, "float32"), classes, k)


def class_numbers(y_true: TensorLike, y_pred: Tensor) -> Tensor:
    """Make labels, of shape ``(...)`` or ``(..., 1)``, the numbers of classes: integers in int64, of shape ``(...)``.

    >>> print(class_numbers([[2.0]], convert_to_tensor([[0.1, 0.9, 0.8]])))
    tf.Tensor([2], shape=(1,), dtype=int64)
    """
    return cast(flat_classes(convert_to_tensor(y_true), y_pred), "int64")


def binary_accuracy(y_true: TensorLike, y_pred: TensorLike, threshold: float = 0.5) -> Tensor:
    """The share of labels, 0 or 1, that predictions are on the right side of a threshold for.

    Args:
        y_true: zeros and ones, of the predictions' shape.
        y_pred: probabilities, of shape ``(..., d)``.
        threshold: what predictions of 1 are greater than.

    Returns:
        A tensor of shape ``(...)``, in float32.

    Raises:
        ValueError: the shapes differ, and not by a last axis of size 1 alone.

    >>> print(binary_accuracy([[1, 0, 1]], [[0.9, 0.2, 0.4]]))
    tf.Tensor([0.6666667], shape=(1,), dtype=float32)
    """
    y, x = of_one_rank(y_true, floats(y_pred))
    if not x.shape.is_compatible_with(y.shape):
        raise ValueError(
            f"binary_accuracy: Shapes {x.shape} and {y.shape} are incompatible: predictions have the first, labels the "
            "second."
        )
    return reduce_mean(cast(on_right_side(y, x, threshold), "float32"), -1)


def categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """Whether the likeliest class is the right one.

    Args:
        y_true: the labels' distributions over classes, such as one-hot rows; of the predictions' shape.
        y_pred: scores, of shape ``(..., classes)``.

    Returns:
        Zeros and ones of shape ``(...)``, in float32.

    >>> print(categorical_accuracy([[0, 1], [0, 1]], [[0.2, 0.8], [0.7, 0.3]]))
    tf.Tensor([1. 0.], shape=(2,), dtype=float32)
    """
    return cast(likeliest(y_true, y_pred), "float32")


@documented_like(categorical_accuracy)
def sparse_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """Whether the likeliest class is the right one.

    Args:
        y_true: class numbers, of shape ``(...)`` or ``(..., 1)``; integers or floats.

    >>> print(sparse_categorical_accuracy([1, 1], [[0.2, 0.8], [0.7, 0.3]]))
    tf.Tensor([1. 0.], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(y_pred)
    return cast(equal(class_numbers(y_true, x), argmax(x, -1)), "float32")


def categorical_in_top(y_true: TensorLike, y_pred: TensorLike, k: int) -> Tensor:
    """For each example 1 where the right class, of a distribution, is among the k likeliest; else 0."""
    return cast(in_top(argmax(y_true, -1), y_pred, k), "float32")


def sparse_in_top(y_true: TensorLike, y_pred: TensorLike, k: int) -> Tensor:
    """For each example 1 where the right class, a number, is among the k likeliest; else 0."""
    x = convert_to_tensor(y_pred)
    return cast(in_top(class_numbers(y_true, x), x, k), "float32")


def top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> Tensor:
    """The share of examples whose right class is among the likeliest ones.

    Args:
        y_true: the labels' distributions over classes, such as one-hot rows; of the predictions' shape.
        y_pred: scores, of shape ``(batch, classes)``.
        k: how many classes count as likeliest.

    Returns:
        A scalar in float32.

    >>> print(top_k_categorical_accuracy([[0, 0, 1], [0, 1, 0]], [[0.1, 0.9, 0.8], [0.9, 0.0, 0.1]], k=2))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """
    return reduce_mean(categorical_in_top(y_true, y_pred, k))


@documented_like(top_k_categorical_accuracy)
def sparse_top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> Tensor:
    """The share of examples whose right class is among the likeliest ones.

    Args:
        y_true: class numbers, of shape ``(batch,)`` or ``(batch, 1)``; integers or floats.

    >>> print(sparse_top_k_categorical_accuracy([2, 1], [[0.1, 0.9, 0.8], [0.9, 0.0, 0.1]], k=2))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """
    return reduce_mean(sparse_in_top(y_true, y_pred, k))


def accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """Whether predictions are right; the shapes say what they are.

    One number for each example, from 0 to 1, makes a `binary_accuracy`; several against one label are a
    `sparse_categorical_accuracy`, and against several labels a `categorical_accuracy`. The result is of shape ``()`` or
    ``(...)``, in float32.

    >>> print(accuracy([1, 1], [[0.2, 0.8], [0.7, 0.3]]))
    tf.Tensor([1. 0.], shape=(2,), dtype=float32)
    """
    y, x = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    if x.ndim < 2 or x.shape[-1] == 1:
        return binary_accuracy(y, x)
    return sparse_categorical_accuracy(y, x) if y.ndim < x.ndim or y.shape[-1] == 1 else categorical_accuracy(y, x)
