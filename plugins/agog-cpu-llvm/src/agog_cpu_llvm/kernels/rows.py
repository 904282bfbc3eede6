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
    return totals(code, lanes, columns, lambda at, mask: [term(at, mask)], 1)[0]


def totals(
    code: Code, lanes: Lanes, columns: Index, terms: Callable[[Index, Mask | None], list[Vector]], count: int
) -> list[Vector]:
    """The sums of some terms of a row, each in all lanes of a vector: they share a way through the row."""

    def add(sums: list[Vector], new: list[Vector]) -> list[Vector]:
        return [one + other for one, other in zip(sums, new, strict=True)]

    sums = _folded(code, lanes, columns, terms, count, 0.0, add)
    one, two, three, four = (sums[n : n + count] for n in range(0, len(sums), count))
    return [lanes.splat(code, each.total()) for each in add(add(one, two), add(three, four))]


def largest(code: Code, lanes: Lanes, columns: Index, term: Callable[[Index, Mask | None], Vector]) -> Vector:
    """The largest of a row's terms, in all lanes; NaN is passed over, and shows in the sum."""

    def number(at: Index, mask: Mask | None) -> list[Vector]:
        value = term(at, mask)
        return [value if mask is None else mask.select(value, lanes.splat(code, -np.inf))]

    def pick(best: list[Vector], terms: list[Vector]) -> list[Vector]:
        return [(new > old).select(new, old) for old, new in zip(best, terms, strict=True)]

    best = _folded(code, lanes, columns, number, 1, -np.inf, pick)
    while len(best) > 1:
        best = pick(best[::2], best[1::2])
    return lanes.splat(code, best[0].largest())


def _folded(
    code: Code,
    lanes: Lanes,
    columns: Index,
    terms: Callable[[Index, Mask | None], list[Vector]],
    count: int,
    begin: float,
    fold: Callable[[list[Vector], list[Vector]], list[Vector]],
) -> list[Vector]:
    """A row's terms, some for each vector, folded vector by vector; a mask is set for the last ones."""
    width = _UNROLLED * lanes.count
    whole = columns - columns % width
    start = lanes.splat(code, begin)
    with code.loop(0, whole, width, [start] * (_UNROLLED * count), may_be_empty=True) as loop:
        new = [term for n in range(_UNROLLED) for term in terms(loop.index + n * lanes.count, None)]
        loop.carry(*fold(loop.carried, new))
    with code.loop(whole, columns, lanes.count, loop.results, may_be_empty=True) as rest:
        mask = lanes.first(columns - rest.index)
        first = [mask.select(term, start) for term in terms(rest.index, mask)]
        rest.carry(*fold(rest.carried[:count], first), *rest.carried[count:])
    return list(rest.results)
