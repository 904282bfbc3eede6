"""Recurrence code: what compiled recurrent layers share: their words, parts of the batch, and products over all times.

Units lie in groups of a vector's lanes. A turn computes all times of some examples, which need nothing of others.
"""

from __future__ import annotations

from typing import NamedTuple

from agog_cpu_llvm.kernels.recurrent.products import Products
from agog_cpu_llvm.tiles import Code, Condition, Index, Mask, Pointer, Words

SIZES = ("times", "batch", "features", "units", "groups", "activation", "gate")
"""The words that all entries have; the last two are the numbers of activation functions."""

INPUTS = ("x", "x_time", "x_row", "kernel", "bias", "block")
"""The words of the product of the inputs; ``block`` is how many times are multiplied at once."""

PART = ("mask", "mask_time", "mask_row", "chunk", "chunks")
"""The words of the examples that a turn computes: ``chunk`` of them, and at most ``chunks`` turns."""

TO_X = ("to_x", "input_kernel", "zeros")
"""The words of the gradient of the inputs; ``to_x`` is null where it is not wanted."""

_NUMBERS = (*SIZES, "block", "chunk", "chunks", "pitch")


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


def multiply_errors(
    code: Code, words: Words, part: Part, products: Products, pitch: int, time: Index, times: Index
) -> None:
    """The gradient of the inputs of some times, where it is wanted; ``pitch`` elements are the errors of a group."""
    width, depth = products.width * products.lanes.count, products.width * products.lanes.count
    group_step = words.times * words.batch * pitch
    is_long = times > part.rows
    lines, rows = is_long.select(part.rows, times), is_long.select(times, part.rows)
    time_step, row_step = words.batch, code.number(1)
    line_step, step = is_long.select(row_step, time_step), is_long.select(time_step, row_step)
    with code.when(is_wanted(words.to_x)), code.loop(0, lines) as line:
        example = time * words.batch + part.first + line.index * line_step
        errors, out = words.errors + example * pitch, words.to_x + example * words.features
        with code.loop(0, words.features, width) as column:
            weights = words.input_kernel + column.index * (words.groups * depth)
            products.times_grouped(
                (errors, group_step),
                step * pitch,
                rows,
                words.groups,
                depth,
                weights,
                (words.zeros, 0),
                (out + column.index, step * words.features),
                words.features - column.index,
            )
