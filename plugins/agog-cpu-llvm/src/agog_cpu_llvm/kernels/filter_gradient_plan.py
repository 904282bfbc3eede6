"""Filter gradient plan: how the pixels and the sums of a filter's gradient are divided into tiles and turns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby, product
from typing import Any

import numpy as np

from agog_cpu_llvm.registers import Register, register

Shape = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]

STEPS = ("a_column", "a_row", "a_image", "b_column", "b_row", "b_image", "pitch")
"""Numbers from a column, row or image to the next in each array, and from a row of sums to the next."""

SIZES = (
    *("turns", "chunks", "regions", "parts", "slices", "images", "group", "width", "size", "short", *STEPS),
    *("padded", "pad_rows", "pad_run", "pad_row", "pad_image", "pad_first", "source_row", "source_image"),
    *("a_ahead", "b_ahead"),  # numbers of a group of images that are asked for in the order in which they lie
)
"""The words that are sizes. A turn is a chunk of the sums, of a region of the images in a part of the batch."""

FIELDS = ("block", "end", "tile", "a", "b", "sums", "low", "high", "columns")
"""Of a tile in the table: which columns of the sums, what it is, where its numbers lie, the rows that it has.

`SCATTERED` offsets follow.
"""

SCATTERED = 8
"""Numbers of a tile at most that do not lie side by side."""

_PIXELS = 196  # that a tile sums in one go: they stay in the first cache, or nearly, and rounding stays small
_SHARED_PIXELS = 56
_CHUNK = 1 << 20  # bytes of sums that a turn works on, half of a second cache
_PARTS = 2 << 20  # bytes of sums of all parts of the batch
_AHEAD = 1 << 20  # bytes of images that are read ahead, since tiles read some numbers of each pixel at a time
_TURNS = 8  # that there are at least, where the filter is large enough


@dataclass(frozen=True)
class Plan:
    """What a call of a form takes.

    Args:
        sizes: as words.
        table: limits of chunks, slices and tiles, as the module reads them.
        parts: of the batch and of images, each with sums of its own.
        scratch: bytes of memory for a thread.
        is_swapped: whether the sums lie with inputs last, since there are few outputs.
        shared: the channels of a group, where several share a vector, else none.
        vectors: of a tile at most.
    """

    sizes: Shape
    turns: int
    table: Any
    parts: int
    scratch: int
    is_swapped: bool
    shared: int
    vectors: int


def tall(register: Register, vectors: int) -> tuple[int, ...]:
    """How many numbers tiles have: with one or two vectors each, they fill 32 registers or 16."""
    if register.bytes == 64:
        return (1, 2, 4, 8, 16, 28) if vectors == 1 else (1, 2, 4, 8, 12, 14)
    return (1, 2, 4, 8, 12) if vectors == 1 else (1, 2, 4, 6)


def neighbours(register: Register, shared: int) -> tuple[int, ...]:
    """How many places tiles have whose vectors are shared by groups of so many channels: each has a row for each."""
    if shared > 1:
        return tuple(range(1, min(SCATTERED, tall(register, 2)[-1] // shared) + 1))
    if shared:
        return (1, 2, 3, 5, 7) if register.bytes == 64 else (1, 2, 3, 5)
    return tuple(n for n in tall(register, 2) if n <= SCATTERED)


def kind(height: int, is_scattered: bool) -> int:
    """The number of a tile in the table."""
    return height + 32 * is_scattered


@lru_cache(maxsize=256)
def plan(
    dtype: str,
    input: Shape,
    gradient: Shape,
    filter: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int,
) -> Plan | None:
    """The plan of a form, or None where it is not taken."""
    if len(input) > 5 or not math.prod(input) or not math.prod(gradient) or not math.prod(filter):
        return None
    return _Planner(register(dtype), input, gradient, filter, strides, paddings, dilations, groups).plan()


class _Planner:
    """A form over three axes, of which the last two are rows and columns, and how it is divided."""

    def __init__(
        self,
        wide: Register,
        input: Shape,
        gradient: Shape,
        filter: Shape,
        strides: Shape,
        paddings: Pairs,
        dilations: Shape,
        groups: int,
    ) -> None:
        ones = (1,) * (5 - len(input))
        self.lanes, self.groups = wide, groups
        self.images, self.depth, self.height, self.width, self.channels = input[0], *ones, *input[1:]
        self.planes, self.rows, self.columns, self.outputs = *ones, *gradient[1:]
        *self.window, self.inner, _ = *ones, *filter
        self.strides, self.dilations = (*ones, *strides), (*ones, *dilations)
        self.before = [*(0 for _ in ones), *(low for low, _ in paddings)]
        self.outer = self.outputs // groups
        self.short = 0
        is_square = self.inner == self.outer and self.inner < wide.count and wide.count % self.inner == 0
        is_depthwise = groups > 1 and self.inner == 1
        self.shared = self.inner if is_depthwise or (groups > 1 and is_square) else 0
        self.pixels = _PIXELS
        if self.shared:  # all channels at once, of fewer pixels, since both arrays are read for each tile
            self.groups, self.outer, self.pixels = 1, self.outputs, _SHARED_PIXELS
        self.is_swapped = not self.shared and self.outer < wide.count and self.inner > self.outer
        width = self.inner if self.is_swapped else self.outer
        self.vectors = 1 if width <= wide.count and not self.shared else 2
        narrow = self.inner < SCATTERED and not (self.is_swapped or self.shared) and groups == 1
        self.is_padded = narrow and (any(self.before) or any(high for _, high in paddings))
        self.is_narrow = narrow

    def plan(self) -> Plan | None:
        """The sizes and the table."""
        is_single = math.prod(self.window) == math.prod(self.strides) == 1 and not (self.is_narrow or self.shared)
        if is_single and (self.planes, self.rows, self.columns) == (self.depth, self.height, self.width):
            self._flatten()
        slices = list(self._slices())
        tiles = self._tiles()
        if not slices or not tiles:
            return None
        size = math.prod(self.window) * self.inner * self.outputs
        pixels, itemsize = self.rows * self.columns, self.lanes.itemsize
        group = max(1, min(self.images, round(self.pixels / pixels)))
        most = max(1, min(16, _PARTS // (size * itemsize)))
        parts = min(-(-self.images // group), most)
        regions = min(len(self._segments()), most // parts)
        starts = sorted(tiles)  # where the sums begin that some tiles have together, which lie side by side
        chunks = min(len(starts), max(-(-size * itemsize // _CHUNK), -(-_TURNS // (parts * regions))))
        if len(slices) > 1:  # they have the same tiles, and each its own plane of the filter
            chunks = 1
        width = 2 * self.lanes.count if self.shared else size
        blocks = range(0, self.outputs if self.shared else 1, width)
        limits: list[int] = []
        rows: list[tuple[int, ...]] = []
        for region, chunk in product(range(regions), range(chunks)):
            first, end = len(starts) * chunk // chunks, len(starts) * (chunk + 1) // chunks
            begin, stop = starts[first] if chunk else 0, starts[end] if end < len(starts) else size
            here = [tile for start in starts[first:end] for tile in tiles[start]]
            here = [tile for tile in here if tile[0] * regions // len(self._segments()) == region]
            # One segment behind the other, and of each one block of channels, where all tiles read the same ones.
            ordered = sorted([(segment, block, fields) for segment, fields in here for block in blocks], key=_first_two)
            limits += [len(rows), len(rows) + len(ordered), begin, stop - begin]
            rows += [(block, block + width, *fields) for _, block, fields in ordered]
        values = [*limits, *(n for each in slices for n in each), *(n for each in rows for n in each)]
        sizes = self._sizes() | {
            "turns": parts * regions * chunks,
            "chunks": chunks,
            "regions": regions,
            "parts": parts,
            "slices": len(slices),
            "images": self.images,
            "group": group,
            "size": size,
            "short": self.short,
        }
        ahead = group * sizes["source_image"], group * sizes["b_image"]
        skips = not (self.is_narrow or self.shared)  # else arrays are read as they lie anyway
        if skips and sum(ahead) * itemsize <= _AHEAD and self.planes == self.depth == 1:
            sizes |= {"a_ahead": ahead[0], "b_ahead": ahead[1]}
        scratch = (group * sizes["pad_image"] + self.lanes.count) * itemsize
        words = tuple([sizes.get(name, 0) for name in SIZES])
        table = np.array(values, np.int64)
        return Plan(words, sizes["turns"], table, parts * regions, scratch, self.is_swapped, self.shared, self.vectors)

    def _flatten(self) -> None:
        """Take the pixels of all images as images of one row each, whose last may be shorter."""
        pixels = self.images * self.planes * self.rows * self.columns
        columns = min(pixels, _PIXELS)
        self.images = -(-pixels // columns)
        self.short = self.images * columns - pixels
        self.depth = self.height = self.planes = self.rows = 1
        self.width = self.columns = columns

    def _inside(self, axis: int, place: int) -> tuple[int, int]:
        """Of the outputs along an axis the first whose window has a place of its inside the input, and the end."""
        size, count = (self.depth, self.height, self.width)[axis], (self.planes, self.rows, self.columns)[axis]
        first, stride = place * self.dilations[axis] - self.before[axis], self.strides[axis]
        return max(0, -(first // stride)), min(count, (size - 1 - first) // stride + 1)

    def _slices(self) -> Iterator[tuple[int, int, int]]:
        """Of each pair of planes where its numbers begin in ``a``, in ``b`` and in the sums."""
        window = self.window[1] * self.window[2] * self.inner * self.outputs
        for place in range(self.window[0]):
            for output in range(*self._inside(0, place)):
                depth = output * self.strides[0] + place * self.dilations[0] - self.before[0]
                x, g = (
                    depth * self.height * self.width * self.channels,
                    output * self.rows * self.columns * self.outputs,
                )
                yield (g, x, place * window) if self.is_swapped else (x, g, place * window)

    def _pitches(self) -> tuple[int, int]:
        """Numbers of the input from a row to the next and from a plane to the next, with padding where it is copied."""
        width, height = self.width, self.height
        if self.is_padded:
            ends = [
                max(size + low, (count - 1) * stride + (window - 1) * dilation + 1)
                for size, low, count, stride, window, dilation in zip(
                    (height, width),
                    self.before[1:],
                    (self.rows, self.columns),
                    self.strides[1:],
                    self.window[1:],
                    self.dilations[1:],
                    strict=True,
                )
            ]
            height, width = ends
        return width * self.channels, height * width * self.channels

    def _sizes(self) -> dict[str, int]:
        row, image = self._pitches()
        whole = self.depth * self.height * self.width * self.channels
        x = self.strides[2] * self.channels, self.strides[1] * row, image if self.is_padded else whole
        pixels = self.columns * self.outputs
        g = self.outputs, pixels, self.planes * self.rows * pixels
        a, b = (g, x) if self.is_swapped else (x, g)
        sizes = dict(zip(("a_column", "a_row", "a_image", "b_column", "b_row", "b_image"), (*a, *b), strict=True))
        sizes["width"] = self.inner if self.is_swapped else self.outer
        sizes["pitch"] = self.inner if self.is_swapped else self.outputs
        sizes["source_image"] = g[2] if self.is_swapped else whole
        sizes["pad_image"] = 0
        if self.is_padded:
            sizes |= {
                "padded": 1,
                "pad_rows": self.height,
                "pad_run": self.width * self.channels,
                "pad_row": row,
                "pad_image": image,
                "pad_first": self.before[1] * row + self.before[2] * self.channels,
                "source_row": self.width * self.channels,
            }
        return sizes

    def _tiles(self) -> dict[int, list[tuple[int, tuple[int, ...]]]]:
        """The tiles by where the sums begin that some have together: each with its segment and its fields."""
        tiles: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        row, _ = self._pitches()
        every = (0, self.rows), (0, self.columns)
        if self.is_narrow:  # the places of the whole window, since those of one pixel are few
            offsets = [
                i * self.dilations[1] * row + j * self.dilations[2] * self.channels + n
                for i, j, n in product(range(self.window[1]), range(self.window[2]), range(self.inner))
            ]
            for first, height in _divided(len(offsets), neighbours(self.lanes, 0)):
                places = offsets[first : first + height]
                start = first * self.outputs
                tiles[start] = self._segmented(kind(height, True), 0, 0, start, *every, places)
            return tiles
        if self.shared:
            return self._shared_tiles(row)
        for i, j, group in product(range(self.window[1]), range(self.window[2]), range(self.groups)):
            x = (i * self.dilations[1] - self.before[1]) * row + group * self.inner
            x += (j * self.dilations[2] - self.before[2]) * self.channels
            g, place = group * self.outer, i * self.window[2] + j
            inside = self._inside(1, i), self._inside(2, j)
            for first, height in _divided(
                self.outer if self.is_swapped else self.inner, tall(self.lanes, self.vectors)
            ):
                if self.is_swapped:
                    start = to = (place * self.outputs + group * self.outer + first) * self.inner
                    segments = self._segmented(height, g + first, x, to, *inside)
                else:
                    start = (place * self.inner + first) * self.outputs
                    segments = self._segmented(height, x + first, g, start + group * self.outer, *inside)
                if segments:
                    tiles.setdefault(start, []).extend(segments)
        return tiles

    def _shared_tiles(self, row: int) -> dict[int, list[tuple[int, tuple[int, ...]]]]:
        """Tiles of neighbouring places where all of them lie inside the input, and of some of them in what is left."""
        tiles: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        step = self.dilations[2] * self.channels
        heights = neighbours(self.lanes, self.shared)
        for i, (first, height) in product(range(self.window[1]), _divided(self.window[2], heights)):
            x = (i * self.dilations[1] - self.before[1]) * row - self.before[2] * self.channels + first * step
            start = (i * self.window[2] + first) * self.inner * self.outputs
            rows = self._inside(1, i)
            columns = [self._inside(2, first + n) for n in range(height)]
            left, right = max(low for low, _ in columns), min(high for _, high in columns)
            parts = [((left, right), 0, height)]
            beside = [
                [(low, min(left, high)) for low, high in columns],
                [(max(right, low), high) for low, high in columns],
            ]
            for ends in beside if left < right else [columns]:
                for end, places in groupby(range(height), ends.__getitem__):
                    n, *more = places
                    parts += [(end, n + at, count) for at, count in _divided(1 + len(more), heights)]
            tiles[start] = []
            for taken, n, count in parts:
                to, offsets = start + n * self.inner * self.outputs, [m * step for m in range(count)]
                tiles[start] += self._segmented(kind(count, True), x + n * step, 0, to, rows, taken, offsets)
        return {start: several for start, several in tiles.items() if several}

    def _segments(self) -> list[tuple[int, int, int, int]]:
        """Parts of the output: first row, end, first column, end; each is a sum in registers."""
        columns = min(self.columns, self.pixels + self.pixels // 4)
        rows = max(2 if self.shared else 1, round(self.pixels / columns))
        return [
            (row, min(self.rows, row + rows), column, min(self.columns, column + columns))
            for row, column in product(range(0, self.rows, rows), range(0, self.columns, columns))
        ]

    def _segmented(
        self,
        number: int,
        a: int,
        b: int,
        to: int,
        rows: tuple[int, int],
        columns: tuple[int, int],
        places: Sequence[int] = (),
    ) -> list[tuple[int, tuple[int, ...]]]:
        """A tile in each segment of the output, without the rows and columns outside of its own."""
        g, x = self.outputs, self.strides[2] * self.channels
        steps = (g, x) if self.is_swapped else (x, g)
        out = []
        for segment, (top, bottom, left, right) in enumerate(self._segments()):
            low, high = max(top, rows[0]), min(bottom, rows[1])
            first, end = max(left, columns[0]), min(right, columns[1])
            if low < high and first < end:
                fields = number, a + first * steps[0], b + first * steps[1], to, low, high, end - first
                out.append((segment, (*fields, *places, *[0] * (SCATTERED - len(places)))))
        return out


def _first_two(tile: tuple[Any, ...]) -> tuple[Any, ...]:
    return tile[:2]


@cache
def _divided(size: int, heights: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """The tiles of so many numbers, (first, height) each, that take the least time: a short one waits for its sums."""
    best: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    for end in range(1, size + 1):
        best.append(min((best[end - n][0] + max(n, 4) + 1, (n, *best[end - n][1])) for n in heights if n <= end))
    out, first = [], 0
    for height in sorted(best[size][1], reverse=True):
        out.append((first, height))
        first += height
    return tuple(out)
