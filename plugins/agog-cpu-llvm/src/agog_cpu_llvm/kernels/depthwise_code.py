"""Depthwise code: the module of convolutions over three axes whose outputs have one channel each as their source.

A tile is a few neighbouring pixels of a row in one or two vectors of channels. It goes over the places of the window
that lie inside the input: nothing is padded or copied. Pixels near the ends of a row, which have fewer of them, are
tiles of their own. Of windows with three columns, neighbouring pixels share what they read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_cpu_llvm.tiles import Code, Function, Index, Lanes, Mask, Pointer, Vector, Words, entry

SIZES = (
    *("turns", "planes", "rows", "columns", "bands", "band"),  # of the output; a turn is a band of rows of a plane
    *("depth", "height", "width", "channels"),  # of the input
    *("window_planes", "window_rows", "window_columns"),
    *("plane_stride", "row_stride", "column_stride", "plane_dilation", "row_dilation", "column_dilation"),
    *("front", "top", "left"),
    *("inner_first", "inner_end"),  # columns whose windows lie inside the input
    *("out_image", "out_plane", "out_row", "out_pixel"),  # numbers from one to the next
)
"""The words that are sizes."""

_PIXELS = (8, 4, 2, 1)
_SHARING = (8, 4)
_COLUMNS = 3  # of the windows of pixels that share what they read
_STEPS = ("plane_step", "row_step", "place_step", "pixel_step", "weights_plane", "weights_row", "channels", "out_step")


def write(module: Any, dtype: str, lanes: Lanes) -> None:
    """Write the entry ``depthwise``."""
    tiles = {}
    for pixels in _PIXELS:
        for number, (vectors, is_whole) in enumerate(((2, True), (2, False), (1, False))):
            tiles[pixels + 16 * number] = _tile(module, dtype, lanes, pixels, vectors, is_whole)
            if pixels in _SHARING:
                tiles[pixels + 16 * number + 64] = _tile(module, dtype, lanes, pixels, vectors, is_whole, shares=True)
    arrays = dict.fromkeys(("x", "filter", "out"), f"*{dtype}")
    with (
        entry(module, "depthwise", {**arrays, **dict.fromkeys(SIZES, "index")}) as (code, words, _),
        code.turns(words.counter, words.turns) as turn,
    ):
        part, band = turn // words.bands, turn % words.bands
        image, plane = part // words.planes, part % words.planes
        first = band * words.band
        source = words.x + image * words.depth * words.height * words.width * words.channels
        with code.loop(first, (first + words.band).least(words.rows)) as row:
            target = words.out + image * words.out_image + plane * words.out_plane + row.index * words.out_row
            _write_row(code, words, lanes, tiles, source, target, plane, row.index)


def _inside(words: Words, turn: Index, size: Index, axis: str, before: Index) -> tuple[Index, Index, Index]:
    """Of a window's places along an axis: the first one inside the input, their number, and where that one lies."""
    dilation, window = words[f"{axis}_dilation"], words[f"window_{axis}s"]
    begin = turn * words[f"{axis}_stride"] - before
    first = ((0 - begin).most(0) + dilation - 1) // dilation
    end = ((size - begin).most(0) + dilation - 1) // dilation
    return first, (end.least(window) - first).most(0), begin + first * dilation


def _write_row(
    code: Code,
    words: Words,
    lanes: Lanes,
    tiles: Mapping[int, Function],
    source: Pointer,
    target: Pointer,
    plane: Index,
    row: Index,
) -> None:
    z, planes, depth = _inside(words, plane, words.depth, "plane", words.front)
    y, rows, height = _inside(words, row, words.height, "row", words.top)
    line = words.width * words.channels
    source = source + (depth * words.height + height) * line
    weights_row = words.window_columns * words.channels
    weights_plane = words.window_rows * weights_row
    weights = words.filter + z * weights_plane + y * weights_row
    steps = (
        words.plane_dilation * words.height * line,
        words.row_dilation * line,
        words.column_dilation * words.channels,
        words.column_stride * words.channels,
        *(weights_plane, weights_row, words.channels, words.out_pixel),
    )

    is_next = words.column_stride.equals(words.column_dilation) & words.window_columns.equals(_COLUMNS)
    sharing = is_next.select(code.number(64), code.number(0))

    def pixels(first: Index | int, end: Index, count: int) -> None:
        """Tiles of so many pixels, for all channels."""
        with code.loop(first, end, count, may_be_empty=True) as column:
            x, places, begin = _inside(words, column.index, words.width, "column", words.left)
            pixel, taps = source + begin * words.channels, weights + x * words.channels
            with code.loop(0, words.channels, 2 * lanes.count) as block:
                left = words.channels - block.index
                number = (left > lanes.count).select(code.number(16), code.number(32))
                number = (left >= 2 * lanes.count).select(code.number(0), number)
                arrays = pixel, taps, target + column.index * words.out_pixel
                code.choose(
                    number + count + (sharing if count in _SHARING else 0),
                    {case: tile for case, tile in tiles.items() if case % 16 == count},
                    *(array + block.index for array in arrays),
                    *(planes, rows, places, left, *steps),
                )

    pixels(0, words.inner_first, 1)
    first = words.inner_first
    for count in _PIXELS:
        end = first + (words.inner_end - first) // count * count
        pixels(first, end, count)
        first = end
    pixels(words.inner_end, words.columns, 1)


def _tile(
    module: Any, dtype: str, lanes: Lanes, pixels: int, vectors: int, is_whole: bool, shares: bool = False
) -> Function:
    """The function of a tile with so many pixels and vectors, whose last lanes are left out if it is not whole.

    Where it shares, a row of the window has `_COLUMNS` places, and a pixel's are the next pixel's but one.
    """
    tile = Function(
        module,
        f"tile{pixels}x{vectors}{'' if is_whole else '_masked'}{'_sharing' if shares else ''}",
        **dict.fromkeys(("x", "filter", "out"), f"*{dtype}"),
        **dict.fromkeys(("planes", "rows", "places", "left", *_STEPS), "index"),
    )
    code = tile.code
    x, weights, out, planes, rows, places, left, *steps = tile.parameters
    plane_step, row_step, place_step, pixel_step, weights_plane, weights_row, channels, out_step = steps
    masks = [None if is_whole else lanes.first(left - n * lanes.count) for n in range(vectors)]
    start = [lanes.splat(code, 0.0)] * (pixels * vectors)
    with code.loop(0, planes, carried=[x, weights, *start], may_be_empty=True) as over_planes:
        x_plane, w_plane, *sums = over_planes.carried
        with code.loop(0, rows, carried=[x_plane, w_plane, *sums], may_be_empty=True) as over_rows:
            x_row, w_row, *sums = over_rows.carried
            if shares:
                new = _row(lanes, x_row, w_row, place_step, channels, sums, masks)
            else:
                with code.loop(0, places, carried=[x_row, w_row, *sums], may_be_empty=True) as over_places:
                    x_here, w_here, *sums = over_places.carried
                    weight = [lanes.load(w_here + n * lanes.count, mask) for n, mask in enumerate(masks)]
                    pixel, new = x_here, []
                    for m in range(pixels):
                        for n, mask in enumerate(masks):
                            number = lanes.load(pixel + n * lanes.count, mask)
                            new.append(number.fma(weight[n], sums[m * vectors + n]))
                        pixel = pixel + pixel_step
                    over_places.carry(x_here + place_step, w_here + channels, *new)
                new = over_places.results[2:]
            over_rows.carry(x_row + row_step, w_row + weights_row, *new)
        over_planes.carry(x_plane + plane_step, w_plane + weights_plane, *over_rows.results[2:])
    for m in range(pixels):
        for n, mask in enumerate(masks):
            lanes.store(over_planes.results[2 + m * vectors + n], out + n * lanes.count, mask)
        out = out + out_step
    tile.end()
    return tile


def _row(
    lanes: Lanes,
    x: Pointer,
    weights: Pointer,
    step: Index,
    channels: Index,
    sums: list[Vector],
    masks: list[Mask | None],
) -> list[Vector]:
    """Sums of neighbouring pixels with the products of a row of their windows; each number is read once."""
    vectors, sums = len(masks), list(sums)
    pixels = len(sums) // vectors
    filters = []
    for _ in range(_COLUMNS):
        filters.append([lanes.load(weights + n * lanes.count, mask) for n, mask in enumerate(masks)])
        weights = weights + channels
    for column in range(pixels + _COLUMNS - 1):
        numbers = [lanes.load(x + n * lanes.count, mask) for n, mask in enumerate(masks)]
        for place in range(max(0, column - pixels + 1), min(_COLUMNS, column + 1)):
            for n, number in enumerate(numbers):
                at = (column - place) * vectors + n
                sums[at] = number.fma(filters[place][n], sums[at])
        x = x + step
    return sums
