"""Cross entropy code: a block of rows in one turn."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from agog_cpu_llvm.kernels.rows import each, largest, total
from agog_cpu_llvm.kernels.softmax_code import power
from agog_cpu_llvm.tiles import Code, Index, Lanes, Mask, Vector, Words, entry
from agog_cpu_llvm.tiles.exponentials import logarithm


def write(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """The functions of the losses and of their gradients."""
    functions = {
        "loss": ("int64", _write_loss),
        "gradient": ("int64", _write_gradient),
        "dense_loss": (dtype, _write_dense_loss),
        "dense_gradient": (dtype, _write_dense_gradient),
    }
    arrays = dict.fromkeys(("logits", "gradients", "out"), f"@{dtype}")
    sizes = dict.fromkeys(("rows", "classes", "block", "blocks"), "index")
    for name, (labels, row) in functions.items():
        with entry(module, name, {"labels": f"@{labels}", **arrays, **sizes}, flushes=False) as (code, words, _):
            _write_turns(code, words, lanes, row)


def _write_turns(code: Code, words: Words, lanes: Lanes, row: Callable[[Code, Words, Lanes, Index], None]) -> None:
    with code.turns(words.counter, words.blocks) as turn:
        first = turn * words.block
        with code.loop(first, (first + words.block).least(words.rows)) as loop:
            row(code, words, lanes, loop.index)


def _write_loss(code: Code, words: Words, lanes: Lanes, row: Index) -> None:
    x = words.logits + row * words.classes
    top = largest(code, lanes, words.classes, lambda at, mask: lanes.load(x + at, mask))
    sums = total(code, lanes, words.classes, lambda at, mask: power(lanes.load(x + at, mask) - top))
    own = lanes.broadcast(x + (words.labels + row).integer())
    lanes.store(logarithm(sums) - (own - top), words.out + row, lanes.first(code.number(1)))


def _write_dense_loss(code: Code, words: Words, lanes: Lanes, row: Index) -> None:
    start = row * words.classes
    x, labels, zero = words.logits + start, words.labels + start, lanes.splat(code, 0.0)
    top = largest(code, lanes, words.classes, lambda at, mask: lanes.load(x + at, mask))
    sums = total(code, lanes, words.classes, lambda at, mask: power(lanes.load(x + at, mask) - top))
    level = logarithm(sums)

    def term(at: Index, mask: Mask | None) -> Vector:
        share = lanes.load(labels + at, mask)
        product = share * (level - (lanes.load(x + at, mask) - top))
        return share.equals(0).select(zero, product)  # whatever the logit is

    lanes.store(total(code, lanes, words.classes, term), words.out + row, lanes.first(code.number(1)))


def _write_gradient(code: Code, words: Words, lanes: Lanes, row: Index) -> None:
    start = row * words.classes
    out, gradient = words.out + start, lanes.broadcast(words.gradients + row)
    share = gradient / _write_powers(code, words, lanes, row)
    each(code, lanes, words.classes, lambda at, mask: lanes.store(lanes.load(out + at, mask) * share, out + at, mask))
    own, single = out + (words.labels + row).integer(), lanes.first(code.number(1))
    lanes.store(lanes.load(own, single) - gradient, own, single)


def _write_dense_gradient(code: Code, words: Words, lanes: Lanes, row: Index) -> None:
    start = row * words.classes
    out, labels, gradient = words.out + start, words.labels + start, lanes.broadcast(words.gradients + row)
    sums = _write_powers(code, words, lanes, row)
    share = total(code, lanes, words.classes, lambda at, mask: lanes.load(labels + at, mask)) / sums

    def put(at: Index, mask: Mask | None) -> None:
        difference = lanes.load(out + at, mask) * share - lanes.load(labels + at, mask)
        lanes.store(difference * gradient, out + at, mask)

    each(code, lanes, words.classes, put)


def _write_powers(code: Code, words: Words, lanes: Lanes, row: Index) -> Vector:
    """Write the exponentials of a row of logits into the result; gives their sum."""
    start = row * words.classes
    x, out = words.logits + start, words.out + start
    top = largest(code, lanes, words.classes, lambda at, mask: lanes.load(x + at, mask))

    def term(at: Index, mask: Mask | None) -> Vector:
        value = power(lanes.load(x + at, mask) - top)
        lanes.store(value, out + at, mask)
        return value

    return total(code, lanes, words.classes, term)
