"""Softmax code: a block of rows in one turn."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from agog_cpu_llvm.kernels.rows import each, largest, total
from agog_cpu_llvm.tiles import Code, Index, Lanes, Mask, Pointer, Vector, entry
from agog_cpu_llvm.tiles.exponentials import exponential, logarithm


def write(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """The functions of all four."""
    _write(module, "softmax", ("x",), dtype, _softmax(lanes, keeps=dtype == lanes.dtype))
    _write(module, "log_softmax", ("x",), dtype, _log_softmax(lanes))
    _write(module, "softmax_grad", ("g", "s"), dtype, _softmax_grad(lanes))
    _write(module, "log_softmax_grad", ("g", "s"), dtype, _log_softmax_grad(lanes))


Row = Callable[..., None]


def _write(module: ir.Module, name: str, inputs: tuple[str, ...], dtype: str, row: Row) -> None:
    """A function of rows: ``row(code, columns, *inputs, out)`` writes what one of them takes."""
    arrays = dict.fromkeys((*inputs, "out"), f"*{dtype}")
    sizes = dict.fromkeys(("rows", "columns", "block", "blocks"), "index")
    with (
        entry(module, name, {**arrays, **sizes}, flushes=False) as (code, words, _),
        code.turns(words.counter, words.blocks) as turn,
    ):
        first = turn * words.block
        with code.loop(first, (first + words.block).least(words.rows)) as loop:
            start = loop.index * words.columns
            row(code, words.columns, *[words[each] + start for each in arrays])


def _softmax(lanes: Lanes, keeps: bool) -> Row:
    """Exponentials are kept in the result where that does not round them, else computed again."""

    def row(code: Code, columns: Index, x: Pointer, out: Pointer) -> None:
        top = largest(code, lanes, columns, lambda at, mask: lanes.load(x + at, mask))

        def term(at: Index, mask: Mask | None) -> Vector:
            value = power(lanes.load(x + at, mask) - top)
            if keeps:
                lanes.store(value, out + at, mask)
            return value

        share = 1.0 / total(code, lanes, columns, term)

        def put(at: Index, mask: Mask | None) -> None:
            value = lanes.load(out + at, mask) if keeps else power(lanes.load(x + at, mask) - top)
            lanes.store(value * share, out + at, mask)

        each(code, lanes, columns, put)

    return row


def _log_softmax(lanes: Lanes) -> Row:
    def row(code: Code, columns: Index, x: Pointer, out: Pointer) -> None:
        top = largest(code, lanes, columns, lambda at, mask: lanes.load(x + at, mask))
        log = logarithm(total(code, lanes, columns, lambda at, mask: power(lanes.load(x + at, mask) - top)))

        def put(at: Index, mask: Mask | None) -> None:
            lanes.store(lanes.load(x + at, mask) - top - log, out + at, mask)

        each(code, lanes, columns, put)

    return row


def _softmax_grad(lanes: Lanes) -> Row:
    def row(code: Code, columns: Index, g: Pointer, s: Pointer, out: Pointer) -> None:
        mean = total(code, lanes, columns, lambda at, mask: lanes.load(g + at, mask) * lanes.load(s + at, mask))

        def put(at: Index, mask: Mask | None) -> None:
            lanes.store((lanes.load(g + at, mask) - mean) * lanes.load(s + at, mask), out + at, mask)

        each(code, lanes, columns, put)

    return row


def _log_softmax_grad(lanes: Lanes) -> Row:
    def row(code: Code, columns: Index, g: Pointer, s: Pointer, out: Pointer) -> None:
        whole = total(code, lanes, columns, lambda at, mask: lanes.load(g + at, mask))

        def put(at: Index, mask: Mask | None) -> None:
            lanes.store(lanes.load(g + at, mask) - power(lanes.load(s + at, mask)) * whole, out + at, mask)

        each(code, lanes, columns, put)

    return row


def power(x: Vector) -> Vector:
    """The exponential of numbers that are not positive; zero where it would be no normal number."""
    least = -708.0 if x.lanes.is_double else -87.0
    is_far = x < least
    near = is_far.select(x.like(x.lanes.constant(least)), x)
    return is_far.select(x.like(x.lanes.constant(0.0)), exponential(near))
