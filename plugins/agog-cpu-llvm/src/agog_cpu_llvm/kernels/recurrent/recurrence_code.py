"""Recurrence code: what compiled recurrent layers share: their words, parts of the batch, and products over all times.

Units lie in groups of a vector's lanes. A turn computes all times of some examples, which need nothing of others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from agog_cpu_llvm.kernels.recurrent.products import Products
from agog_cpu_llvm.kernels.recurrent.words import SIZES
from agog_cpu_llvm.tiles import Code, Condition, Index, Mask, Pointer, Words

_NUMBERS = (*SIZES, "block", "start", "chunk", "chunks", "pitch", "span", "spans")


def kinds(words: tuple[str, ...], dtype: str) -> dict[str, str]:
    """The kinds of words by their names: sizes and steps of elements, a mask, and addresses."""
    found = dict.fromkeys(words, f"*{dtype}") | ({"mask": "*uint8"} if "mask" in words else {})
    return found | {
        word: "index" for word in words if word in _NUMBERS or word.endswith(("_time", "_row", "_times", "_rows"))
    }


def is_wanted(pointer: Pointer) -> Condition:
    """Whether an address is given."""
    return ~pointer.address().equals(0)


class Part(NamedTuple):
    """The examples of a turn."""

    first: Index
    rows: Index

    @classmethod
    def of(cls, turn: Index, words: Words) -> Part:
        """Those of a turn's number."""
        first = turn * words.chunk
        return cls(first, words.chunk.least(words.batch - first))

    def counts(self, words: Words, time: Index, row: Index) -> Condition:
        """Whether the mask is True at a time of one of them."""
        place: Pointer = words.mask + (time * words.mask_time + (self.first + row) * words.mask_row)
        return place.integer().equals(1)


def mask_of_group(products: Products, words: Words, group: Index) -> Mask:
    """The units that there are of a group."""
    return products.lanes.first(words.units - group * products.lanes.count)


def multiply_inputs(
    code: Code, words: Words, part: Part, products: Products, block: tuple[Index, Index], gates: tuple[Pointer, int]
) -> None:
    """The bias and the product of the inputs, of a block of times: the first one, and how many.

    ``gates`` have, for each time, group and example, vectors whose elements are so many.
    """
    (time, times), (out, pitch) = block, gates
    group_step = part.rows * pitch
    time_step = group_step * words.groups
    x = words.x + (time * words.x_time + part.first * words.x_row)
    is_long = times > part.rows  # the tile's rows are then times, else examples
    lines, rows = is_long.select(part.rows, times), is_long.select(times, part.rows)
    line_step, row_step = is_long.select(words.x_row, words.x_time), is_long.select(words.x_time, words.x_row)
    line_out = is_long.select(code.number(pitch), time_step)
    row_out = is_long.select(time_step, code.number(pitch))
    width = products.width * products.lanes.count
    with code.loop(0, words.groups) as group, code.loop(0, lines) as line:
        weights, bias = words.kernel + group.index * (words.features * width), words.bias + group.index * width
        place = out + (group.index * group_step + line.index * line_out)
        products.times(x + line.index * line_step, row_step, rows, words.features, weights, (bias, 0), (place, row_out))


def multiply_errors(code: Code, words: Words, part: Part, products: Products, pitch: int) -> None:
    """The gradient of the inputs of the times of a call, where it is wanted; a group has so many elements of errors."""
    width = products.width * products.lanes.count
    group_step = words.times * words.batch * pitch
    is_long = words.times > part.rows  # the tile's rows are then times, else examples
    lines, rows = is_long.select(part.rows, words.times), is_long.select(words.times, part.rows)
    one, several = code.number(1), words.batch
    line_step, step = is_long.select(one, several), is_long.select(several, one)
    columns = is_wanted(words.to_x).select(words.features, code.number(0))
    with code.loop(0, columns, width, may_be_empty=True) as column, code.loop(0, lines) as line:
        example = part.first + line.index * line_step
        errors = words.errors + example * pitch, group_step
        weights = words.input_kernel + column.index * (words.groups * width)
        out = words.to_x + ((example + words.start * words.batch) * words.features + column.index)
        given = errors, step * pitch, rows, words.groups, width, weights, (words.zeros, 0)
        products.times_grouped(*given, (out, step * words.features), words.features - column.index)


Steps = tuple[Index | int, Index | int]
"""Those from one time to the next, and from one example."""


class Block(NamedTuple):
    """Some times and examples: the first ones, how many, and the inputs and states."""

    time: Index
    example: Index
    counts: tuple[Index, Index]
    x: Pointer
    x_steps: Steps
    hidden: Pointer
    hidden_steps: Steps

    def number(self, words: Words, group: Index) -> Index:
        """The number of the first one, of the groups, times and examples of the errors."""
        number: Index = (group * words.times + self.time - words.start) * words.batch + self.example
        return number


def add_blocks(code: Code, words: Words, add: Callable[[Index, Block], None]) -> None:
    """Write ``add`` for each group of a turn and each block. Before the first time, the state is one of its own."""
    with code.turns(words.counter, words.spans) as turn:
        start = turn * words.span
        end = (start + words.span).least(words.groups)

        def over_examples(time: Index, times: Index, hidden: Pointer, steps: tuple[Index, Index]) -> None:
            with code.loop(0, words.batch, words.block_rows) as block:
                counts = times, words.block_rows.least(words.batch - block.index)
                x = words.x + (time * words.x_time + block.index * words.x_row)
                state = hidden + block.index * steps[1]
                with code.loop(start, end) as group:
                    x_steps = words.x_time, words.x_row
                    add(group.index, Block(time, block.index, counts, x, x_steps, state, steps))

        last = words.start + words.times
        with code.when(words.start.equals(0)):
            over_examples(code.number(0), code.number(1), words.hidden, (words.units, words.units))
        with code.loop(words.start.most(1), last, words.block_times, may_be_empty=True) as block:
            times = words.block_times.least(last - block.index)
            before = words.hiddens + (block.index - 1) * words.hiddens_time
            over_examples(block.index, times, before, (words.hiddens_time, words.hiddens_row))
