"""Register tile: products of a few rows with a few vectors, summed in registers, from which kernels are made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from agog_cpu_llvm.tiles.code import Code
from agog_cpu_llvm.tiles.values import Index, Pointer
from agog_cpu_llvm.tiles.vectors import Lanes, Mask, Vector

__all__ = ["height", "multiplied", "widest"]


def height(lanes: Lanes, vectors: int) -> int:
    """The rows of the largest tile of so many vectors whose sums fit into registers, with a row's vectors.

    With one register too many it takes three times as long. A processor with vectors of 64 bytes has 32 registers,
    others have 16 (x86), or 32 (ARM, which so takes the smaller tile too).
    """
    if lanes.count * (8 if lanes.is_double else 4) == 64:
        return {1: 14, 2: 14, 4: 6}[vectors]
    return {1: 12, 2: 6}[vectors]


def widest(lanes: Lanes) -> int:
    """The vectors of the tile that reads a row's numbers least often."""
    return 4 if lanes.count * (8 if lanes.is_double else 4) == 64 else 2


def multiplied(
    code: Code,
    sums: Sequence[Vector],
    rows: Sequence[Pointer],
    first: Index | int,
    end: Index,
    step: Index | int,
    vectors: Pointer,
    pitch: Index | int,
    masks: Sequence[Mask | None] | int,
    between: Sequence[Index] = (),
) -> tuple[list[Vector], Pointer]:
    """Add products: ``sums[m][v] += rows[m][k] * vectors[pitch * n + lanes * v]`` for the n-th ``k`` of
    ``range(first, end, step)``, which is not empty. Rows and sums go over ``m``, masks and sums over ``v``; in place of
    masks, there may be the number of vectors, which are read whole. ``between`` are offsets of more rows behind each of
    the rows: many rows at even steps so take few registers for their addresses.

    Returns:
        The new sums, in the order of the old ones, and where the vectors go on.
    """
    lanes = sums[0].lanes
    masks = [None] * masks if isinstance(masks, int) else masks
    start = code.number(first) if isinstance(first, int) else first
    offsets = [start + offset for offset in between]
    with code.loop(start, end, step, [vectors, *offsets, *sums]) as loop:
        place, *now = loop.carried
        indices, now = [loop.index, *now[: len(between)]], now[len(between) :]
        loaded = [lanes.load(place + n * lanes.count, mask) for n, mask in enumerate(masks)]
        new: list[Vector] = []
        for row, index in product(rows, indices):
            if len(new) == len(sums):
                break
            number = lanes.broadcast(row + index)
            new += [number.fma(vector, now[len(new) + n]) for n, vector in enumerate(loaded)]
        loop.carry(place + pitch, *[index + step for index in indices[1:]], *new)
    place, *after = loop.results
    return after[len(between) :], place
