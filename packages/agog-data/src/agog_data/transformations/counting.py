"""Counting: datasets without end, of numbers in order, and at random."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, dtypes
from agog_data import arguments
from agog_data.dataset import Dataset
from agog_data.stages.counting import CounterSource, Random
from agog_data.stages.slicing import Slices


def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Dataset:  # TensorFlow's name
    """Evenly spaced numbers, without end.

    Args:
        start: the first number.
        step: how far they are apart.
        dtype: their dtype.

    Returns:
        A dataset of scalars. Iterating raises `OutOfRangeError` if a number does not fit the dtype.

    >>> [int(x) for x in Counter(10, step=-3).take(4)]
    [10, 7, 4, 1]
    """
    kind = dtypes.as_dtype(dtype)
    if kind.is_integer:
        start = arguments.integer("Counter", "start", start)
        step = arguments.integer("Counter", "step", step)
    return Dataset(Slices(CounterSource(start, step, kind)))


class RandomDataset(Dataset):
    """Random int64 scalars in [0, 2**32), without end. Each epoch and each iterator has others.

    Args:
        seed: with the graph seed it determines the numbers.

    >>> [x.numpy().shape for x in RandomDataset(seed=3).take(2)]
    [(), ()]
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(Random(None if seed is None else arguments.integer("RandomDataset", "seed", seed)))


def cardinality(dataset: Dataset) -> Tensor:
    """See `Dataset.cardinality`.

    >>> int(cardinality(Dataset.range(3)))
    3
    """
    return dataset.cardinality()
