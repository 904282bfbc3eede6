"""Windows of series, and pairs of words."""

from __future__ import annotations

import random

import numpy as np
import pytest

from agog_keras.preprocessing.skip_grams import make_sampling_table, skipgrams
from agog_keras.preprocessing.time_series import TimeseriesGenerator
from agog_testing import says


def test_windows_of_series() -> None:
    x, y = np.arange(20).reshape(10, 2), np.arange(10)
    batches = TimeseriesGenerator(x, y, length=4, sampling_rate=2, stride=2, batch_size=2, reverse=True)
    assert len(batches) == 2
    windows, targets = batches[1]
    assert targets.tolist() == [8]
    assert windows[0].tolist() == [x[6].tolist(), x[4].tolist()]
    for make, text in (
        (
            lambda: TimeseriesGenerator([1, 2], [1], 1),
            "TimeseriesGenerator: data and targets must have the same length; got 2 and 1.",
        ),
        (
            lambda: TimeseriesGenerator([1, 2], [1, 2], 2),
            "TimeseriesGenerator: `start_index+length=2 > end_index=1` is disallowed, since no window lies between "
            "them.",
        ),
    ):
        with says(ValueError, text):
            make()


def test_pairs_of_words() -> None:
    random.seed(5)
    pairs, labels = skipgrams([1, 0, 2, 3], 4, window_size=1, negative_samples=2.0, categorical=True)
    near = [pair for pair, label in zip(pairs, labels, strict=True) if label == [0, 1]]
    assert sorted(near) == [[2, 3], [3, 2]]
    assert len(pairs) == 6
    assert all(1 <= other < 4 for _, other in pairs)
    kept, _ = skipgrams([1, 2], 3, sampling_table=np.zeros(3), negative_samples=0)
    assert kept == []
    table = make_sampling_table(100, 1e-3)
    rank = 50
    frequency = 1 / (rank * (np.log(rank) + 0.577) + 0.5 - 1 / (12 * rank))
    assert table[rank] == pytest.approx(min(1, np.sqrt(1e-3 / frequency)))
