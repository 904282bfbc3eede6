"""Convolution code: the module of convolutions over three axes, whose sizes are arguments.

A tile computes some neighbouring pixels of an output row in some vectors of channels. A row of the window is one run of
numbers in the input, which lies channels last, so nothing is packed: each number of the run is spread to a register and
multiplied by a row of the filter. With dilations or groups, each place of the window is a run of its own. Columns are
padded in scratch memory; planes and rows that lie outside the input are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agog_cpu_llvm.kernels.convolution_plan import SIZES
from agog_cpu_llvm.tiles import Code, Function, Index, Lanes, Pointer, Vector, Words, entry, multiplied, words_at
from agog_cpu_llvm.tiles.exponentials import sigmoid, tanh

CURVES: dict[int, Callable[[Vector], Vector]] = {1: sigmoid, 2: tanh}
"""The activations that the word ``curve`` names; others are the limits ``low`` and ``high``."""


def kinds(dtype: str, lanes: Lanes) -> dict[str, str]:
    """The words of the entry ``forward``, in their order."""
    addresses = {"x": f"*{dtype}", "filter": f"*{lanes.dtype}", "bias": f"*{lanes.dtype}", "out": f"*{dtype}"}
    return {**addresses, **dict.fromkeys(SIZES, "index"), "low": "float64", "high": "float64", "curve": "index"}


def write(module: Any, dtype: str, lanes: Lanes, pixels: int, vectors: int) -> None:
    """Write the entries ``forward`` and ``pack``, with tiles of so many vectors, and of so many pixels or one less."""
    _write_pack(module, dtype, lanes, vectors)
    bend = _curves(module, dtype, lanes)
    heights = range(max(1, pixels - 1), pixels + 1)
    tiles = {height: _tile(module, dtype, lanes, height, vectors, bend) for height in heights}
    with entry(module, "forward", kinds(dtype, lanes)) as (code, words, scratch):
        _Forward(code, words, scratch.seen_as(lanes.dtype), lanes, tiles, vectors * lanes.count).write()


@dataclass(frozen=True)
class _Forward:
    """The loops around tiles: turns, planes and rows of the output, tiles of a row, groups and blocks of channels.

    Args:
        code, words: of the entry.
        memory: the thread's, where a turn copies its input.
        lanes: of a vector.
        tiles: the functions, by their pixels.
        block: the channels of a tile.
    """

    code: Code
    words: Words
    memory: Pointer
    lanes: Lanes
    tiles: Mapping[int, Function]
    block: int

    def write(self) -> None:
        """Write all of them."""
        code, words, lanes = self.code, self.words, self.lanes
        with code.loop(0, words.copied, lanes.count, may_be_empty=True) as loop:  # of which the padding stays zero
            lanes.store(lanes.splat(code, 0.0), self.memory + loop.index)
        with code.turns(words.counter, words.turns) as turn:
            self._write_turn(turn % words.images, turn // words.images * words.turn_blocks)

    def _write_turn(self, part: Index, block: Index) -> None:
        """A band of rows of an image, with some blocks of channels from one on."""
        code, words = self.code, self.words
        number, first = part // words.bands, part % words.bands * words.band
        end = (first + words.band).least(words.rows)
        image = words.x + (number * words.image).least(words.last_image)
        target = words.out + (number * words.out_image).least(words.out_last_image)
        begin, height = self._input_rows(first, end)
        source, plane = self.memory - begin * words.pitch, height * words.pitch
        if words.x.dtype == self.lanes.dtype:
            is_copied = words.copied > 0
            with code.when(is_copied):
                self._copy(image, begin, height)
            source, plane = is_copied.select(source, image), is_copied.select(plane, words.height * words.row)
        else:
            self._copy(image, begin, height)
        with code.loop(0, words.planes) as depth, code.loop(first, end) as row:
            z, planes = _inside(
                *(depth.index, words.plane_stride, words.front),
                *(words.plane_dilation, words.depth, words.window_planes),
            )
            y, rows = _inside(
                *(row.index, words.row_stride, words.top),
                *(words.row_dilation, words.height, words.window_rows),
            )
            plane_begin = depth.index * words.plane_stride - words.front + z * words.plane_dilation
            row_begin = row.index * words.row_stride - words.top + y * words.row_dilation
            x = source + plane_begin * plane + row_begin * words.pitch
            weights = words.filter + (z * words.window_rows + y) * words.taps * words.run * words.filter_pitch
            out = target + depth.index * words.out_plane + row.index * words.out_row
            self._write_row(x, weights, out, block, planes, rows, plane)

    def _input_rows(self, first: Index, end: Index) -> tuple[Index, Index]:
        """Of the rows of input that a band of output reads the first, and their number."""
        words = self.words
        begin = (first * words.row_stride - words.top).most(0)
        extent = (words.window_rows - 1) * words.row_dilation + 1
        height = ((end - 1) * words.row_stride - words.top + extent).least(words.height) - begin
        return begin, height.most(0)

    def _copy(self, image: Pointer, begin: Index, height: Index) -> None:
        """Copy rows of the input between columns of zeros."""
        code, words, lanes = self.code, self.words, self.lanes
        whole = words.row // lanes.count * lanes.count
        with code.loop(0, words.depth) as depth, code.loop(0, height, may_be_empty=True) as row:
            source = image + (depth.index * words.height + begin + row.index) * words.row
            target = self.memory + (depth.index * height + row.index) * words.pitch + words.left
            with code.loop(0, whole, lanes.count, may_be_empty=True) as loop:
                lanes.store(lanes.load(source + loop.index), target + loop.index)
            with code.when(whole < words.row):
                mask = lanes.first(words.row - whole)
                lanes.store(lanes.load(source + whole, mask), target + whole, mask)

    def _write_row(
        self, x: Pointer, weights: Pointer, out: Pointer, begin: Index, planes: Index, rows: Index, plane: Index
    ) -> None:
        """Tiles of about the same height along a row of output, each with all its channels."""
        code, words = self.code, self.words
        small, more = words.columns // words.tiles, words.columns % words.tiles
        step = plane * words.plane_dilation
        skip = (words.window_rows - rows) * words.taps * words.run * words.filter_pitch
        with code.loop(0, words.tiles) as loop, code.loop(0, words.groups) as group:
            pixel = loop.index * small + loop.index.least(more)
            height = (loop.index < more).select(small + 1, small)
            source = x + pixel * words.pixel + group.index * words.group_inputs
            target = out + pixel * words.out_pixel
            kernel = weights + group.index * words.filter_group
            with code.loop(begin, (begin + words.turn_blocks).least(words.group_blocks)) as block:
                channel = block.index * self.block
                n = group.index * words.group_outputs + channel
                pointers = source, kernel + block.index * words.filter_block, words.bias + n, target + n
                left = words.group_outputs - channel
                code.choose(height, self.tiles, words.counter, *pointers, planes, rows, step, skip, left)


def _inside(
    turn: Index, stride: Index, before: Index, dilation: Index, size: Index, window: Index
) -> tuple[Index, Index]:
    """Of a window's places along an axis the first one inside the input, and the number of those inside."""
    above = (before - turn * stride).most(0)
    below = (size + before - turn * stride).most(0)
    first = ((above + dilation - 1) // dilation).least(window)
    end = ((below + dilation - 1) // dilation).least(window)
    return first, (end - first).most(0)


PACKED = {"rows": "index", "columns": "index", "groups": "index", "blocks": "index"}


def packed_kinds(dtype: str, lanes: Lanes) -> dict[str, str]:
    """The words of the entry ``pack``, in their order; columns and blocks are those of one group."""
    return {"filter": f"*{dtype}", "packed": f"*{lanes.dtype}", **PACKED}


def _write_pack(module: Any, dtype: str, lanes: Lanes, vectors: int) -> None:
    """Write the entry ``pack``: each block of the filter's columns lies behind the other, filled up with zeros.

    Else a tile reads few numbers of each page of a large filter, and always the same sets of a cache.
    """
    with (
        entry(module, "pack", packed_kinds(dtype, lanes)) as (code, words, _),
        code.turns(words.counter, words.groups * words.blocks) as turn,
    ):
        channel = turn % words.blocks * (vectors * lanes.count)
        masks = [lanes.first(words.columns - channel - n * lanes.count) for n in range(vectors)]
        width = words.groups * words.columns
        source = words.filter + turn // words.blocks * words.columns + channel
        target = words.packed + turn * words.rows * (vectors * lanes.count)
        with code.loop(0, words.rows, carried=[source, target]) as loop:
            source, target = loop.carried
            for n, mask in enumerate(masks):
                lanes.store(lanes.load(source + n * lanes.count, mask), target + n * lanes.count)
            loop.carry(source + width, target + vectors * lanes.count)


def _tile(module: Any, dtype: str, lanes: Lanes, pixels: int, vectors: int, bend: Function) -> Function:
    """The function of a tile with so many pixels, and vectors of which some lanes may be left out."""
    compute = f"*{lanes.dtype}"
    tile = Function(
        module,
        f"tile{pixels}",
        **{"words": "*int64", "x": compute, "filter": compute, "bias": compute, "out": f"*{dtype}"},
        **dict.fromkeys(("planes", "rows", "plane", "skip", "channels"), "index"),
    )
    code = tile.code
    place, x, weights, bias, out, planes, rows, plane, skip, channels = tile.parameters
    used = ("taps", "run", "filter_pitch", "row_dilation", "pitch", "pixel", "tap", "out_pixel", "low", "high", "curve")
    words = words_at(place, kinds(dtype, lanes), *used)
    row_step = words.row_dilation * words.pitch
    masks = [lanes.first(channels - n * lanes.count) for n in range(vectors)]
    start = [lanes.load(bias + n * lanes.count, mask) for n, mask in enumerate(masks)]
    pointers = [x]
    for _ in range(3, pixels, 3):
        pointers.append(pointers[-1] + words.pixel * 3)
    between = [words.pixel, words.pixel * 2][: pixels - 1]
    zero = code.number(0)
    with code.loop(0, planes, carried=[zero, weights, *start * pixels], may_be_empty=True) as over_planes:
        plane_offset, weights, *sums = over_planes.carried
        with code.loop(0, rows, carried=[plane_offset, weights, *sums], may_be_empty=True) as over_rows:
            row_offset, weights, *sums = over_rows.carried
            with code.loop(0, words.taps, carried=[row_offset, weights, *sums]) as over_taps:
                offset, weights, *sums = over_taps.carried
                end = offset + words.run
                sums, weights = multiplied(
                    code, sums, pointers, offset, end, weights, words.filter_pitch, vectors, between
                )
                over_taps.carry(offset + words.tap, weights, *sums)
            _, weights, *sums = over_taps.results
            over_rows.carry(row_offset + row_step, weights, *sums)
        _, weights, *sums = over_rows.results
        over_planes.carry(plane_offset + plane, weights + skip, *sums)
    _, _, *sums = over_planes.results
    low, high = (lanes.splat(code, lanes.converted(limit)) for limit in (words.low, words.high))
    first = out
    for m in range(pixels):
        for n, mask in enumerate(masks):
            value = sums[m * vectors + n]
            value = (value < low).select(low, value)  # NaN stays
            value = (value > high).select(high, value)
            lanes.store(value, out + n * lanes.count, mask)
        out = out + words.out_pixel
    with code.when(words.curve > 0):
        bend(first, code.number(pixels), words.out_pixel, channels.least(vectors * lanes.count), words.curve)
    tile.end()
    return tile


def _curves(module: Any, dtype: str, lanes: Lanes) -> Function:
    """The function that applies a curved activation to the pixels of a tile, which are in the first cache still."""
    kinds = {"out": f"*{dtype}", **dict.fromkeys(("pixels", "step", "channels", "curve"), "index")}
    function = Function(module, "curves", **kinds)
    out, pixels, step, channels, curve = function.parameters
    for number, activation in CURVES.items():
        with (
            function.code.when(curve.equals(number)),
            function.code.loop(0, pixels) as pixel,
            function.code.loop(0, channels, lanes.count) as channel,
        ):
            place = out + pixel.index * step + channel.index
            mask = lanes.first(channels - channel.index)
            lanes.store(activation(lanes.load(place, mask)), place, mask)
    function.end()
    return function
