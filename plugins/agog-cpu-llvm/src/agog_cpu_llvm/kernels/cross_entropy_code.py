"""Cross entropy code: a block of rows in one turn."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from agog_cpu_llvm.kernels.rows import each, largest, total
from agog_cpu_llvm.kernels.softmax_code import power
from agog_cpu_llvm.tiles import Code, Index, Lanes, Mask, Vector, Words, entry
from agog_cpu_llvm.tiles.exponentials import logarithm


def write(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """The functions of the loss and of its gradient."""
    arrays = {"labels": "*int64", **dict.fromkeys(("logits", "gradients", "out"), f"*{dtype}")}
    kinds = {**arrays, **dict.fromkeys(("rows", "classes", "block", "blocks"), "index")}
    for name, row in (("loss", _write_loss), ("gradient", _write_gradient)):
        with entry(module, name, kinds, flushes=False) as (code, words, _):
            _write_turns(code, words, lanes, row)


def _write_turns(code: Code, words: Words, lanes: Lanes, row: Callable[[Code, Words, Lanes, Index], None]) -> None:
    with code.turns(words.counter, words.blocks) as turn:
        first = turn * words.block
        with code.loop(first, (first + words.block).least(words.rows)) as loop:
            row(code, words, lanes, loop.index)


def _write_loss(code: Code, words: Words, lanes: Lanes, row: Index) -> None:
    x = words.logits + row * words.classes
    top = largest(code, lanes, words.classes, x)
    sums = total(code, lanes, words.classes, lambda at, mask: power(lanes.load(x + at, mask) - top))
    own = lanes.broadcast(x + (words.labels + row).integer())
    lanes.store(logarithm(sums) - (own - top), words.out + row, lanes.first(code.number(1)))


def _write_gradient(code: Code, words: Words, lanes: Lanes, row: Index) -> None:
    start = row * words.classes
    x, out = words.logits + start, words.out + start
    top = largest(code, lanes, words.classes, x)

    def term(at: Index, mask: Mask | None) -> Vector:
        value = power(lanes.load(x + at, mask) - top)
        lanes.store(value, out + at, mask)
        return value

    gradient = lanes.broadcast(words.gradients + row)
    share = gradient / total(code, lanes, words.classes, term)
    each(code, lanes, words.classes, lambda at, mask: lanes.store(lanes.load(out + at, mask) * share, out + at, mask))
    own, single = out + (words.labels + row).integer(), lanes.first(code.number(1))
    lanes.store(lanes.load(own, single) - gradient, own, single)
