"""Register tile: products of a few rows with a few vectors, summed in registers, from which kernels are made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from agog_cpu_llvm.tiles.code import Code
from agog_cpu_llvm.tiles.values import Index, Pointer
from agog_cpu_llvm.tiles.vectors import Mask, Vector

__all__ = ["multiplied"]


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
