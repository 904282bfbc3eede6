"""Register tile: products of a few rows with a few vectors, summed in registers, from which kernels are made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from agog_cpu_llvm.tiles.code import Code
from agog_cpu_llvm.tiles.values import Index, Pointer
from agog_cpu_llvm.tiles.vectors import Mask, Vector

__all__ = ["multiplied"]

_UNROLLED = 4  # turns that share the addresses of their rows, which with one vector take as long as the products


def multiplied(
    code: Code,
    sums: Sequence[Vector],
    rows: Sequence[Pointer],
    first: Index | int,
    end: Index,
    vectors: Pointer,
    pitch: Index | int,
    masks: Sequence[Mask | None] | int,
    between: Sequence[Index] = (),
    step: Index | int = 1,
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
    parts = [(start, end, 1)]
    if len(masks) == 1 and lanes.bytes == 64 and step == 1:  # others have too few registers
        whole = start + (end - start) // _UNROLLED * _UNROLLED
        parts = [(start, whole, _UNROLLED), (whole, end, 1)]
    carried: list[Any] = [vectors, *[start + offset for offset in between], *sums]
    for begin, stop, turns in parts:
        with code.loop(begin, stop, step * turns, carried, may_be_empty=len(parts) > 1) as loop:
            place, *now = loop.carried
            indices, now = [loop.index, *now[: len(between)]], now[len(between) :]
            for turn in range(turns):
                loaded = [lanes.load(place + n * lanes.count, mask) for n, mask in enumerate(masks)]
                new: list[Vector] = []
                for row, index in product(rows, indices):
                    if len(new) == len(sums):
                        break
                    number = lanes.broadcast(row + (index + step * turn))
                    new += [number.fma(vector, now[len(new) + n]) for n, vector in enumerate(loaded)]
                place, now = place + pitch, new
            loop.carry(place, *[index + step * turns for index in indices[1:]], *now)
        carried = loop.results
    return carried[1 + len(between) :], carried[0]
