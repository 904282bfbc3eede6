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
from llvmlite import ir

from agog_cpu_llvm.kernels.channels import each_chunk
from agog_cpu_llvm.team import run
from agog_cpu_llvm.tiles import Code, Index, Lanes, Mask, Words, compiled, entry

LEAST = 8192
"""Elements from which on calls are taken."""

_NARROW = 8
"""Columns from which on calls are taken: fewer leave most lanes empty."""

_COLUMNS = 64  # of a turn


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
    blocks = -(-columns // _COLUMNS)
    words = data.ctypes.data, ids.ctypes.data, filled.ctypes.data, ids.size, columns, blocks
    run(compiled("segments", write, dtype)["unsorted_segment_sum"], words, most=blocks)
    return filled if out is None else None


def write(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """The function of sums, which are added to zeros."""
    arrays = {"data": f"*{dtype}", "ids": "*int64", "out": f"*{dtype}"}
    sizes = dict.fromkeys(("rows", "columns", "blocks"), "index")
    with entry(module, "unsorted_segment_sum", {**arrays, **sizes}, flushes=False) as (code, words, _):
        _write_turns(code, words, lanes)


def _write_turns(code: Code, words: Words, lanes: Lanes) -> None:
    with code.turns(words.counter, words.blocks) as turn:
        first = turn * _COLUMNS

        def chunk(column: Index, masks: list[Mask | None]) -> None:
            with code.loop(0, words.rows) as row:
                source = words.data + row.index * words.columns + first + column
                target = words.out + (words.ids + row.index).integer() * words.columns + first + column
                for n, mask in enumerate(masks):
                    place = n * lanes.count
                    total = lanes.load(target + place, mask) + lanes.load(source + place, mask)
                    lanes.store(total, target + place, mask)

        each_chunk(code, (words.columns - first).least(_COLUMNS), lanes, chunk)
