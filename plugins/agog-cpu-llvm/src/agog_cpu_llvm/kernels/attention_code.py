"""Attention, its code: softmax of products of queries and keys times values, without the matrix of all weights.

A turn has one head, or some queries of it. Its keys and values are copied to where tiles read them; then for a block of
queries after the other all scores, weights and products stay in the cache. M. Rabe and C. Staats, "Self-attention does
not need O(n^2) memory", 2021; T. Dao et al., "FlashAttention", 2022.
"""

from __future__ import annotations

from llvmlite import ir

from agog_cpu_llvm.kernels.attention_layout import BACKWARD, FORWARD, SCRATCH, tile, words
from agog_cpu_llvm.kernels.packing import copies, transposes
from agog_cpu_llvm.kernels.rows import each, largest, total
from agog_cpu_llvm.kernels.softmax_code import power
from agog_cpu_llvm.tiles import Code, Function, Index, Lanes, Mask, Pointer, Vector, Words, entry, multiplied

DEPTH = 256
"""Products that are summed in registers at most; their sums are added up, which rounds less than one long sum."""


def write(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """The functions ``attention`` and ``attention_grad``."""
    block = _Block(module, dtype, lanes)
    for name, arrays, turn in (("attention", FORWARD, block.forward), ("attention_grad", BACKWARD, block.backward)):
        kinds = {**dict.fromkeys(arrays, f"*{dtype}"), "factor": "float64"}
        kinds |= dict.fromkeys(words(name), "index")
        with entry(module, name, kinds) as (code, given, scratch):
            memory = scratch.seen_as(lanes.dtype)
            places = {place: memory + given[place] for place in SCRATCH[name]}
            with code.turns(given.counter, given.turns) as number:
                turn(code, given, places, number)


class _Block:
    """The functions that a block of queries is computed with, and the code that calls them."""

    def __init__(self, module: ir.Module, dtype: str, lanes: Lanes) -> None:
        self.lanes = lanes
        self.copy_in = copies(module, "copy_in", lanes, dtype, lanes.dtype)
        self.copy_out = copies(module, "copy_out", lanes, lanes.dtype, dtype)
        self.transpose = transposes(module, lanes, dtype)
        self.product = _product(module, "product", lanes, is_turned=False)
        self.turned_product = _product(module, "turned_product", lanes, is_turned=True)

    def forward(self, code: Code, w: Words, places: dict[str, Pointer], turn: Index) -> None:
        """Some queries of a head."""
        lanes, head = self.lanes, turn // w.chunks
        query, key, value, bias, out = (_head(w, array, head) for array in FORWARD)
        self.transpose(key, w.key_row, w.key_count, w.depth, places["turned_keys"], w.score_pitch)
        self.copy_in(value, w.value_row, w.key_count, w.width, places["value_rows"], w.value_pitch)
        first = turn % w.chunks * w.chunk
        end = (first + w.chunk).least(w.query_count)
        with code.loop(first, end, w.rows) as block:
            rows = (end - block.index).least(w.rows)
            extent = self._weights(code, w, places, query, bias, block.index, rows)
            sums = places["query_rows"]  # which are needed no more
            no = code.number(0)
            self.product(
                *(places["scores"], w.score_pitch, rows, extent),
                *(places["value_rows"], w.value_pitch, w.width, sums, w.value_pitch, no),
            )
            with code.loop(0, rows) as row:
                share = lanes.broadcast(places["sums"] + row.index)
                source, target = sums + row.index * w.value_pitch, out + (block.index + row.index) * w.out_row
                each(
                    *(code, lanes, w.width),
                    lambda at, mask: lanes.store(lanes.load(source + at, mask) * share, target + at, mask),
                )

    def backward(self, code: Code, w: Words, places: dict[str, Pointer], head: Index) -> None:
        """All gradients of a head."""
        gradients, query, key, value, bias, of_query, of_key, of_value = (_head(w, array, head) for array in BACKWARD)
        self.transpose(key, w.key_row, w.key_count, w.depth, places["turned_keys"], w.score_pitch)
        self.transpose(value, w.value_row, w.key_count, w.width, places["turned_values"], w.score_pitch)
        self.copy_in(key, w.key_row, w.key_count, w.depth, places["key_rows"], w.key_pitch)
        self._clear(code, places["key_sums"], w.key_count * w.key_pitch)
        self._clear(code, places["value_sums"], w.key_count * w.value_pitch)
        no, yes = code.number(0), code.number(1)
        with code.loop(0, w.query_count, w.rows) as block:
            first = block.index
            rows = (w.query_count - first).least(w.rows)
            extent = self._weights(code, w, places, query, bias, first, rows)
            given, pitch = gradients + first * w.gradients_row, w.value_pitch
            self.copy_in(given, w.gradients_row, rows, w.width, places["gradient_rows"], pitch)
            self.product(
                *(places["gradient_rows"], w.value_pitch, rows, w.width),
                *(places["turned_values"], w.score_pitch, extent, places["slopes"], w.score_pitch, no),
            )
            self._slopes(code, w, places, first, rows, extent)
            with code.when(~w.of_value.address().equals(0)):
                self.turned_product(
                    *(places["scores"], w.score_pitch, extent, rows),
                    *(places["gradient_rows"], w.value_pitch, w.width, places["value_sums"], w.value_pitch, yes),
                )
            with code.when(~w.of_key.address().equals(0)):
                self.turned_product(
                    *(places["slopes"], w.score_pitch, extent, rows),
                    *(places["query_rows"], w.key_pitch, w.depth, places["key_sums"], w.key_pitch, yes),
                )
            with code.when(~w.of_query.address().equals(0)):
                sums = places["query_rows"]  # which are needed no more
                self.product(
                    *(places["slopes"], w.score_pitch, rows, extent),
                    *(places["key_rows"], w.key_pitch, w.depth, sums, w.key_pitch, no),
                )
                self.copy_out(sums, w.key_pitch, rows, w.depth, of_query + first * w.of_query_row, w.of_query_row)
        with code.when(~w.of_key.address().equals(0)):
            self.copy_out(places["key_sums"], w.key_pitch, w.key_count, w.depth, of_key, w.of_key_row)
        with code.when(~w.of_value.address().equals(0)):
            self.copy_out(places["value_sums"], w.value_pitch, w.key_count, w.width, of_value, w.of_value_row)

    def _weights(
        self, code: Code, w: Words, places: dict[str, Pointer], query: Pointer, bias: Pointer, first: Index, rows: Index
    ) -> Index:
        """Exponentials in place of a block's scores, and for each row one by their sum; how many keys count."""
        lanes = self.lanes
        is_causal = w.is_causal.equals(1)
        extent: Index = is_causal.select((first + rows).least(w.key_count), w.key_count)
        self.copy_in(query + first * w.query_row, w.query_row, rows, w.depth, places["query_rows"], w.key_pitch)
        self.product(
            *(places["query_rows"], w.key_pitch, rows, w.depth),
            *(places["turned_keys"], w.score_pitch, extent, places["scores"], w.score_pitch, code.number(0)),
        )
        factor = lanes.splat(code, lanes.converted(w.factor))
        has_bias = ~w.bias.address().equals(0)
        with code.loop(0, rows) as row:
            scores = places["scores"] + row.index * w.score_pitch
            added = bias + (first + row.index) * w.bias_row
            keys = is_causal.select((first + row.index + 1).least(w.key_count), w.key_count)
            place, single = places["sums"] + row.index, lanes.first(code.number(1))

            def plain(at: Index, mask: Mask | None) -> Vector:
                value = lanes.load(scores + at, mask) * factor
                lanes.store(value, scores + at, mask)
                return value

            def biased(at: Index, mask: Mask | None) -> Vector:
                value = lanes.load(scores + at, mask).fma(factor, lanes.load(added + at, mask))
                lanes.store(value, scores + at, mask)
                return value

            with code.when(has_bias):
                lanes.store(largest(code, lanes, keys, biased), place, single)
            with code.when(~has_bias):
                lanes.store(largest(code, lanes, keys, plain), place, single)
            top = lanes.broadcast(place)

            def term(at: Index, mask: Mask | None) -> Vector:
                value = power(lanes.load(scores + at, mask) - top)
                lanes.store(value, scores + at, mask)
                return value

            lanes.store(1.0 / total(code, lanes, keys, term), place, single)
            self._clear_rest(code, scores, keys, extent)
        return extent

    def _slopes(
        self, code: Code, w: Words, places: dict[str, Pointer], first: Index, rows: Index, extent: Index
    ) -> None:
        """The gradients of scores in place of those of weights, and weights in place of exponentials."""
        lanes = self.lanes
        factor = lanes.splat(code, lanes.converted(w.factor))
        is_causal = w.is_causal.equals(1)
        with code.loop(0, rows) as row:
            weights, slopes = (places[name] + row.index * w.score_pitch for name in ("scores", "slopes"))
            keys = is_causal.select((first + row.index + 1).least(w.key_count), w.key_count)
            share = lanes.broadcast(places["sums"] + row.index)

            def term(at: Index, mask: Mask | None) -> Vector:
                weight = lanes.load(weights + at, mask) * share
                lanes.store(weight, weights + at, mask)
                return weight * lanes.load(slopes + at, mask)

            mean = total(code, lanes, keys, term)

            def put(at: Index, mask: Mask | None) -> None:
                weight = lanes.load(weights + at, mask) * factor
                lanes.store((lanes.load(slopes + at, mask) - mean) * weight, slopes + at, mask)

            each(code, lanes, keys, put)
            self._clear_rest(code, slopes, keys, extent)

    def _clear_rest(self, code: Code, row: Pointer, keys: Index, extent: Index) -> None:
        """Zeros for the keys that a query does not see, and other queries of the block or their tiles do."""
        height, _ = tile(self.lanes)
        end = (extent + (height - 1)) // height * height
        with code.when(keys < end):
            self._clear(code, row + keys, end - keys)

    def _clear(self, code: Code, place: Pointer, count: Index) -> None:
        """Zeros."""
        zeros = self.lanes.splat(code, 0.0)
        each(code, self.lanes, count, lambda at, mask: self.lanes.store(zeros, place + at, mask))


def _head(w: Words, array: str, head: Index) -> Pointer:
    """The matrix of an array that a head has."""
    place: Pointer = w[array] + (head // w.heads * w[f"{array}_batch"] + head % w.heads * w[f"{array}_head"])
    return place


def _product(module: ir.Module, name: str, lanes: Lanes, is_turned: bool) -> Function:
    """A product of matrices, in whole tiles, or the sum with what is there where it ``adds``; ``turned``, the left one
    lies by columns."""
    matrix = f"*{lanes.dtype}"
    left = {"left": matrix, "left_pitch": "index", "rows": "index", "depth": "index"}
    right = {"right": matrix, "right_pitch": "index", "columns": "index"}
    function = Function(module, name, **left, **right, out=matrix, out_pitch="index", adds="index")
    code = function.code
    left, left_pitch, rows, depth, right, right_pitch, columns, out, out_pitch, adds = function.parameters
    height, width = tile(lanes)
    zeros = code.memory(lanes.dtype, width)
    for n in range(0, width, lanes.count):
        lanes.store(lanes.splat(code, 0.0), zeros + n)
    with code.loop(0, depth, DEPTH) as deep:
        part = (depth - deep.index).least(DEPTH)
        is_new = adds.equals(0) & deep.index.equals(0)
        with code.loop(0, columns, width) as column, code.loop(0, rows, height) as row:
            vectors = right + (deep.index * right_pitch + column.index)
            if is_turned:
                place = left + (deep.index * left_pitch + row.index)
                places, end, step, between = [place + n for n in range(height)], part * left_pitch, left_pitch, []
            else:
                place = left + (row.index * left_pitch + deep.index)
                places, end, step = [place, place + left_pitch * (height // 2)], part, 1
                between = [left_pitch * n for n in range(1, height // 2)]
            begin = [lanes.splat(code, 0.0)] * (2 * height)
            sums, _ = multiplied(code, begin, places, 0, end, vectors, right_pitch, 2, between, step)
            target = out + (row.index * out_pitch + column.index)
            start, pitch = is_new.select(zeros, target), is_new.select(code.number(0), out_pitch)
            for n in range(height):
                for m in range(2):
                    value = sums[2 * n + m] + lanes.load(start + m * lanes.count)
                    lanes.store(value, target + m * lanes.count)
                start, target = start + pitch, target + out_pitch
    function.end()
    return function
