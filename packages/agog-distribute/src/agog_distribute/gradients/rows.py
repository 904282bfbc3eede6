"""Rows: gradients of lookups, whose rows of all processes are gathered, or added up where they are many."""

from __future__ import annotations

from typing import Any

import numpy as np

import agog_core as ag
from agog_core import IndexedSlices, Tensor
from agog_core.tracers import present_recorder
from agog_distribute.collectives.ops import all_gather, all_reduce
from agog_distribute.processes.groups import Group


def gathered(gradient: IndexedSlices | None, variable: Any, group: Group, reduction: str) -> IndexedSlices | None:
    """The rows of all processes, each once; None where they are no fewer than those of the variable."""
    if gradient is None:
        if variable is None:
            return None
        none = ag.zeros((0, *variable.shape.as_list()[1:]), variable.dtype)
        gradient = IndexedSlices(none, ag.zeros([0], "int64"), variable.shape.as_list())
    shape = gradient._shape
    counts = [int(count) for count in all_gather(ag.constant([gradient.indices._shape[0]], "int64"), group).numpy()]
    if shape is None or sum(counts) >= shape[0]:
        return None
    # Collectives take equal shapes: all add rows up to the longest's number, which nobody keeps.
    more = max(counts) - gradient.indices._shape[0]
    rows = ag.pad(gradient.values, [[0, more], *([0, 0] for _ in shape[1:])])
    numbers = ag.pad(ag.cast(gradient.indices, "int64"), [[0, more]])
    values = ag.concat([part[:n] for part, n in zip(_parts(all_gather(rows, group), counts), counts, strict=True)], 0)
    indices = [part[:n] for part, n in zip(_parts(all_gather(numbers, group), counts), counts, strict=True)]
    if reduction == "mean":
        values = values / group.size
    # Each row once, as where they are added up: else their norm would depend on how many there are.
    numbers, which = ag.unique(ag.concat(indices, 0))
    return IndexedSlices(ag.unsorted_segment_sum(values, which, numbers._shape[0]), numbers, shape)


def _parts(whole: Tensor, counts: list[int]) -> list[Tensor]:
    found: list[Tensor] = ag.split(whole, len(counts), 0)
    return found


def rows_only(dense: Tensor, gradient: IndexedSlices | None, group: Group) -> IndexedSlices:
    """Those rows of a tensor that some process has looked up: an optimizer may leave all others as they are."""
    count = dense._shape[0]
    if gradient is None:
        mine = ag.zeros([count], "int32")
    else:
        ones = ag.ones([gradient.indices._shape[0]], "int32")
        mine = ag.minimum(ag.unsorted_segment_sum(ones, gradient.indices, count), 1)
    touched = all_reduce(mine, "max", group)
    recorder = present_recorder()
    if recorder is None:
        rows = ag.reshape(ag.where(ag.cast(touched, "bool")), [-1])
        return IndexedSlices(ag.gather(dense, rows), rows, dense._shape)
    # How many rows there are must not depend on values: the first comes again and again, with zeros.
    rows, factors = recorder.host(_first_touched, [touched], [ag.int64, dense.dtype])
    values = ag.gather(dense, rows) * ag.reshape(factors, [count, *(1 for _ in dense._shape[1:])])
    return IndexedSlices(values, rows, dense._shape)


def _first_touched(touched: Any) -> list[Any]:
    mask = np.asarray(touched, bool)
    (rows,) = mask.nonzero()
    padded = [*rows, *[rows[0] if len(rows) else 0] * (len(mask) - len(rows))]
    return [padded, [1.0] * len(rows) + [0.0] * (len(mask) - len(rows))]
