"""Register tile: products of a few rows with a few vectors, summed in registers, from which kernels are made."""

from __future__ import annotations

from collections.abc import Sequence

from agog_cpu_llvm.tiles.code import Code
from agog_cpu_llvm.tiles.values import Index, Pointer
from agog_cpu_llvm.tiles.vectors import Lanes, Mask, Vector

__all__ = ["heights", "multiplied"]


def heights(lanes: Lanes, is_wide: bool = False) -> tuple[int, int]:
    """The rows and vectors of the largest tile whose sums fit into registers, with the vectors and a broadcast.

    With one register too many it takes three times as long. A processor with vectors of 64 bytes has 32 registers,
    others have 16 (x86) or 32 (ARM, whose vectors are of 16 bytes, and which so takes the smaller tile too).
    """
    if lanes.count * (8 if lanes.is_double else 4) == 64:
        return (6, 4) if is_wide else (8, 2)
    return (6, 2)


def multiplied(
    code: Code,
    sums: Sequence[Vector],
    rows: Sequence[Pointer],
    first: Index | int,
    end: Index,
    step: Index | int,
    vectors: Pointer,
    pitch: Index | int,
    masks: Sequence[Mask | None],
) -> tuple[list[Vector], Pointer]:
    """Add products: ``sums[m][v] += rows[m][k] * vectors[pitch * n + lanes * v]`` for the n-th ``k`` of
    ``range(first, end, step)``, which is not empty. Rows and sums go over ``m``, masks and sums over ``v``.

    Returns:
        The new sums, in the order of the old ones, and where the vectors go on.
    """
    lanes = sums[0].lanes
    with code.loop(first, end, step, [vectors, *sums]) as loop:
        place, *now = loop.carried
        loaded = [lanes.load(place + n * lanes.count, mask) for n, mask in enumerate(masks)]
        new = []
        for m, row in enumerate(rows):
            number = lanes.broadcast(row + loop.index)
            new += [number.fma(vector, now[m * len(masks) + n]) for n, vector in enumerate(loaded)]
        loop.carry(place + pitch, *new)
    place, *after = loop.results
    return after, place
