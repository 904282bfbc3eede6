"""Tensor shape: the functions of TensorFlow's ``python.framework.tensor_shape``."""

from __future__ import annotations

from typing import Any

from agog_core.shapes import TensorShape

__all__ = ["as_shape", "matrix", "scalar", "unknown_shape", "vector"]


def as_shape(shape: Any) -> TensorShape:
    """A shape of whatever says one.

    Args:
        shape: a `TensorShape`, or what its constructor takes.

    Returns:
        The `TensorShape`.

    >>> as_shape([2, None])
    TensorShape([2, None])
    """
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def scalar() -> TensorShape:
    """The shape of a scalar.

    Returns:
        A `TensorShape` of no sizes.
    """
    return TensorShape([])


def vector(length: Any) -> TensorShape:
    """The shape of a vector.

    Args:
        length: how many elements it has; None for any number.

    Returns:
        A `TensorShape` of rank 1.

    >>> vector(3)
    TensorShape([3])
    """
    return TensorShape([length])


def matrix(rows: Any, cols: Any) -> TensorShape:
    """The shape of a matrix.

    Args:
        rows: how many rows it has; None for any number.
        cols: how many columns.

    Returns:
        A `TensorShape` of rank 2.
    """
    return TensorShape([rows, cols])


def unknown_shape(ndims: int | None = None) -> TensorShape:
    """A shape of unknown sizes.

    Args:
        ndims: the rank; None for any.

    Returns:
        A `TensorShape`.

    >>> unknown_shape(2)
    TensorShape([None, None])
    """
    return TensorShape(None if ndims is None else [None] * ndims)
