"""Functions: the merging layers as functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core.calls.docstrings import documented_like
from agog_layers.merging.layers import Add, Average, Concatenate, Dot, Maximum, Minimum, Multiply, Subtract

__all__ = ["add", "average", "concatenate", "dot", "maximum", "minimum", "multiply", "subtract"]


def add(inputs: Any, **kwargs: Any) -> Any:
    """The sum of tensors, by a new `Add` layer.

    Args:
        inputs: a list of tensors, or of symbolic values.
        **kwargs: further arguments of the layer.

    Returns:
        The sum.

    >>> import agog_core as ag
    >>> print(add([ag.constant([1.0]), ag.constant([2.0])]))
    tf.Tensor([3.], shape=(1,), dtype=float32)
    """
    return Add(**kwargs)(inputs)


def subtract(inputs: Any, **kwargs: Any) -> Any:
    """The difference of two tensors, by a new `Subtract` layer.

    Args:
        inputs: a list of two tensors, or symbolic values.
        **kwargs: further arguments of the layer.

    Returns:
        The difference.

    >>> import agog_core as ag
    >>> print(subtract([ag.constant([1.0]), ag.constant([3.0])]))
    tf.Tensor([-2.], shape=(1,), dtype=float32)
    """
    return Subtract(**kwargs)(inputs)


@documented_like(add)
def multiply(inputs: Any, **kwargs: Any) -> Any:
    """The product of tensors, by a new `Multiply` layer.

    Returns:
        The product.

    >>> import agog_core as ag
    >>> print(multiply([ag.constant([2.0]), ag.constant([3.0])]))
    tf.Tensor([6.], shape=(1,), dtype=float32)
    """
    return Multiply(**kwargs)(inputs)


@documented_like(add)
def average(inputs: Any, **kwargs: Any) -> Any:
    """The mean of tensors, by a new `Average` layer.

    Returns:
        The mean.

    >>> import agog_core as ag
    >>> print(average([ag.constant([1.0]), ag.constant([2.0])]))
    tf.Tensor([1.5], shape=(1,), dtype=float32)
    """
    return Average(**kwargs)(inputs)


@documented_like(add)
def maximum(inputs: Any, **kwargs: Any) -> Any:
    """The larger elements of tensors, by a new `Maximum` layer.

    Returns:
        The larger elements.

    >>> import agog_core as ag
    >>> print(maximum([ag.constant([1.0, 5.0]), ag.constant([2.0, 4.0])]))
    tf.Tensor([2. 5.], shape=(2,), dtype=float32)
    """
    return Maximum(**kwargs)(inputs)


@documented_like(add)
def minimum(inputs: Any, **kwargs: Any) -> Any:
    """The smaller elements of tensors, by a new `Minimum` layer.

    Returns:
        The smaller elements.

    >>> import agog_core as ag
    >>> print(minimum([ag.constant([1.0, 5.0]), ag.constant([2.0, 4.0])]))
    tf.Tensor([1. 4.], shape=(2,), dtype=float32)
    """
    return Minimum(**kwargs)(inputs)


def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """Tensors joined along an axis, by a new `Concatenate` layer.

    Args:
        inputs: a list of tensors, or of symbolic values.
        axis: the axis.
        **kwargs: further arguments of the layer.

    Returns:
        The joined tensors.

    >>> import agog_core as ag
    >>> concatenate([ag.zeros([2, 3]), ag.zeros([2, 5])]).shape
    TensorShape([2, 8])
    """
    return Concatenate(axis, **kwargs)(inputs)


def dot(inputs: Any, axes: int | Sequence[int], normalize: bool = False, **kwargs: Any) -> Any:
    """The dot products of two tensors for each example, by a new `Dot` layer.

    Args:
        inputs: a list of two tensors, or symbolic values.
        axes: the axis of both tensors, or a pair; not the batch axis.
        normalize: whether both are divided by their lengths along the axis first.
        **kwargs: further arguments of the layer.

    Returns:
        The products.

    >>> import agog_core as ag
    >>> print(dot([ag.constant([[1.0, 2.0]]), ag.constant([[3.0, 4.0]])], axes=1))
    tf.Tensor([[11.]], shape=(1, 1), dtype=float32)
    """
    return Dot(axes, normalize, **kwargs)(inputs)
