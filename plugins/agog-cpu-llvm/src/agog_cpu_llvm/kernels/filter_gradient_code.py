"""Filter gradient code: the module of sums over pixels, of products of neighbouring numbers of two arrays.

A tile is a few numbers of a pixel of ``a`` times vectors of the same pixel of ``b``, summed over the pixels of some
rows of some images: neither array is packed or copied. The plan's table says which tiles there are, and which pixels of
the image each has: those outside are left out. Sums of some rows are added to sums, so that rounding stays small.

Of groups with few channels several share a vector: it is multiplied by vectors with the first, second, ... input of
each group in all lanes of the group. A depthwise convolution has groups of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_cpu_llvm.kernels.filter_gradient_plan import FIELDS, SCATTERED, SIZES, STEPS, kind, neighbours, tall
from agog_cpu_llvm.registers import BYTES
from agog_cpu_llvm.tiles import Code, Function, Index, Lanes, Mask, Pointer, Vector, Words, entry

_LINE = 64  # bytes of a line of the cache
_UNROLLED = 8  # from so many rows on, two pixels at a time are a tenth faster
_FEW = 12  # sums of a tile at most that are kept twice, since each product waits for the one before it


def write(module: Any, dtype: str, lanes: Lanes, shared: int, vectors: int) -> None:
    """Write the entry ``filter_gradient``, where groups of so many channels share a vector, or vectors are of one.

    Tiles have so many vectors at most.
    """
    tiles = {}
    forms = ((1, True), (1, False)) if vectors == 1 else ((2, True), (2, False), (1, False))
    for is_scattered in (True,) if shared else (False, True):
        for height in neighbours(lanes, shared) if is_scattered else tall(lanes, vectors):
            for number, (width, is_whole) in enumerate(forms):
                case = kind(height, is_scattered) + 64 * number
                tiles[case] = _tile(module, dtype, lanes, height, width, is_whole, is_scattered, shared)
    arrays = {"a": f"*{dtype}", "b": f"*{dtype}", "sums": f"*{dtype}", "table": "*int64"}
    with entry(module, "filter_gradient", {**arrays, **dict.fromkeys(SIZES, "index")}) as (code, words, scratch):
        memory = scratch.seen_as(dtype)
        with code.loop(0, words.group * words.pad_image, lanes.count, may_be_empty=True) as loop:
            lanes.store(lanes.splat(code, 0.0), memory + loop.index)  # of which the padding stays zero
        with code.turns(words.counter, words.turns) as turn:
            _write_turn(code, words, memory, turn, lanes, tiles, shared, vectors)


def _write_turn(
    code: Code,
    words: Words,
    memory: Pointer,
    turn: Index,
    lanes: Lanes,
    tiles: Mapping[int, Function],
    shared: int,
    vectors: int,
) -> None:
    number, pieces = turn // words.chunks, words.regions * words.chunks
    part = number // words.regions
    limits = words.table + turn % pieces * 4
    first, end, start, count = (((limits + n).integer()) for n in range(4))
    slices = words.table + pieces * 4
    table = slices + words.slices * 3
    sums = words.sums + number * words.size
    with code.loop(0, count, lanes.count) as loop:
        mask = lanes.first(count - loop.index)
        lanes.store(lanes.splat(code, 0.0), sums + start + loop.index, mask)
    begin, stop = part * words.images // words.parts, (part + 1) * words.images // words.parts
    with code.loop(0, words.slices) as each, code.loop(begin, stop, words.group) as image:
        a_first, b_first, sums_first = (((slices + each.index * 3 + n).integer()) for n in range(3))
        images = words.group.least(stop - image.index)
        short = (image.index + images).equals(words.images).select(words.short, code.number(0))
        source = words.a + a_first + image.index * words.source_image
        for place, count in ((source, words.a_ahead), (words.b + b_first + image.index * words.b_image, words.b_ahead)):
            with code.loop(0, count, _LINE // BYTES[place.dtype], may_be_empty=True) as line:
                (place + line.index).prefetch()
        is_padded = words.padded > 0
        with code.when(is_padded):
            _copy(code, words, source, memory, images, lanes)
        a, b = is_padded.select(memory, source), words.b + b_first + image.index * words.b_image
        with code.loop(first, end, may_be_empty=True) as tile:
            here = table + tile.index * (len(FIELDS) + SCATTERED)
            begin, stop, case, to_a, to_b, to_sums, low, high, columns = (
                ((here + n).integer()) for n in range(len(FIELDS))
            )
            with code.loop(begin, stop.least(words.width), vectors * lanes.count) as block:
                left = words.width - block.index
                number = code.number(64)
                if vectors == 2:
                    number = (left > lanes.count).select(number, code.number(128))
                number = (left >= vectors * lanes.count).select(code.number(0), number)
                code.choose(
                    case + number,
                    tiles,
                    a + to_a + low * words.a_row + (block.index if shared else 0),
                    b + to_b + low * words.b_row + block.index,
                    sums + sums_first + to_sums + block.index,
                    here + len(FIELDS),
                    *(images, high - low, columns - short, left),
                    *(words[name] for name in STEPS),
                )


def _copy(code: Code, words: Words, source: Pointer, memory: Pointer, images: Index, lanes: Lanes) -> None:
    """Copy the images of a group between rows and columns of zeros."""
    with code.loop(0, images) as image, code.loop(0, words.pad_rows) as row:
        from_ = source + image.index * words.source_image + row.index * words.source_row
        to = memory + words.pad_first + image.index * words.pad_image + row.index * words.pad_row
        with code.loop(0, words.pad_run, lanes.count) as loop:
            mask = lanes.first(words.pad_run - loop.index)
            lanes.store(lanes.load(from_ + loop.index, mask), to + loop.index, mask)


def _tile(
    module: Any,
    dtype: str,
    lanes: Lanes,
    height: int,
    vectors: int,
    is_whole: bool,
    is_scattered: bool,
    shared: int,
) -> Function:
    """The function of a tile with so many numbers or places, and vectors, of which lanes are left out if not whole."""
    tile = Function(
        module,
        f"tile{height}x{vectors}{'' if is_whole else '_masked'}{'_scattered' if is_scattered else ''}",
        **{"a": f"*{dtype}", "b": f"*{dtype}", "sums": f"*{dtype}", "offsets": "*int64"},
        **dict.fromkeys(("images", "rows", "columns", "left", *STEPS), "index"),
    )
    code = tile.code
    a, b, sums, offsets, images, rows, columns, left, *steps = tile.parameters
    a_column, a_row, a_image, b_column, b_row, b_image, pitch = steps
    masks = [None if is_whole else lanes.first(left - n * lanes.count) for n in range(vectors)]
    places = [(offsets + m).integer() if is_scattered else m for m in range(height)]
    height *= max(1, shared)
    size = height * vectors
    parts = 2 if shared and lanes.bytes == 64 and size <= _FEW else 1
    pixels = 2 if parts == 2 or (is_whole and not is_scattered and height >= _UNROLLED) else 1
    with code.loop(0, images, carried=[a, b, *[lanes.splat(code, 0.0)] * (size * parts)]) as over_images:
        a, b, *totals = over_images.carried
        with code.loop(0, rows, carried=[a, b, *totals]) as over_rows:
            a_here, b_here, *totals = over_rows.carried
            heads = [a_here + place for place in places]
            numbers = _Pixels(lanes, heads, a_column, b_column, masks, is_scattered, shared, size)
            at, b_next = code.number(0) if is_scattered else a_here, b_here
            if pixels > 1:
                at, b_next, totals = numbers.summed(code, columns // pixels, at, b_next, totals, pixels)
                columns = columns % pixels
            _, _, totals = numbers.summed(code, columns, at, b_next, totals, 1)
            over_rows.carry(a_here + a_row, b_here + b_row, *totals)
        over_images.carry(a + a_image, b + b_image, *over_rows.results[2:])
    totals = over_images.results[2:]
    if parts == 2:
        totals = [one + other for one, other in zip(totals[:size], totals[size:], strict=True)]
    for m in range(height):
        for n, mask in enumerate(masks):
            to = sums + n * lanes.count
            lanes.store(lanes.load(to, mask) + totals[m * vectors + n], to, mask)
        sums = sums + pitch
    tile.end()
    return tile


class _Pixels:
    """The pixels of a row, whose numbers lie side by side, or each behind a head of its own."""

    def __init__(
        self,
        lanes: Lanes,
        heads: list[Pointer],
        a_column: Index,
        b_column: Index,
        masks: list[Mask | None],
        is_scattered: bool,
        shared: int,
        size: int,
    ) -> None:
        self.lanes, self.heads, self.masks, self.is_scattered = lanes, heads, masks, is_scattered
        self.shared, self.size = shared, size
        self.a_column, self.b_column = a_column, b_column

    def summed(
        self, code: Code, turns: Index, at: Any, b: Pointer, totals: list[Vector], pixels: int
    ) -> tuple[Any, Pointer, list[Vector]]:
        """Add the products of so many turns, each of some pixels, from a place on; gives the place behind them.

        Of totals that are there twice, neighbouring pixels add to one and to the other.
        """
        with code.loop(0, turns, carried=[at, b, *totals], may_be_empty=True) as loop:
            at, b, *totals = loop.carried
            for pixel in range(pixels):
                first = pixel * self.size % len(totals)
                vectors = [self.lanes.load(b + n * self.lanes.count, mask) for n, mask in enumerate(self.masks)]
                several = vectors * (self.size // len(vectors))
                factors = [
                    factor
                    for m, head in enumerate(self.heads)
                    for factor in self._factors(head + at if self.is_scattered else at + m)
                ]
                now = totals[first : first + self.size]
                now = [one.fma(other, sum) for one, other, sum in zip(factors, several, now, strict=True)]
                totals = [*totals[:first], *now, *totals[first + self.size :]]
                at, b = at + self.a_column, b + self.b_column
            loop.carry(at, b, *totals)
        at, b, *totals = loop.results
        return at, b, totals

    def _factors(self, place: Pointer) -> list[Vector]:
        """What the vectors of ``b`` are multiplied by: a number, or numbers of the same groups, one after the other."""
        if not self.shared:
            return [self.lanes.broadcast(place)] * len(self.masks)
        loaded = [self.lanes.load(place + n * self.lanes.count, mask) for n, mask in enumerate(self.masks)]
        if self.shared == 1:
            return loaded
        return [vector.spread(self.shared, n) for n in range(self.shared) for vector in loaded]
