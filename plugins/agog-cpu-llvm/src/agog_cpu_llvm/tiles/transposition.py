"""Transposition: squares of numbers in registers, whose rows become columns."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from agog_cpu_llvm.tiles.vectors import Vector

__all__ = ["transposed"]


def transposed(rows: Sequence[Vector]) -> list[Vector]:
    """The columns of a square of numbers: at first neighbours change places, then pairs of neighbours and so on."""
    now, lanes, b = list(rows), rows[0].lanes, rows[0].b
    places = ir.VectorType(ir.IntType(32), lanes.count)
    step = 1
    while step < lanes.count:
        for n in (n for n in range(lanes.count) if not n & step):
            upper, lower = now[n], now[n + step]
            left = [lanes.count + lane - step if lane & step else lane for lane in range(lanes.count)]
            right = [lanes.count + lane if lane & step else lane + step for lane in range(lanes.count)]
            for place, chosen in ((n, left), (n + step, right)):
                now[place] = upper.like(b.shuffle_vector(upper.ir, lower.ir, ir.Constant(places, chosen)))
        step *= 2
    return now
