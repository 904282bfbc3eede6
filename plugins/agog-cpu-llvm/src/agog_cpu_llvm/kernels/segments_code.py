"""Segments code: a turn takes some columns of all rows, one row after the other."""

from __future__ import annotations

from llvmlite import ir

from agog_cpu_llvm.kernels.channels import each_chunk
from agog_cpu_llvm.kernels.segments import COLUMNS
from agog_cpu_llvm.tiles import Code, Index, Lanes, Mask, Words, entry


def write(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """The function of sums, which are added to zeros."""
    arrays = {"data": f"*{dtype}", "ids": "*int64", "out": f"*{dtype}"}
    sizes = dict.fromkeys(("rows", "columns", "blocks"), "index")
    with entry(module, "unsorted_segment_sum", {**arrays, **sizes}, flushes=False) as (code, words, _):
        _write_turns(code, words, lanes)


def _write_turns(code: Code, words: Words, lanes: Lanes) -> None:
    with code.turns(words.counter, words.blocks) as turn:
        first = turn * COLUMNS

        def chunk(column: Index, masks: list[Mask | None]) -> None:
            with code.loop(0, words.rows) as row:
                source = words.data + row.index * words.columns + first + column
                target = words.out + (words.ids + row.index).integer() * words.columns + first + column
                for n, mask in enumerate(masks):
                    place = n * lanes.count
                    total = lanes.load(target + place, mask) + lanes.load(source + place, mask)
                    lanes.store(total, target + place, mask)

        each_chunk(code, (words.columns - first).least(COLUMNS), lanes, chunk)
