"""Segments: calls just above the least size, of narrow rows and of wide ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo import Sample


def _sums(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for rows, columns, count in ((1030, 8, 5), (130, 67, 200), (41, 203, 3)):
        data, ids = rng.uniform(-1, 1, (rows, columns)).astype(dtype), rng.integers(0, count, rows)
        yield Sample(f"{rows} rows of {columns} to {count}", (data, ids, count))


SAMPLES = {"unsorted_segment_sum": _sums}
