"""Products: rows times packed matrices, and sums of outer products, by register tiles of some vectors of columns.

A packed matrix lies in panels: of as many columns as a tile has, all rows one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from llvmlite import ir

from agog_cpu_llvm.tiles import Code, Function, Index, Lanes, Mask, Pointer, Vector

DEPTH = 128
"""Rows of a panel that are multiplied by all rows of the other matrix before the next ones: they fit into a cache."""

EVERY = 1 << 40
"""Columns that are left where all are written."""

_SUMS = {64: 24, 32: 9, 16: 9}  # that fit into registers, by the bytes of one


# A tile's function, the kinds of its parameters, and those that go on by the rows before it, times a step or by one.
_Tile = tuple[Function, dict[str, str], dict[str, str | None]]


class Products:
    """The functions of a module for tiles of ``width`` vectors: ``times`` and ``outer``."""

    def __init__(self, module: ir.Module, dtype: str, lanes: Lanes, width: int) -> None:
        self.lanes, self.width = lanes, width
        self.height = min(8, _SUMS[lanes.bytes] // width)
        self._module, self._each = module, f"*{dtype}"

    # Tiles that no entry of the module calls are not written: most of the time goes into compiling them.
    @cached_property
    def _times(self) -> Function:
        return self._over_rows("times", self._times_tile)

    @cached_property
    def _outer(self) -> Function:
        return self._over_rows("outer", self._outer_tile)

    def times(
        self,
        x: Pointer,
        step: Index,
        rows: Index,
        depth: Index,
        panel: Pointer,
        start: tuple[Pointer, Index | int],
        out: tuple[Pointer, Index | int],
        left: Index | int = EVERY,
    ) -> None:
        """``out = start + x @ panel`` for some rows of ``depth`` numbers, ``step`` elements one after the other.

        Of ``start`` and ``out`` the step of rows is given too. Columns are written where some are ``left``.
        """
        code = Code(x.b)
        first = depth.least(DEPTH)
        self._call(self._times, rows, x, step, 1, 0, first, panel, *start, *out, left)
        with code.loop(DEPTH, depth, DEPTH, may_be_empty=True) as loop:
            n, more = loop.index, (depth - loop.index).least(DEPTH)
            place = panel + n * (self.width * self.lanes.count)
            self._call(self._times, rows, x + n, step, 1, 0, more, place, *out, *out, left)

    def times_grouped(
        self,
        x: tuple[Pointer, Index],
        step: Index,
        rows: Index,
        groups: Index,
        depth: int,
        panel: Pointer,
        start: tuple[Pointer, Index | int],
        out: tuple[Pointer, Index | int],
        left: Index | int = EVERY,
    ) -> None:
        """The same for rows that are in ``groups`` of ``depth`` numbers; ``x`` comes with the step of groups."""
        code, (place, group_step), several = Code(panel.b), x, max(1, DEPTH // depth)
        self._call(self._times, rows, place, step, groups.least(several), group_step, depth, panel, *start, *out, left)
        with code.loop(several, groups, several, may_be_empty=True) as loop:
            n, more = loop.index, (groups - loop.index).least(several)
            place, weights = x[0] + n * group_step, panel + n * (depth * self.width * self.lanes.count)
            self._call(self._times, rows, place, step, more, group_step, depth, weights, *out, *out, left)

    def outer(
        self,
        x: Pointer,
        steps: tuple[Index | int, Index | int],
        counts: tuple[Index, Index],
        rows: Index | int,
        errors: Pointer,
        pitch: Index | int,
        out: tuple[Pointer, Index],
        column_step: Index,
        left: Index,
    ) -> None:
        """``out += x.T @ errors`` for some rows of ``out``.

        ``x`` has two axes, whose steps and counts are given, of vectors of as many numbers as there are rows;
        ``errors`` has as many vectors, ``pitch`` elements apart. Vectors of columns are ``column_step`` apart.
        """
        self._call(self._outer, rows, x, *steps, *counts, errors, pitch, *out, column_step, left)

    @contextmanager
    def blocks(self, code: Code, rows: Index) -> Iterator[tuple[Index, Index]]:
        """A loop over rows in blocks of about equal size, each for one tile: the first row, and how many there are."""
        count = (rows + (self.height - 1)) // self.height
        small, more = rows // count, rows % count
        with code.loop(0, count) as block:
            is_larger = block.index < more
            yield (
                block.index * small + block.index.least(more),
                small + is_larger.select(code.number(1), code.number(0)),
            )

    def _call(self, function: Function, rows: Index | int, x: Pointer, *given: Any) -> None:
        code = Code(x.b)
        function(x, *[code.number(each) if isinstance(each, int) else each for each in (*given, rows)])

    def _over_rows(self, name: str, write: Callable[[str, int], _Tile]) -> Function:
        """A function that calls the tiles of up to ``height`` rows for any number of rows, its last parameter."""
        tiles: dict[int, Function] = {}
        for height in range(1, self.height + 1):
            tiles[height], parameters, moves = write(f"{name}{self.width}x{height}", height)
        function = Function(self._module, f"{name}{self.width}", **parameters, rows="index")
        code, names = function.code, list(parameters)
        *given, rows = function.parameters
        values = dict(zip(names, given, strict=True))
        with self.blocks(code, rows) as (first, size):
            moved = {name: values[name] + (first * values[by] if by else first) for name, by in moves.items()}
            code.choose(size, tiles, *(values | moved).values())
        function.end()
        return function

    def _times_tile(self, name: str, height: int) -> _Tile:
        lanes, each, index = self.lanes, self._each, "index"
        kinds = {"x": each, "step": index, "segments": index, "segment_step": index, "depth": index, "panel": each}
        kinds |= {"start": each, "start_step": index, "out": each, "out_step": index, "left": index}
        function = Function(self._module, name, **kinds)
        x, step, segments, segment_step, depth, panel, start, start_step, out, out_step, left = function.parameters
        code = function.code
        rows, begins = [x], [start]
        for _ in range(height - 1):
            rows.append(rows[-1] + step)
            begins.append(begins[-1] + start_step)
        sums = [lanes.load(begin + n * lanes.count) for begin in begins for n in range(self.width)]
        with code.loop(0, segments, 1, [panel, *rows, *sums]) as segment:
            place, *rest = segment.carried
            here, now = rest[:height], rest[height:]
            with code.loop(0, depth, 1, [place, *now]) as loop:
                loop.carry(*self._added(loop.carried, [row + loop.index for row in here]))
            place, *now = loop.results
            segment.carry(place, *[row + segment_step for row in here], *now)
        sums = segment.results[1 + height :]
        self._write(code, sums, out, out_step, code.number(lanes.count), code.number(lanes.count), left, lanes.store)
        function.end()
        return function, kinds, {"x": "step", "start": "start_step", "out": "out_step"}

    def _outer_tile(self, name: str, height: int) -> _Tile:
        lanes, each, index = self.lanes, self._each, "index"
        kinds = {"x": each, "outer_step": index, "inner_step": index, "outer": index, "inner": index, "errors": each}
        kinds |= {"pitch": index, "out": each, "out_step": index, "column_step": index, "left": index}
        function = Function(self._module, name, **kinds)
        x, outer_step, inner_step, outer, inner, errors, pitch, out, out_step, column_step, left = function.parameters
        code = function.code
        zeros = [lanes.splat(code, 0.0)] * (height * self.width)
        with code.loop(0, outer, 1, [x, errors, *zeros]) as time:
            line, place, *now = time.carried
            with code.loop(0, inner, 1, [line, place, *now]) as loop:
                row, here, *sums = loop.carried
                _, *sums = self._added([here, *sums], [row + m for m in range(height)])
                loop.carry(row + inner_step, here + pitch, *sums)
            _, place, *now = loop.results
            time.carry(line + outer_step, place, *now)

        def add(total: Vector, place: Pointer, mask: Mask | None) -> None:
            lanes.store(lanes.load(place, mask) + total, place, mask)

        self._write(code, time.results[2:], out, out_step, column_step, code.number(0), left, add)
        function.end()
        return function, kinds, {"x": None, "out": "out_step"}

    def _added(self, carried: Sequence[Any], numbers: Sequence[Pointer]) -> list[Any]:
        """The next place of a panel, and the sums with the products of numbers, one a row, and its vectors."""
        place, *sums = carried
        vectors = [self.lanes.load(place + n * self.lanes.count) for n in range(self.width)]
        new = []
        for m, number in enumerate(numbers):
            spread = self.lanes.broadcast(number)
            new += [spread.fma(vector, sums[m * self.width + n]) for n, vector in enumerate(vectors)]
        return [place + self.width * self.lanes.count, *new]

    def _write(
        self,
        code: Code,
        sums: Sequence[Vector],
        out: Pointer,
        out_step: Index,
        column_step: Index,
        taken: Index,
        left: Index,
        write: Callable[[Vector, Pointer, Mask | None], Any],
    ) -> None:
        """Hand each vector to ``write``, with its place and a mask of the columns that are left.

        Each vector takes some from those that are left for the next one.
        """
        lanes, width = self.lanes, self.width

        def each(masks: Sequence[Mask | None]) -> None:
            row = out
            for m in range(len(sums) // width):
                place = row
                for n, mask in enumerate(masks):
                    write(sums[m * width + n], place, mask)
                    place = place + column_step
                row = row + out_step

        is_whole = left >= taken * (width - 1) + lanes.count
        with code.when(is_whole):
            each([None] * width)
        with code.when(~is_whole):
            each([lanes.first(left - taken * n) for n in range(width)])
