"""Normalization code: passes over blocks of rows, along the rows or along their columns."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from agog_cpu_llvm.kernels.channels import each_chunk
from agog_cpu_llvm.kernels.normalization import RUN
from agog_cpu_llvm.kernels.rows import each, total, totals
from agog_cpu_llvm.tiles import Code, Index, Lanes, Mask, Pointer, Vector, Words, entry

_SIZES = dict.fromkeys(("rows", "columns", "block", "blocks"), "index")


def write(module: ir.Module, dtype: str, lanes: Lanes, is_rows: bool) -> None:
    """The functions of rows, or of columns."""
    if is_rows:
        _write_rows(module, dtype, lanes)
        _write_rows_grad(module, dtype, lanes)
        return
    _write_moments(module, dtype, lanes)
    _write_sums(module, dtype, lanes)

    def apply(x: Vector, mean: Vector, factor: Vector, offset: Vector) -> Vector:
        return (x - mean).fma(factor, offset)

    def apply_grad(g: Vector, x: Vector, mean: Vector, factor: Vector, slope: Vector, shift: Vector) -> Vector:
        return g.fma(factor, (x - mean).fma(slope, shift))

    _write_columns(module, "columns", ("x",), ("mean", "factor", "offset"), dtype, lanes, apply)
    weights = "mean", "factor", "slope", "shift"
    _write_columns(module, "columns_grad", ("g", "x"), weights, dtype, lanes, apply_grad)


def _kinds(dtype: str, *arrays: str, numbers: tuple[str, ...] = ()) -> dict[str, str]:
    return {**dict.fromkeys(arrays, f"*{dtype}"), **dict.fromkeys(numbers, "float64"), **_SIZES}


def _rows_of(words: Words, turn: Index) -> tuple[Index, Index]:
    """The rows of a block: the first one, and how many there are."""
    first = turn * words.block
    return first, (words.rows - first).least(words.block)


def _write_rows(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    kinds = _kinds(dtype, "x", "scale", "offset", "out", "mean", "variance", numbers=("epsilon",))
    with entry(module, "rows", kinds, flushes=False) as (code, words, _):
        columns, epsilon = words.columns, lanes.splat(code, lanes.converted(words.epsilon))
        size = lanes.splat(code, lanes.whole(columns))
        with code.turns(words.counter, words.blocks) as turn:
            first, count = _rows_of(words, turn)
            with code.loop(first, first + count) as row:
                x, out = words.x + row.index * columns, words.out + row.index * columns
                mean = total(code, lanes, columns, lambda at, mask: lanes.load(x + at, mask)) / size

                def square(at: Index, mask: Mask | None, x: Pointer = x, mean: Vector = mean) -> Vector:
                    difference = lanes.load(x + at, mask) - mean
                    return difference * difference

                variance = total(code, lanes, columns, square) / size
                factor = 1.0 / (variance + epsilon).root()
                lanes.store(mean, words.mean + row.index, lanes.first(code.number(1)))
                lanes.store(variance, words.variance + row.index, lanes.first(code.number(1)))

                def put(at: Index, mask: Mask | None, x: Pointer = x, out: Pointer = out) -> None:
                    standardized = (lanes.load(x + at, mask) - mean) * factor
                    scale, offset = lanes.load(words.scale + at, mask), lanes.load(words.offset + at, mask)
                    lanes.store(standardized.fma(scale, offset), out + at, mask)

                each(code, lanes, columns, put)


def _write_rows_grad(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    arrays = "g", "x", "scale", "mean", "variance", "out", "of_scale", "of_offset"
    with entry(module, "rows_grad", _kinds(dtype, *arrays, numbers=("epsilon",)), flushes=False) as (code, words, _):
        columns, epsilon = words.columns, lanes.splat(code, lanes.converted(words.epsilon))
        size, zero = lanes.splat(code, lanes.whole(columns)), lanes.splat(code, 0)
        with code.turns(words.counter, words.blocks) as turn:
            of_scale, of_offset = words.of_scale + turn * columns, words.of_offset + turn * columns

            def clear(at: Index, mask: Mask | None) -> None:
                lanes.store(zero, of_scale + at, mask)
                lanes.store(zero, of_offset + at, mask)

            each(code, lanes, columns, clear)
            first, count = _rows_of(words, turn)
            with code.loop(first, first + count) as row:
                start = row.index * columns
                g, x, out = words.g + start, words.x + start, words.out + start
                mean = lanes.broadcast(words.mean + row.index)
                root = 1.0 / (lanes.broadcast(words.variance + row.index) + epsilon).root()

                def products(at: Index, mask: Mask | None, g: Pointer = g, x: Pointer = x) -> list[Vector]:
                    scaled = lanes.load(g + at, mask) * lanes.load(words.scale + at, mask)
                    return [scaled, scaled * ((lanes.load(x + at, mask) - mean) * root)]

                by_offset, by_scale = (each / size for each in totals(code, lanes, columns, products, 2))

                def put(at: Index, mask: Mask | None, g: Pointer = g, x: Pointer = x, out: Pointer = out) -> None:
                    given = lanes.load(g + at, mask)
                    standardized = (lanes.load(x + at, mask) - mean) * root
                    own = given * lanes.load(words.scale + at, mask) - by_offset
                    lanes.store((own - standardized * by_scale) * root, out + at, mask)
                    lanes.store(given.fma(standardized, lanes.load(of_scale + at, mask)), of_scale + at, mask)
                    lanes.store(given + lanes.load(of_offset + at, mask), of_offset + at, mask)

                each(code, lanes, columns, put)


Chunk = Callable[[Code, Words, Index, Index, Index, list[Mask | None]], None]


def _write_blocks(module: ir.Module, name: str, kinds: dict[str, str], lanes: Lanes, chunk: Chunk) -> None:
    """``chunk(code, words, turn, start, count, channel, masks)`` for a few vectors of columns of a block of rows."""
    with entry(module, name, kinds, flushes=False) as (code, words, _), code.turns(words.counter, words.blocks) as turn:
        first, count = _rows_of(words, turn)

        def body(channel: Index, masks: list[Mask | None]) -> None:
            chunk(code, words, first * words.columns + channel, count, turn * words.columns + channel, masks)

        each_chunk(code, words.columns, lanes, body)


def _loaded(lanes: Lanes, pointer: Pointer, masks: list[Mask | None]) -> list[Vector]:
    return [lanes.load(pointer + n * lanes.count, mask) for n, mask in enumerate(masks)]


def _stored(lanes: Lanes, vectors: list[Vector], pointer: Pointer, masks: list[Mask | None]) -> None:
    for n, (vector, mask) in enumerate(zip(vectors, masks, strict=True)):
        lanes.store(vector, pointer + n * lanes.count, mask)


def _summed(code: Code, lanes: Lanes, count: Index, terms: Callable[[Index], list[Vector]], size: int) -> list[Vector]:
    """The sums of some terms of each row, run by run of rows."""
    zeros = [lanes.splat(code, 0)] * size

    def added(sums: list[Vector], new: list[Vector]) -> list[Vector]:
        return [old + term for old, term in zip(sums, new, strict=True)]

    with code.loop(0, count, RUN, zeros) as loop:
        with code.loop(loop.index, (loop.index + RUN).least(count), 1, zeros) as run_of_rows:
            run_of_rows.carry(*added(run_of_rows.carried, terms(run_of_rows.index)))
        loop.carry(*added(loop.carried, run_of_rows.results))
    return list(loop.results)


def _write_moments(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """The mean of each column of a block, and the sum of squares of what differs from it."""

    def chunk(code: Code, words: Words, start: Index, count: Index, place: Index, masks: list[Mask | None]) -> None:
        def values(row: Index) -> list[Vector]:
            return _loaded(lanes, words.x + start + row * words.columns, masks)

        size = lanes.splat(code, lanes.whole(count))
        means = [vector / size for vector in _summed(code, lanes, count, values, len(masks))]

        def squares(row: Index) -> list[Vector]:
            differences = [value - mean for value, mean in zip(values(row), means, strict=True)]
            return [difference * difference for difference in differences]

        _stored(lanes, means, words.means + place, masks)
        _stored(lanes, _summed(code, lanes, count, squares, len(masks)), words.squares + place, masks)

    _write_blocks(module, "moments", _kinds(dtype, "x", "means", "squares"), lanes, chunk)


def _write_sums(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """The sums of each column of a block: of gradients times what was standardized, and of gradients."""

    def chunk(code: Code, words: Words, start: Index, count: Index, place: Index, masks: list[Mask | None]) -> None:
        channel = place % words.columns
        means, roots = (_loaded(lanes, pointer + channel, masks) for pointer in (words.mean, words.root))

        def terms(row: Index) -> list[Vector]:
            at = start + row * words.columns
            given = _loaded(lanes, words.g + at, masks)
            values = zip(given, _loaded(lanes, words.x + at, masks), means, strict=True)
            return [*[g * (x - mean) for g, x, mean in values], *given]

        sums = _summed(code, lanes, count, terms, 2 * len(masks))
        products = [total * root for total, root in zip(sums[: len(masks)], roots, strict=True)]
        _stored(lanes, products, words.of_scale + place, masks)
        _stored(lanes, sums[len(masks) :], words.of_offset + place, masks)

    _write_blocks(module, "sums", _kinds(dtype, "g", "x", "mean", "root", "of_scale", "of_offset"), lanes, chunk)


def _write_columns(
    module: ir.Module,
    name: str,
    arrays: tuple[str, ...],
    weights: tuple[str, ...],
    dtype: str,
    lanes: Lanes,
    formula: Callable[..., Vector],
) -> None:
    """A formula of arrays and of weights for each column."""

    def chunk(code: Code, words: Words, start: Index, count: Index, place: Index, masks: list[Mask | None]) -> None:
        channel = place % words.columns
        kept = [_loaded(lanes, words[weight] + channel, masks) for weight in weights]
        with code.loop(0, count) as loop:
            at = start + loop.index * words.columns
            given = [_loaded(lanes, words[array] + at, masks) for array in arrays]
            results = [formula(*values) for values in zip(*given, *kept, strict=True)]
            _stored(lanes, results, words.out + at, masks)

    _write_blocks(module, name, _kinds(dtype, *arrays, *weights, "out"), lanes, chunk)
