"""Product gradients code: a turn takes some columns of all rows.

NumPy adds up columns of many rows in groups, and then the groups' sums: row ``j`` of each group goes to sum ``j``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from agog_cpu_llvm.kernels.channels import each_chunk
from agog_cpu_llvm.kernels.product_gradients import COLUMNS
from agog_cpu_llvm.tiles import Code, Index, Lanes, Mask, Vector, Words, entry

_SLOPES: dict[str, Callable[[Vector], Mask] | None] = {
    "linear": None,
    "relu": lambda out: out > 0.0,
    "relu6": lambda out: (out > 0.0) & (out < 6.0),
}


def write(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """A function for each activation."""
    arrays = dict.fromkeys(("gradients", "outputs", "slope", "sums"), f"@{dtype}")
    sizes = dict.fromkeys(("rows", "columns", "groups", "blocks"), "index")
    for name, is_kept in _SLOPES.items():
        with entry(module, name, {**arrays, **sizes}, flushes=False) as (code, words, _):
            _write_turns(code, words, lanes, is_kept)


def _write_turns(code: Code, words: Words, lanes: Lanes, is_kept: Callable[[Vector], Mask] | None) -> None:
    length = words.rows // words.groups
    whole = length * words.groups
    zero = lanes.splat(code, 0.0)
    with code.turns(words.counter, words.blocks) as turn:
        first = turn * COLUMNS

        def chunk(column: Index, masks: list[Mask | None]) -> None:
            places = [first + column + n * lanes.count for n in range(len(masks))]

            def row(number: Index) -> list[Vector]:
                """The gradients of a row, written where an activation changes them."""
                found = []
                for place, mask in zip(places, masks, strict=True):
                    at = number * words.columns + place
                    value = lanes.load(words.gradients + at, mask)
                    if is_kept is not None:
                        value = is_kept(lanes.load(words.outputs + at, mask)).select(value, zero)
                        lanes.store(value, words.slope + at, mask)
                    found.append(value)
                return found

            def total(first: Index, end: Index, step: Index | int) -> list[Vector]:
                """The sum of rows, from the first one on."""
                with code.loop(first + step, end, step, row(first), may_be_empty=True) as loop:
                    loop.carry(*_added(loop.carried, row(loop.index)))
                return loop.results

            with code.loop(1, length, 1, total(code.number(0), whole, length), may_be_empty=True) as loop:
                loop.carry(*_added(loop.carried, total(loop.index, whole, length)))
            with code.loop(whole, words.rows, 1, [zero] * len(masks), may_be_empty=True) as rest:
                rest.carry(*_added(rest.carried, row(rest.index)))
            sums = loop.results
            for place, mask, value, more in zip(places, masks, sums, rest.results, strict=True):
                is_grouped = words.groups > 1
                lanes.store(is_grouped.select(value + more, value), words.sums + place, mask)

        each_chunk(code, (words.columns - first).least(COLUMNS), lanes, chunk)


def _added(one: Sequence[Vector], other: Sequence[Vector]) -> list[Vector]:
    return [x + y for x, y in zip(one, other, strict=True)]
