"""Segments: sums of the rows that carry the same number, such as the gradients of the rows of an embedding.

A turn takes some columns of all rows, one row after the other: each sum is in the order of the rows, as the reference
has it, whoever computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import numpy as np

from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import compiled

LEAST = 8192
"""Elements from which on calls are taken."""

_NARROW = 8
"""Columns from which on calls are taken: fewer leave most lanes empty."""

COLUMNS = 64
"""Columns of a turn."""


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op."""
    return partial(_unsorted_segment_sum, dtype)


def _unsorted_segment_sum(dtype: str, data: Any, segment_ids: Any, out: Any = None, *, num_segments: int) -> Any:
    columns = prod(data.shape[segment_ids.ndim :])
    if data.size < LEAST or columns < _NARROW or not data.flags.c_contiguous:
        return NotImplemented
    if segment_ids.min() < 0 or segment_ids.max() >= num_segments:
        return NotImplemented  # some are left out, or wrong
    ids = np.ascontiguousarray(segment_ids, np.int64)
    if out is None:
        filled = np.zeros((num_segments, *data.shape[segment_ids.ndim :]), dtype)
    else:
        filled = out
        filled.fill(0)
    blocks = -(-columns // COLUMNS)
    words = data.ctypes.data, ids.ctypes.data, filled.ctypes.data, ids.size, columns, blocks
    run(compiled("segments", dtype)["unsorted_segment_sum"], words, most=blocks)
    return filled if out is None else None
