"""Products, their code: a product of matrices in blocks, for all sizes and both orders of each operand.

A turn computes a block of the result. Both operands are copied to places of a fixed pitch, where no rows of a matrix
share lines of the cache: of the left one a block of rows, of the right one panels as wide as a tile. From there tiles
multiply. K. Goto and R. van de Geijn, "Anatomy of high-performance matrix multiplication", 2008.
"""

from __future__ import annotations

import math

from llvmlite import ir

from agog_cpu_llvm.kernels.packing import between, copies, transposes
from agog_cpu_llvm.kernels.products_layout import DEPTH, GAP, PITCH, panel_width, places
from agog_cpu_llvm.registers import height, widest
from agog_cpu_llvm.tiles import (
    Code,
    Condition,
    Function,
    Index,
    Lanes,
    Pointer,
    Value,
    Words,
    entry,
    multiplied,
)

KINDS = {
    **dict.fromkeys(("rows", "columns", "depth"), "index"),
    **dict.fromkeys(("left_pitch", "left_is_transposed", "left_batch", "left_matrix"), "index"),
    **dict.fromkeys(("right_pitch", "right_is_transposed", "right_batch", "right_matrix", "matrices"), "index"),
    **dict.fromkeys(("block_rows", "block_columns", "row_blocks", "column_blocks", "part", "turns"), "index"),
    **dict.fromkeys(("floor", "ceiling"), "float64"),
}
"""The words of ``product``, behind left, right, bias (or 0) and out: sizes of the matrices; how these
lie, and from one to the next, in batches of some ``matrices``; the blocks, and the depth that is summed at once."""


def write(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """The function ``product``."""
    kinds = {**dict.fromkeys(("left", "right", "bias", "out"), f"@{dtype}"), **KINDS}
    block = _Block(module, dtype, lanes)
    with entry(module, "product", kinds) as (code, words, scratch):
        limits = _limits(code, lanes, words)
        with code.turns(words.counter, words.turns) as turn:
            blocks = words.row_blocks * words.column_blocks
            matrix, rest = turn // blocks, turn % blocks
            block.write(code, words, scratch.seen_as(lanes.dtype), limits, matrix, rest)


def _limits(code: Code, lanes: Lanes, words: Words) -> Pointer:
    """The least and the largest result of a sum that is not the last one, and of the last one."""
    limits = code.memory(lanes.dtype, 4)
    none = [Value(code.b, ir.Constant(lanes.number, sign * math.inf)) for sign in (-1, 1)]
    for place, number in enumerate((*none, words.floor, words.ceiling)):
        lanes.put(lanes.converted(number), limits + place)
    return limits


class _Block:
    """The functions that a block is computed with, and the code that calls them."""

    def __init__(self, module: ir.Module, dtype: str, lanes: Lanes) -> None:
        self.lanes, self.is_converted = lanes, dtype != lanes.dtype
        self.across = widest(lanes)
        self.height = height(lanes, self.across)
        self.width = panel_width(lanes)
        self.panel = DEPTH * self.width + GAP
        self.tiles = {rows: self._tile(module, rows) for rows in range(1, self.height + 1)}
        self.copy_rows = copies(module, "copy_rows", lanes, dtype, lanes.dtype)
        self.copy_out = copies(module, "copy_out", lanes, lanes.dtype, dtype)
        self.copy_panels = self._copy_panels(module, dtype)
        self.transpose = transposes(module, lanes, dtype)

    def write(self, code: Code, w: Words, scratch: Pointer, limits: Pointer, matrix: Index, turn: Index) -> None:
        """A block of a matrix."""
        right_place, sums_place, bias_place = places(self.lanes, w.block_rows, w.block_columns)
        packed, panels, sums, bias = scratch, scratch + right_place, scratch + sums_place, scratch + bias_place
        row, column = turn // w.column_blocks * w.block_rows, turn % w.column_blocks * w.block_columns
        rows, columns = (w.rows - row).least(w.block_rows), (w.columns - column).least(w.block_columns)
        batch, within = matrix // w.matrices, matrix % w.matrices
        left = w.left + (batch * w.left_batch + within * w.left_matrix)
        right = w.right + (batch * w.right_batch + within * w.right_matrix)
        out = w.out + ((matrix * w.rows + row) * w.columns + column)
        self._write_bias(code, w, bias, column, columns)
        zeros = code.memory(self.lanes.dtype, self.width)
        for n in range(0, self.width, self.lanes.count):
            self.lanes.store(self.lanes.splat(code, 0.0), zeros + n)
        with code.loop(0, w.depth, w.part) as deep:
            depth = (w.depth - deep.index).least(w.part)
            is_first, is_last = deep.index.equals(0), deep.index + w.part >= w.depth
            self._pack_left(code, w, left, row, deep.index, rows, depth, packed)
            self._pack_right(code, w, right, column, deep.index, columns, depth, panels)
            count = (rows + (self.height - 1)) // self.height
            small, more = rows // count, rows % count
            with code.loop(0, count, 1, [code.number(0)]) as tile:
                (above,) = tile.carried
                height = small + (tile.index < more).select(code.number(1), code.number(0))
                with code.loop(0, columns, self.width) as panel:
                    here = sums + (panel.index * w.block_rows + above * self.width)
                    self._write_tile(
                        code,
                        (height, packed + above * PITCH, panels + panel.index // self.width * self.panel, depth),
                        (is_first, zeros, here),
                        (out + (above * w.columns + panel.index), w.columns, columns - panel.index),
                        (is_last, bias + panel.index, limits),
                    )
                tile.carry(above + height)

    def _write_bias(self, code: Code, w: Words, bias: Pointer, column: Index, columns: Index) -> None:
        """What is added to each column of the block."""
        lanes, has_bias = self.lanes, ~w.bias.address().equals(0)
        with code.when(has_bias):
            self.copy_rows(w.bias + column, code.number(0), code.number(1), columns, bias, code.number(0))
        with code.when(~has_bias), code.loop(0, columns, lanes.count) as loop:
            lanes.store(lanes.splat(code, 0.0), bias + loop.index)

    def _pack_left(
        self, code: Code, w: Words, left: Pointer, row: Index, deep: Index, rows: Index, depth: Index, packed: Pointer
    ) -> None:
        is_transposed = w.left_is_transposed.equals(1)
        with code.when(is_transposed):
            source = left + (deep * w.left_pitch + row)
            self.transpose(source, w.left_pitch, depth, rows, packed, code.number(PITCH))
        with code.when(~is_transposed):
            self.copy_rows(left + (row * w.left_pitch + deep), w.left_pitch, rows, depth, packed, code.number(PITCH))

    def _pack_right(
        self,
        code: Code,
        w: Words,
        right: Pointer,
        column: Index,
        deep: Index,
        columns: Index,
        depth: Index,
        panels: Pointer,
    ) -> None:
        is_transposed = w.right_is_transposed.equals(1)
        with code.when(~is_transposed):
            self.copy_panels(right + (deep * w.right_pitch + column), w.right_pitch, depth, columns, panels)
        with code.when(is_transposed), code.loop(0, columns, self.width) as panel:
            source, wide = right + ((column + panel.index) * w.right_pitch + deep), columns - panel.index
            target = panels + panel.index // self.width * self.panel
            self.transpose(source, w.right_pitch, wide.least(self.width), depth, target, code.number(self.width))

    def _write_tile(
        self,
        code: Code,
        operands: tuple[Index, Pointer, Pointer, Index],
        sums: tuple[Condition, Pointer, Pointer],
        result: tuple[Pointer, Index, Index],
        last: tuple[Condition, Pointer, Pointer],
    ) -> None:
        """A tile of the result, or of sums that are not the last ones."""
        height, left, right, depth = operands
        is_first, zeros, here = sums
        out, pitch, columns = result
        is_last, bias, limits = last
        width = code.number(self.width)
        start, start_pitch = is_first.select(zeros, here), is_first.select(code.number(0), width)
        bias, limits = is_last.select(bias, zeros), is_last.select(limits + 2, limits)
        is_straight = is_last & (columns >= self.width)
        if self.is_converted:
            target, target_pitch, is_copied = here, width, is_last
        else:
            target, target_pitch = is_straight.select(out, here), is_straight.select(pitch, width)
            is_copied = is_last & ~is_straight
        code.choose(height, self.tiles, left, right, depth, start, start_pitch, bias, target, target_pitch, limits)
        with code.when(is_copied):
            self.copy_out(here, width, height, columns.least(self.width), out, pitch)

    def _tile(self, module: ir.Module, rows: int) -> Function:
        """Some rows of a panel: sums of products, plus earlier ones, plus a bias, within limits."""
        lanes, kind = self.lanes, f"*{self.lanes.dtype}"
        operands = {"left": kind, "right": kind, "depth": "index"}
        results = {
            "start": kind,
            "start_pitch": "index",
            "bias": kind,
            "out": kind,
            "out_pitch": "index",
            "limits": kind,
        }
        function = Function(module, f"tile{rows}", **operands, **results)
        code = function.code
        left, right, depth, start, start_pitch, bias, out, out_pitch, limits = function.parameters
        zeros = [lanes.splat(code, 0.0)] * (rows * self.across)
        pointers, masks = [left + row * PITCH for row in range(rows)], [None] * self.across
        sums, _ = multiplied(code, zeros, pointers, 0, depth, right, self.width, masks)
        floor, ceiling = lanes.broadcast(limits), lanes.broadcast(limits + 1)
        for row in range(rows):
            for n in range(self.across):
                total = sums[row * self.across + n] + lanes.load(start + n * lanes.count)
                total = total + lanes.load(bias + n * lanes.count)
                total = (total < floor).select(floor, total)
                total = (total > ceiling).select(ceiling, total)
                lanes.store(total, out + n * lanes.count)
            start, out = start + start_pitch, out + out_pitch
        function.end()
        return function

    def _copy_panels(self, module: ir.Module, dtype: str) -> Function:
        """Rows of some columns to panels, whose last one has zeros behind them."""
        function = Function(module, "copy_panels", **between(dtype, self.lanes.dtype))
        code, lanes = function.code, self.lanes
        source, pitch, rows, columns, target = function.parameters
        places = range(0, self.width, lanes.count)
        whole = columns // self.width * self.width
        masks = [lanes.first(columns - whole - n) for n in places]
        with code.loop(0, rows, 1, [source, target]) as row:
            one, another = row.carried
            with code.loop(0, whole, self.width, [another], may_be_empty=True) as panel:
                (there,) = panel.carried
                for n in places:
                    lanes.store(lanes.load(one + panel.index + n), there + n)
                panel.carry(there + self.panel)
            with code.when(whole < columns):
                (there,) = panel.results
                for n, mask in zip(places, masks, strict=True):
                    lanes.store(lanes.load(one + whole + n, mask), there + n)
            row.carry(one + pitch, another + self.width)
        function.end()
        return function
