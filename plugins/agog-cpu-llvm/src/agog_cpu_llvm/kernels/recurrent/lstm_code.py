"""LSTM code: compiled long short-term memory, back through time, and the gradients of its weights.

The reserve has, for each time, group and example, the vectors of the input, forget, candidate and output gates and of
the cell state; before the first time, only the initial cell state. The errors, gradients of what the gates are
activated from, have for each group, time and example those of the four gates.
"""

from __future__ import annotations

from llvmlite import ir

from agog_cpu_llvm.kernels.recurrent.activations import activated, differentiated
from agog_cpu_llvm.kernels.recurrent.lstm import BACKWARD, FORWARD, GATES, WEIGHTS
from agog_cpu_llvm.kernels.recurrent.products import DEPTH, Products
from agog_cpu_llvm.kernels.recurrent.recurrence_code import (
    Block,
    Part,
    add_blocks,
    is_wanted,
    kinds,
    mask_of_group,
    multiply_errors,
    multiply_inputs,
)
from agog_cpu_llvm.tiles import Code, Condition, Index, Lanes, Mask, Pointer, Words, entry


def write(module: ir.Module, dtype: str, lanes: Lanes, is_backward: bool) -> None:
    """The entry `lstm`, or `lstm_grad` and `lstm_weights_grad`."""
    products = Products(module, dtype, lanes, GATES)
    if not is_backward:
        with entry(module, "lstm", kinds(FORWARD, dtype)) as (code, words, scratch):
            _forward(code, words, scratch.seen_as(dtype), products)
        return
    with entry(module, "lstm_grad", kinds(BACKWARD, dtype)) as (code, words, _):
        _backward(code, words, products)
    with entry(module, "lstm_weights_grad", kinds(WEIGHTS, dtype)) as (code, words, _):
        _weights(code, words, products)


def _forward(code: Code, words: Words, gates: Pointer, products: Products) -> None:
    panel = GATES * products.lanes.count
    with code.turns(words.counter, words.chunks) as turn:
        part = Part.of(turn, words)
        with code.loop(0, words.times, words.block) as block:
            times = words.block.least(words.times - block.index)
            multiply_inputs(code, words, part, products, (block.index, times), (gates, panel))
            with code.loop(0, times) as step, code.loop(0, words.groups) as group:
                now = gates + (step.index * words.groups + group.index) * part.rows * panel
                _group(code, words, part, products, block.index + step.index, group.index, now)


def _group(code: Code, words: Words, part: Part, products: Products, time: Index, group: Index, gates: Pointer) -> None:
    """One time of some units. Behind the last products of a tile's rows, these are in the cache still."""
    lanes, units, first = products.lanes, words.units, part.first
    panel, kept = GATES * lanes.count, (GATES + 1) * lanes.count
    hidden = time.equals(0).select(words.hidden, words.hiddens + (time - 1) * words.batch * units) + first * units
    weights = words.recurrent + group * (units * panel)
    head = (units - 1) // DEPTH * DEPTH
    with code.when(head > 0):
        products.times(hidden, units, part.rows, head, weights, (gates, panel), (gates, panel))
    before = words.reserve + ((time * words.groups + group) * words.batch + first) * kept
    after = before + words.groups * words.batch * kept
    hiddens, unit = words.hiddens + (time * words.batch + first) * units, group * lanes.count
    mask = mask_of_group(products, words, group)
    with products.blocks(code, part.rows) as (start, size):
        state, out = hidden + (start * units + head), (gates + start * panel, panel)
        products.times(state, units, size, units - head, weights + head * panel, out, out)
        with code.loop(start, start + size) as row:
            n = row.index
            old, new = before + (n * kept + panel), after + n * kept
            shown, earlier = hiddens + (n * units + unit), hidden + (n * units + unit)
            counts = part.counts(words, time, n)
            with code.when(counts):
                _step(code, words, lanes, gates + n * panel, old, new, shown, mask)
            with code.when(~counts):
                for gate in range(GATES):
                    lanes.store(lanes.splat(code, 0.0), new + gate * lanes.count)
                lanes.store(lanes.load(old), new + panel)
                lanes.store(lanes.load(earlier, mask), shown, mask)


def _step(
    code: Code, words: Words, lanes: Lanes, gates: Pointer, cell: Pointer, reserve: Pointer, hidden: Pointer, mask: Mask
) -> None:
    """One time of some units of one example."""
    entry_, keep, candidate, exit = [lanes.load(gates + n * lanes.count) for n in range(GATES)]
    entry_, keep, exit = activated(code, words.gate, entry_, keep, exit)
    (candidate,) = activated(code, words.activation, candidate)
    new = keep.fma(lanes.load(cell), entry_ * candidate)
    (active,) = activated(code, words.activation, new)
    for n, vector in enumerate((entry_, keep, candidate, exit, new)):
        lanes.store(vector, reserve + n * lanes.count)
    lanes.store(exit * active, hidden, mask)


def _backward(code: Code, words: Words, products: Products) -> None:
    panel = GATES * products.lanes.count
    group_step = words.times * words.batch * panel
    with code.turns(words.counter, words.chunks) as turn:
        part = Part.of(turn, words)
        with code.loop(0, words.times) as back:
            number = words.times - 1 - back.index
            with code.loop(0, words.groups) as group, code.loop(0, part.rows) as row:
                _step_back(code, words, part, products, number, group.index, row.index)
            errors = words.errors + (number * words.batch + part.first) * panel
            with code.loop(0, words.pitch, panel) as column:
                weights = words.recurrent + column.index * (words.groups * panel)
                state = words.to_hidden + (part.first * words.pitch + column.index), words.pitch
                given = (errors, group_step), code.number(panel), part.rows, words.groups, panel
                products.times_grouped(*given, weights, state, state)
        multiply_errors(code, words, part, products, panel)


def _step_back(
    code: Code, words: Words, part: Part, products: Products, number: Index, group: Index, row: Index
) -> None:
    """One time of some units of one example. To the gradient of the hidden state, products of the errors are added."""
    lanes, example, time = products.lanes, part.first + row, words.start + number
    panel, kept = GATES * lanes.count, (GATES + 1) * lanes.count
    before = words.reserve + ((time * words.groups + group) * words.batch + example) * kept
    now = before + words.groups * words.batch * kept
    errors = words.errors + ((group * words.times + number) * words.batch + example) * panel
    to_cell = words.to_cell + (group * words.batch + example) * lanes.count
    to_hidden = words.to_hidden + (example * words.pitch + group * lanes.count)
    place = time * words.gradients_time + example * words.gradients_row + group * lanes.count
    given = lanes.load(words.gradients + place, mask_of_group(products, words, group))
    from_hidden, zero = lanes.load(to_hidden) + given, lanes.splat(code, 0.0)
    counts: Condition = part.counts(words, time, row)
    with code.when(counts):
        entry_, keep, candidate, exit, cell = [lanes.load(now + n * lanes.count) for n in range(GATES + 1)]
        (active,) = activated(code, words.activation, cell)
        (through,) = differentiated(code, words.activation, (active, from_hidden * exit))
        through = through + lanes.load(to_cell)
        old = lanes.load(before + panel)
        for n in range(GATES):  # which the next step reads
            (before + n * lanes.count).prefetch()
        pairs = (entry_, through * candidate), (keep, through * old), (exit, from_hidden * active)
        to_entry, to_keep, to_exit = differentiated(code, words.gate, *pairs)
        (to_candidate,) = differentiated(code, words.activation, (candidate, through * entry_))
        for n, vector in enumerate((to_entry, to_keep, to_candidate, to_exit)):
            lanes.store(vector, errors + n * lanes.count)
        lanes.store(through * keep, to_cell)
        lanes.store(zero, to_hidden)
    with code.when(~counts):
        for n in range(GATES):
            lanes.store(zero, errors + n * lanes.count)
        lanes.store(from_hidden, to_hidden)


def _weights(code: Code, words: Words, products: Products) -> None:
    panel, width = GATES * products.lanes.count, words.units * GATES

    def add(group: Index, block: Block) -> None:
        column, left = group * products.lanes.count, words.units - group * products.lanes.count
        errors = words.errors + block.number(words, group) * panel
        for place, steps, rows, out in (
            (block.x, block.x_steps, words.features, words.to_kernel),
            (block.hidden, block.hidden_steps, words.units, words.to_recurrent),
            (words.one, (0, 0), 1, words.to_bias),
        ):
            with code.when(is_wanted(out)):
                target = out + column, width
                products.outer(place, steps, block.counts, rows, errors, panel, target, words.units, left)

    add_blocks(code, words, add)
