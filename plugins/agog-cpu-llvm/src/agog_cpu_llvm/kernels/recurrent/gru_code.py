"""GRU code: compiled gated recurrent units, back through time, and the gradients of their weights.

The reserve has, for each time, group and example, the vectors of the update and reset gates, of the candidate, and of
what the reset gate has multiplied, or the product by it where it comes before the product of the state. The errors,
gradients of what these are activated from, have for each group, time and example those of the gates and the candidate,
and, where the gate comes after, of the candidate's product of the state.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from agog_cpu_llvm.kernels.recurrent.activations import activated, differentiated
from agog_cpu_llvm.kernels.recurrent.gru import BACKWARD, FORWARD, GATES, KEPT, WEIGHTS
from agog_cpu_llvm.kernels.recurrent.products import Products
from agog_cpu_llvm.kernels.recurrent.recurrence_code import (
    Block,
    Part,
    Steps,
    add_blocks,
    is_wanted,
    kinds,
    mask_of_group,
    multiply_errors,
    multiply_inputs,
)
from agog_cpu_llvm.tiles import Code, Index, Lanes, Pointer, Vector, Words, entry


def write(module: ir.Module, dtype: str, lanes: Lanes, is_after: bool, is_backward: bool) -> None:
    """The entry `gru`, or `gru_grad` and `gru_weights_grad`; the reset gate comes after the product or before."""
    products = [Products(module, dtype, lanes, width) for width in (GATES, 2, 1)]
    if not is_backward:
        with entry(module, "gru", kinds(FORWARD, dtype)) as (code, words, scratch):
            _Gru(products, is_after, code, words).forward(scratch.seen_as(dtype))
        return
    with entry(module, "gru_grad", kinds(BACKWARD, dtype)) as (code, words, scratch):
        _Gru(products, is_after, code, words).backward(scratch.seen_as(dtype))
    with entry(module, "gru_weights_grad", kinds(WEIGHTS, dtype)) as (code, words, _):
        _Gru(products, is_after, code, words).weights()


class _Gru:
    """What writes the entries."""

    def __init__(self, products: Sequence[Products], is_after: bool, code: Code, words: Words) -> None:
        self.all, self.gates, self.candidate = products
        self.is_after, self.code, self.words, self.lanes = is_after, code, words, self.all.lanes
        self.count = self.lanes.count
        self.kept = KEPT * self.count
        self.pitch = (KEPT if is_after else GATES) * self.count  # elements of the errors of a group

    def forward(self, gates: Pointer) -> None:
        code, words = self.code, self.words
        resets = gates + words.block * words.groups * words.chunk * self.kept
        with code.turns(words.counter, words.chunks) as turn:
            part = Part.of(turn, words)
            with code.loop(0, words.times, words.block) as block:
                times = words.block.least(words.times - block.index)
                multiply_inputs(code, words, part, self.all, (block.index, times), (gates, self.kept))
                with code.loop(0, times) as step:
                    time = block.index + step.index
                    now = gates + step.index * words.groups * part.rows * self.kept
                    (self._step_after if self.is_after else self._step_before)(part, time, now, resets)

    def _step_after(self, part: Part, time: Index, gates: Pointer, _: Pointer) -> None:
        code, words, count = self.code, self.words, self.count
        hidden = self._hidden(time, part.first)
        with code.loop(0, words.groups) as group:
            now = gates + group.index * part.rows * self.kept
            self._multiply(self.gates, hidden, words.units, part, group.index, (now, self.kept), (now, self.kept))
            chosen = now + GATES * count, self.kept
            bias = words.state_bias + group.index * count, 0
            self._multiply(self.candidate, hidden, words.units, part, group.index, bias, chosen)
            with code.loop(0, part.rows) as row:
                update, reset, inputs, product = self._load(now + row.index * self.kept)
                update, reset = activated(code, words.gate, update, reset)
                (candidate,) = activated(code, words.activation, reset.fma(product, inputs))
                self._show(part, time, group.index, row.index, (update, reset, candidate, product))

    def _step_before(self, part: Part, time: Index, gates: Pointer, resets: Pointer) -> None:
        code, words, count = self.code, self.words, self.count
        hidden, width = self._hidden(time, part.first), words.groups * count
        with code.loop(0, words.groups) as group:
            now = gates + group.index * part.rows * self.kept
            self._multiply(self.gates, hidden, words.units, part, group.index, (now, self.kept), (now, self.kept))
            with code.loop(0, part.rows) as row:
                place = now + row.index * self.kept
                update, reset, _, _ = self._load(place)
                update, reset = activated(code, words.gate, update, reset)
                product = reset * self._before(part, time, group.index, row.index)
                for n, vector in ((0, update), (1, reset), (GATES, product)):
                    self.lanes.store(vector, place + n * count)
                self.lanes.store(product, resets + (row.index * width + group.index * count))
        with code.loop(0, words.groups) as group:
            now = gates + group.index * part.rows * self.kept
            inputs = now + 2 * count, self.kept
            self._multiply(self.candidate, resets, width, part, group.index, inputs, inputs)
            with code.loop(0, part.rows) as row:
                update, reset, inputs_, product = self._load(now + row.index * self.kept)
                (candidate,) = activated(code, words.activation, inputs_)
                self._show(part, time, group.index, row.index, (update, reset, candidate, product))

    def _multiply(
        self,
        products: Products,
        x: Pointer,
        step: Index,
        part: Part,
        group: Index,
        start: tuple[Pointer, int],
        out: tuple[Pointer, int],
    ) -> None:
        """The product of a state by the weights of some units."""
        words = self.words
        weights = words.gate_kernel if products is self.gates else words.candidate_kernel
        panel = weights + group * (words.units * (products.width * self.count))
        products.times(x, step, part.rows, words.units, panel, start, out)

    def _load(self, place: Pointer) -> list[Vector]:
        return [self.lanes.load(place + n * self.count) for n in range(KEPT)]

    def _hidden(self, time: Index, example: Index) -> Pointer:
        """The state of an example before a time, of the states that lie one after the other."""
        words = self.words
        before: Pointer = words.hiddens + (time - 1) * words.batch * words.units
        place: Pointer = time.equals(0).select(words.hidden, before) + example * words.units
        return place

    def _before(self, part: Part, time: Index, group: Index, row: Index) -> Vector:
        """That state's units of a group."""
        place = self._hidden(time, part.first + row) + group * self.count
        return self.lanes.load(place, mask_of_group(self.all, self.words, group))

    def _show(self, part: Part, time: Index, group: Index, row: Index, vectors: tuple[Vector, ...]) -> None:
        """Write the new state of some units, and what is kept of them."""
        code, words, lanes = self.code, self.words, self.lanes
        update, _, candidate, _ = vectors
        before, example = self._before(part, time, group, row), part.first + row
        shown = words.hiddens + ((time * words.batch + example) * words.units + group * self.count)
        reserve = words.reserve + ((time * words.groups + group) * words.batch + example) * self.kept
        mask, counts = mask_of_group(self.all, words, group), part.counts(words, time, row)
        with code.when(counts):
            lanes.store(update.fma(before - candidate, candidate), shown, mask)
            for n, vector in enumerate(vectors):
                lanes.store(vector, reserve + n * self.count)
        with code.when(~counts):
            lanes.store(before, shown, mask)
            for n in range(KEPT):
                lanes.store(lanes.splat(code, 0.0), reserve + n * self.count)

    def backward(self, to_products: Pointer) -> None:
        code, words, lanes = self.code, self.words, self.lanes
        group_step, panel = words.times * words.batch * self.pitch, GATES * self.count
        with code.turns(words.counter, words.chunks) as turn:
            part = Part.of(turn, words)
            to_hidden = words.to_hidden + part.first * words.pitch
            with code.loop(0, words.times) as back:
                time = words.times - 1 - back.index  # behind the first one
                with code.loop(0, words.groups) as group, code.loop(0, part.rows) as row:
                    self._step_back(part, time, group.index, row.index)
                errors = words.errors + (time * words.batch + part.first) * self.pitch

                def multiply(
                    first: int, width: int, weights: Pointer, start: Pointer, out: Pointer, errors: Pointer = errors
                ) -> None:
                    """A product of some vectors of the errors; what it begins with is null for zeros."""
                    depth = width * self.count
                    with code.loop(0, words.pitch, panel) as column:
                        place = out + column.index, words.pitch
                        begin = place if start is out else (start, 0)
                        given = (errors + first * self.count, group_step), code.number(self.pitch), part.rows
                        turned = weights + column.index * (words.groups * depth)
                        self.all.times_grouped(*given, words.groups, depth, turned, begin, place)

                if self.is_after:
                    multiply(0, 2, words.gate_kernel, to_hidden, to_hidden)
                    multiply(GATES, 1, words.candidate_kernel, to_hidden, to_hidden)
                else:
                    multiply(2, 1, words.candidate_kernel, words.zeros, to_products)
                    with code.loop(0, words.groups) as group, code.loop(0, part.rows) as row:
                        product = lanes.load(to_products + (row.index * words.pitch + group.index * self.count))
                        self._step_back_reset(part, time, group.index, row.index, product)
                    multiply(0, 2, words.gate_kernel, to_hidden, to_hidden)
            multiply_errors(code, words, part, self.all, self.pitch)

    def _places(self, time: Index, group: Index, example: Index) -> tuple[Pointer, Pointer, Pointer]:
        """The reserve, the errors and the gradient of the state, of some units of an example."""
        words = self.words
        return (
            words.reserve + (((words.start + time) * words.groups + group) * words.batch + example) * self.kept,
            words.errors + ((group * words.times + time) * words.batch + example) * self.pitch,
            words.to_hidden + (example * words.pitch + group * self.count),
        )

    def _shown(self, time: Index, group: Index, example: Index) -> Vector:
        """The units of a state before a time, as the op has given them."""
        words = self.words
        time = words.start + time
        later = words.hiddens + ((time - 1) * words.hiddens_time + example * words.hiddens_row)
        place = time.equals(0).select(words.hidden + example * words.units, later) + group * self.count
        return self.lanes.load(place, mask_of_group(self.all, words, group))

    def _step_back(self, part: Part, time: Index, group: Index, row: Index) -> None:
        """One time of some units of one example. To the gradient of the state, products of the errors are added."""
        code, words, lanes, count = self.code, self.words, self.lanes, self.count
        example = part.first + row
        reserve, errors, to_hidden = self._places(time, group, example)
        place = (words.start + time) * words.gradients_time + example * words.gradients_row + group * count
        given = lanes.load(words.gradients + place, mask_of_group(self.all, words, group))
        gradient, counts = lanes.load(to_hidden) + given, part.counts(words, words.start + time, row)
        with code.when(counts):
            update, reset, candidate, product = self._load(reserve)
            for n in range(KEPT):  # which the next step reads
                (reserve + (words.groups * words.batch * -self.kept + n * count)).prefetch()
            before = self._shown(time, group, example)
            (to_update,) = differentiated(code, words.gate, (update, gradient * (before - candidate)))
            through = gradient * update
            (to_candidate,) = differentiated(code, words.activation, (candidate, gradient - through))
            lanes.store(to_update, errors)
            lanes.store(to_candidate, errors + 2 * count)
            if self.is_after:
                (to_reset,) = differentiated(code, words.gate, (reset, to_candidate * product))
                lanes.store(to_reset, errors + count)
                lanes.store(to_candidate * reset, errors + GATES * count)
            lanes.store(through, to_hidden)
        with code.when(~counts):
            for n in range(self.pitch // count):
                lanes.store(lanes.splat(code, 0.0), errors + n * count)
            lanes.store(gradient, to_hidden)

    def _step_back_reset(self, part: Part, time: Index, group: Index, row: Index, to_product: Vector) -> None:
        """The gradients of the reset gate and of the state that it multiplies."""
        code, words, lanes, count = self.code, self.words, self.lanes, self.count
        example = part.first + row
        reserve, errors, to_hidden = self._places(time, group, example)
        with code.when(part.counts(words, words.start + time, row)):
            reset = lanes.load(reserve + count)
            before = self._shown(time, group, example)
            (to_reset,) = differentiated(code, words.gate, (reset, to_product * before))
            lanes.store(to_reset, errors + count)
            lanes.store(to_product.fma(reset, lanes.load(to_hidden)), to_hidden)

    def weights(self) -> None:
        code, words, count = self.code, self.words, self.count
        units, width = words.units, words.units * GATES

        def add(group: Index, block: Block) -> None:
            column, left = group * count, units - group * count
            errors = words.errors + block.number(words, group) * self.pitch

            def sums(
                products: Products, place: Pointer, steps: Steps, rows: Index | int, vector: int, out: Pointer
            ) -> None:
                """Those of some of the vectors of errors, to columns of a gradient."""
                given = place, steps, block.counts, rows, errors + vector * count, self.pitch
                products.outer(*given, (out + column, width), units, left)

            with code.when(is_wanted(words.to_kernel)):
                sums(self.all, block.x, block.x_steps, words.features, 0, words.to_kernel)
            with code.when(is_wanted(words.to_recurrent)):
                candidates = words.to_recurrent + units * 2
                sums(self.gates, block.hidden, block.hidden_steps, units, 0, words.to_recurrent)
                if self.is_after:
                    sums(self.candidate, block.hidden, block.hidden_steps, units, GATES, candidates)
                else:
                    steps = words.groups * words.batch * self.kept, self.kept
                    with code.loop(0, words.groups) as other:
                        number = (block.time * words.groups + other.index) * words.batch + block.example
                        product = words.reserve + (number * self.kept + GATES * count)
                        rows = (units - other.index * count).least(count)
                        sums(self.candidate, product, steps, rows, 2, candidates + other.index * count * width)
            with code.when(is_wanted(words.to_bias)):
                sums(self.all, words.one, (0, 0), 1, 0, words.to_bias)
                if self.is_after:
                    sums(self.gates, words.one, (0, 0), 1, 0, words.to_bias + width)
                    sums(self.candidate, words.one, (0, 0), 1, GATES, words.to_bias + (width + units * 2))

        add_blocks(code, words, add)
