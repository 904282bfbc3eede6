"""Labels: class numbers as vectors, and vectors of length 1."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["normalize", "to_categorical"]

Array = np.ndarray[Any, Any]


def to_categorical(x: Any, num_classes: int | None = None, dtype: str = "float32") -> Array:
    """Make vectors of class numbers, with a 1 at the number and zeros else.

    Args:
        x: class numbers, an array of integers of shape (...) or (..., 1).
        num_classes: how many classes there are; None for one more than the largest number.
        dtype: the dtype of the result.

    Returns:
        An array of shape (..., num_classes).

    Raises:
        ValueError: a number is negative, or not less than ``num_classes``.

    >>> to_categorical([0, 2]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    numbers = np.asarray(x).astype(np.int64)
    if numbers.ndim > 1 and numbers.shape[-1] == 1:
        numbers = numbers[..., 0]
    count = int(numbers.max(initial=-1)) + 1 if num_classes is None else int(num_classes)
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < count):
        raise ValueError(
            f"to_categorical: class numbers must be from 0 to {count - 1}, one less than num_classes; got "
            f"{numbers.min()} to {numbers.max()}."
        )
    return np.eye(count, dtype=dtype)[numbers]


def normalize(x: Any, axis: int = -1, order: int = 2) -> Array:
    """Divide by the norm along an axis; zeros stay.

    Args:
        x: an array.
        axis: the axis.
        order: the norm: 2 for the Euclidean one.

    Returns:
        An array of the same shape.

    >>> normalize([[3.0, 4.0]]).tolist()
    [[0.6, 0.8]]
    """
    array = np.asarray(x)
    lengths = np.linalg.norm(array, order, axis, keepdims=True)
    result: Array = array / np.where(lengths == 0, 1, lengths)
    return result
