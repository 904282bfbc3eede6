"""Transformations that number elements and make several elements of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_data.dataset import Dataset

Transformation = Callable[[Dataset], Dataset]


def enumerate_dataset(start: Any = 0) -> Transformation:
    """Number the elements of a dataset, as `Dataset.enumerate` does.

    Args:
        start: the number of the first element.

    Returns:
        A function for `Dataset.apply`.

    >>> for number, word in Dataset.from_tensor_slices(["a", "b"]).apply(enumerate_dataset(start=5)):
    ...     print(int(number), word.numpy())
    5 b'a'
    6 b'b'
    """
    return lambda dataset: dataset.enumerate(start)
