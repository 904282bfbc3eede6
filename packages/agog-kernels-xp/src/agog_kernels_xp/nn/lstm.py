"""LSTM (long short-term memory): one product of matrices for the inputs of all times, one for each time's state.

Half precision is computed in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.gates import activate, hold, multiply_by_slope, split_held
from agog_kernels_xp.parts.rows import wide


def lstm(
    xp: Any,
    x: Array,
    kernel: Array,
    recurrent_kernel: Array,
    bias: Array,
    initial_hidden: Array,
    initial_cell: Array,
    mask: Array,
    *,
    activation: str,
    recurrent_activation: str,
) -> tuple[Array, Array, Array]:
    """The hidden states, the last cell state, and as reserve the gates and cell states of all times side by side."""
    kind, (times, batch, features), units = x.dtype, x.shape, len(recurrent_kernel)
    weights = wide(recurrent_kernel)
    hidden, cell = wide(initial_hidden), wide(initial_cell)
    products = wide(x).reshape(times * batch, features).dot(wide(kernel)).reshape(times, batch, 4 * units)
    reserve = xp.empty((times, batch, 5 * units), products.dtype)
    gates, cells = reserve[:, :, : 4 * units], reserve[:, :, 4 * units :]
    xp.add(products, wide(bias), out=gates)
    hiddens = xp.empty((times, batch, units), gates.dtype)
    from_state = xp.empty((batch, 4 * units), gates.dtype)
    product = xp.empty((batch, units), gates.dtype)
    for time in range(times):
        now = gates[time]
        now += xp.matmul(hidden, weights, out=from_state)
        activate(xp, recurrent_activation, now[:, : 2 * units])
        activate(xp, activation, now[:, 2 * units : 3 * units])
        activate(xp, recurrent_activation, now[:, 3 * units :])
        entry, keep, candidate, exit = (now[:, n * units : (n + 1) * units] for n in range(4))
        new = xp.multiply(keep, cell, out=cells[time])
        new += xp.multiply(entry, candidate, out=product)
        hold(xp, mask, time, new, cell)
        hiddens[time] = new
        activate(xp, activation, hiddens[time])
        hiddens[time] *= exit
        hold(xp, mask, time, hiddens[time], hidden)
        hidden, cell = hiddens[time], new
    return *[array.astype(kind) if array.dtype != kind else array for array in (hiddens, cell + 0)], reserve


def lstm_grad(
    xp: Any,
    hidden_gradients: Array,
    cell_gradients: Array,
    x: Array,
    kernel: Array,
    recurrent_kernel: Array,
    bias: Array,
    initial_hidden: Array,
    initial_cell: Array,
    mask: Array,
    hidden: Array,
    reserve: Array,
    *,
    activation: str,
    recurrent_activation: str,
    sources: tuple[str, ...],
) -> tuple[Array, ...]:
    """Its gradients by the sources: back through time, then one product of matrices for each kernel."""
    kind, (times, batch, features), units = x.dtype, x.shape, len(recurrent_kernel)
    weights = wide(recurrent_kernel).T
    from_outputs, gates, cells = wide(hidden_gradients), reserve[:, :, : 4 * units], reserve[:, :, 4 * units :]
    first_hidden, first_cell = wide(initial_hidden), wide(initial_cell)
    to_hidden, to_cell = xp.zeros((batch, units), gates.dtype), wide(cell_gradients)
    errors = xp.empty(gates.shape, gates.dtype)
    for time in range(times - 1, -1, -1):
        error = errors[time]
        entry, keep, candidate, exit = (gates[time, :, n * units : (n + 1) * units] for n in range(4))
        to_entry, to_keep, to_candidate, to_exit = (error[:, n * units : (n + 1) * units] for n in range(4))
        new_hidden, held_hidden = split_held(xp, mask, time, to_hidden + from_outputs[time])
        new_cell, held_cell = split_held(xp, mask, time, to_cell)
        active = cells[time] + 0
        activate(xp, activation, active)
        xp.multiply(new_hidden, active, out=to_exit)
        through_output = new_hidden * exit
        multiply_by_slope(xp, activation, active, through_output)
        through_output += new_cell
        xp.multiply(through_output, candidate, out=to_entry)
        xp.multiply(through_output, cells[time - 1] if time else first_cell, out=to_keep)
        xp.multiply(through_output, entry, out=to_candidate)
        multiply_by_slope(xp, recurrent_activation, gates[time, :, : 2 * units], error[:, : 2 * units])
        multiply_by_slope(xp, activation, candidate, to_candidate)
        multiply_by_slope(xp, recurrent_activation, exit, to_exit)
        to_cell = xp.multiply(through_output, keep, out=through_output)
        to_hidden = error.dot(weights)
        if held_hidden is not None:
            to_hidden += held_hidden
            to_cell += held_cell
    rows = errors.reshape(times * batch, 4 * units)

    def of_recurrent_kernel() -> Array:
        before = xp.concatenate([first_hidden[None], wide(hidden)])[:times]
        return before.reshape(times * batch, units).T.dot(rows)

    results: dict[str, Callable[[], Array]] = {
        "x": lambda: rows.dot(wide(kernel).T).reshape(x.shape),
        "kernel": lambda: wide(x).reshape(times * batch, features).T.dot(rows),
        "recurrent_kernel": of_recurrent_kernel,
        "bias": lambda: rows.sum(0),
        "initial_hidden": lambda: to_hidden,
        "initial_cell": lambda: to_cell,
    }
    return tuple([results[source]().astype(kind) for source in sources])
