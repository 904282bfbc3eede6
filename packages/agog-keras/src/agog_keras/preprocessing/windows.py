"""Windows: equal stretches of a series, as a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core import Tensor, constant, convert_to_tensor, expand_dims, gather
from agog_data import Dataset

__all__ = ["timeseries_dataset_from_array"]


def timeseries_dataset_from_array(
    data: Any,
    targets: Any,
    sequence_length: int,
    sequence_stride: int = 1,
    sampling_rate: int = 1,
    batch_size: int | None = 128,
    shuffle: bool = False,
    seed: int | None = None,
    start_index: int | None = None,
    end_index: int | None = None,
) -> Dataset:
    """A dataset of windows of a series.

    Args:
        data: the series, an array of shape (time, ...).
        targets: what belongs to each window, by the window's first step; an array, or None for windows alone.
        sequence_length: the number of steps in a window.
        sequence_stride: how many steps a window begins after the one before.
        sampling_rate: the distance of steps in a window.
        batch_size: the number of windows in a batch; None for windows one by one.
        shuffle: whether each epoch has its own order.
        seed: determines the order.
        start_index: the first step of the series that is used; None for the first of all.
        end_index: the step to end before; None for the end.

    Returns:
        A `tf.data.Dataset` of windows of shape (batch, sequence_length, ...), or of pairs of these and their targets.

    Raises:
        ValueError: a number is less than 1, or the series is too short.

    >>> dataset = timeseries_dataset_from_array(np.arange(6), np.arange(6) + 3, sequence_length=3, batch_size=2)
    >>> for x, y in dataset:
    ...     print(x.numpy().tolist(), y.numpy().tolist())
    [[0, 1, 2], [1, 2, 3]] [3, 4]
    [[2, 3, 4], [3, 4, 5]] [5, 6]
    """
    numbers = {"sequence_length": sequence_length, "sequence_stride": sequence_stride, "sampling_rate": sampling_rate}
    for name, value in numbers.items():
        if value < 1:
            raise ValueError(f"timeseries_dataset_from_array: {name} must be at least 1; got {value!r}.")
    series = convert_to_tensor(data)[start_index:end_index]
    wanted = None if targets is None else convert_to_tensor(targets)[start_index:end_index]
    count = len(series) - (sequence_length - 1) * sampling_rate
    if wanted is not None:
        count = min(count, len(wanted))
    if count < 1:
        raise ValueError(
            f"timeseries_dataset_from_array: {len(series)} steps hold no window of {sequence_length} steps at a "
            f"distance of {sampling_rate}."
        )
    steps = constant(np.arange(0, sequence_length * sampling_rate, sampling_rate))

    def windows(starts: Tensor) -> Any:
        found = gather(series, expand_dims(starts, -1) + steps)
        return found if wanted is None else (found, gather(wanted, starts))

    starts = Dataset.from_tensor_slices(np.arange(0, count, sequence_stride))
    if shuffle:
        starts = starts.shuffle(count, seed=seed)
    return (starts if batch_size is None else starts.batch(batch_size)).map(windows).prefetch(2)
