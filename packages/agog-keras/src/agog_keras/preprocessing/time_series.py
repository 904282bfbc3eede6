"""Time series: batches of windows, as ``tf.keras.preprocessing.sequence.TimeseriesGenerator``."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_training.sequence import Sequence

__all__ = ["TimeseriesGenerator"]


class TimeseriesGenerator(Sequence):
    """Batches of windows of a series, each with the target that follows it.

    Args:
        data: the series: an array or a list whose first axis is time.
        targets: what belongs to each time, as long as the data.
        length: how many steps a window reaches back.
        sampling_rate: the distance between the steps that are taken of a window.
        stride: the distance between windows.
        start_index: the first step that is used.
        end_index: the last step that is used; None for the last one.
        shuffle: whether windows come at random, by NumPy's random numbers.
        reverse: whether the steps of each window come backwards.
        batch_size: the number of windows in a batch.

    Raises:
        ValueError: the series and targets differ in length, or there is no window.

    >>> x, y = TimeseriesGenerator(np.arange(6), np.arange(6), length=2, batch_size=3)[0]
    >>> x.tolist(), y.tolist()
    ([[0, 1], [1, 2], [2, 3]], [2, 3, 4])
    """

    def __init__(
        self,
        data: Any,
        targets: Any,
        length: int,
        sampling_rate: int = 1,
        stride: int = 1,
        start_index: int = 0,
        end_index: int | None = None,
        shuffle: bool = False,
        reverse: bool = False,
        batch_size: int = 128,
    ) -> None:
        if len(data) != len(targets):
            raise ValueError(
                f"TimeseriesGenerator: data and targets must have the same length; got {len(data)} and {len(targets)}."
            )
        self.data, self.targets = np.asarray(data), np.asarray(targets)
        self.length, self.sampling_rate, self.stride, self.batch_size = length, sampling_rate, stride, batch_size
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse = shuffle, reverse
        if self.start_index > self.end_index:
            raise ValueError(
                f"TimeseriesGenerator: `start_index+length={self.start_index} > end_index={self.end_index}` is "
                "disallowed, since no window lies between them."
            )

    def __len__(self) -> int:
        return -(-(self.end_index - self.start_index + 1) // (self.batch_size * self.stride))

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        """The windows of a batch, and their targets."""
        if self.shuffle:
            ends = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + self.batch_size * self.stride * index
            ends = np.arange(first, min(first + self.batch_size * self.stride, self.end_index + 1), self.stride)
        windows = np.array([self.data[end - self.length : end : self.sampling_rate] for end in ends])
        return windows[:, ::-1] if self.reverse else windows, self.targets[ends]
