"""Rows: loops over the vectors of a row, and its sum and its maximum, for kernels that reduce rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from agog_cpu_llvm.tiles import Code, Index, Lanes, Mask, Vector

_UNROLLED = 4  # vectors that are folded side by side


def each(code: Code, lanes: Lanes, columns: Index, put: Callable[[Index, Mask | None], None]) -> None:
    """Write ``put(at, mask)`` for the vectors of a row."""
    whole = columns - columns % lanes.count
    with code.loop(0, whole, lanes.count, may_be_empty=True) as loop:
        put(loop.index, None)
    with code.when(whole < columns):
        put(whole, lanes.first(columns - whole))


def total(code: Code, lanes: Lanes, columns: Index, term: Callable[[Index, Mask | None], Vector]) -> Vector:
    """The sum of a row's terms, in all lanes."""

    def add(sums: list[Vector], terms: list[Vector]) -> list[Vector]:
        return [one + other for one, other in zip(sums, terms, strict=True)]

    sums = _folded(code, lanes, columns, term, 0.0, add)
    return lanes.splat(code, ((sums[0] + sums[1]) + (sums[2] + sums[3])).total())


def largest(code: Code, lanes: Lanes, columns: Index, term: Callable[[Index, Mask | None], Vector]) -> Vector:
    """The largest of a row's terms, in all lanes; NaN is passed over, and shows in the sum."""

    def number(at: Index, mask: Mask | None) -> Vector:
        value = term(at, mask)
        return value if mask is None else mask.select(value, lanes.splat(code, -np.inf))

    def pick(best: list[Vector], terms: list[Vector]) -> list[Vector]:
        return [(new > old).select(new, old) for old, new in zip(best, terms, strict=True)]

    best = _folded(code, lanes, columns, number, -np.inf, pick)
    while len(best) > 1:
        best = pick(best[::2], best[1::2])
    return lanes.splat(code, best[0].largest())


def _folded(
    code: Code,
    lanes: Lanes,
    columns: Index,
    term: Callable[[Index, Mask | None], Vector],
    begin: float,
    fold: Callable[[list[Vector], list[Vector]], list[Vector]],
) -> list[Vector]:
    """A row's terms, folded vector by vector; a mask is set for the last ones."""
    width = _UNROLLED * lanes.count
    whole = columns - columns % width
    with code.loop(0, whole, width, [lanes.splat(code, begin)] * _UNROLLED, may_be_empty=True) as loop:
        loop.carry(*fold(loop.carried, [term(loop.index + n * lanes.count, None) for n in range(_UNROLLED)]))
    with code.loop(whole, columns, lanes.count, loop.results, may_be_empty=True) as rest:
        mask = lanes.first(columns - rest.index)
        value = term(rest.index, mask)
        first = mask.select(value, lanes.splat(code, begin))
        rest.carry(*fold(rest.carried[:1], [first]), *rest.carried[1:])
    return list(rest.results)
