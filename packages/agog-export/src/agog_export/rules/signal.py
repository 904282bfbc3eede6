"""Signal: rules of frames of signals."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_export.writer import Operand, Writer

__all__ = ["frame", "overlap_and_add"]


def frame(op: Writer, signal: Operand, *, length: int, step: int) -> Any:
    count = op.out.shape[-2].__index__()
    return op.Gather(signal, np.add.outer(np.arange(count) * step, np.arange(length)), axis=-1)


def overlap_and_add(op: Writer, signal: Operand, *, step: int) -> Any:
    """All elements are added where they belong, with the last axis as the first one."""
    *batch, count, length = signal.shape
    places = np.add.outer(np.arange(count.__index__()) * step, np.arange(length.__index__())).reshape(-1, 1)
    axes = list(range(len(batch)))
    flat = op.Reshape(signal, [*batch, len(places)], allowzero=1)
    rows = op.Transpose(flat, perm=[len(batch), *axes])
    zeros = op.zeros([op.out.shape[-1], *batch], signal.dtype)
    total = op.ScatterND(zeros, places, rows, reduction="add")
    return op.Transpose(total, perm=[*(axis + 1 for axis in axes), 0])
