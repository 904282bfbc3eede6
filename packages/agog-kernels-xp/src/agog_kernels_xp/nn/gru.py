"""GRU (gated recurrent units): one product of matrices for the inputs of all times, one or two for each time's state.

Half precision is computed in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.gates import activate, hold, multiply_by_slope, split_held
from agog_kernels_xp.parts.rows import wide


def gru(
    xp: Any,
    x: Array,
    kernel: Array,
    recurrent_kernel: Array,
    bias: Array,
    initial_hidden: Array,
    mask: Array,
    *,
    activation: str,
    recurrent_activation: str,
    reset_after: bool,
) -> tuple[Array, Array]:
    """The hidden states, and as reserve the gates and what the reset gate multiplies or has multiplied."""
    kind, (times, batch, features), units = x.dtype, x.shape, len(recurrent_kernel)
    weights, hidden = wide(recurrent_kernel), wide(initial_hidden)
    input_bias, state_bias = wide(bias) if reset_after else (wide(bias), None)
    products = wide(x).reshape(times * batch, features).dot(wide(kernel)).reshape(times, batch, 3 * units)
    reserve = xp.empty((times, batch, 4 * units), products.dtype)
    gates, resets = reserve[:, :, : 3 * units], reserve[:, :, 3 * units :]
    xp.add(products, input_bias, out=gates)
    hiddens = xp.empty((times, batch, units), gates.dtype)
    for time in range(times):
        now, chosen = gates[time], resets[time]
        update, reset, candidate = (now[:, n * units : (n + 1) * units] for n in range(3))
        if reset_after:
            from_state = hidden.dot(weights)
            from_state += state_bias
            now[:, : 2 * units] += from_state[:, : 2 * units]
            chosen[...] = from_state[:, 2 * units :]
        else:
            now[:, : 2 * units] += hidden.dot(weights[:, : 2 * units])
        activate(xp, recurrent_activation, now[:, : 2 * units])
        if reset_after:
            candidate += reset * chosen
        else:
            xp.multiply(reset, hidden, out=chosen)
            candidate += chosen.dot(weights[:, 2 * units :])
        activate(xp, activation, candidate)
        new = xp.subtract(hidden, candidate, out=hiddens[time])
        new *= update
        new += candidate
        hold(xp, mask, time, new, hidden)
        hidden = new
    return hiddens.astype(kind) if hiddens.dtype != kind else hiddens, reserve


def gru_grad(
    xp: Any,
    gradients: Array,
    x: Array,
    kernel: Array,
    recurrent_kernel: Array,
    bias: Array,
    initial_hidden: Array,
    mask: Array,
    hidden: Array,
    reserve: Array,
    *,
    activation: str,
    recurrent_activation: str,
    reset_after: bool,
    sources: tuple[str, ...],
) -> tuple[Array, ...]:
    """Its gradients by the sources: back through time, then products of matrices for the kernels."""
    kind, (times, batch, features), units = x.dtype, x.shape, len(recurrent_kernel)
    weights, from_outputs = wide(recurrent_kernel).T, wide(gradients)
    gates, resets = reserve[:, :, : 3 * units], reserve[:, :, 3 * units :]
    before = xp.concatenate([wide(initial_hidden)[None], wide(hidden)])[:times]
    to_hidden = xp.zeros((batch, units), gates.dtype)
    errors = xp.empty(gates.shape, gates.dtype)
    # What reaches the products of the state: the same, but for the candidate where its product is multiplied by a gate.
    state_errors = xp.empty(gates.shape, gates.dtype) if reset_after else errors
    for time in range(times - 1, -1, -1):
        error = errors[time]
        update, reset, candidate = (gates[time, :, n * units : (n + 1) * units] for n in range(3))
        to_update, to_reset, to_candidate = (error[:, n * units : (n + 1) * units] for n in range(3))
        new, held = split_held(xp, mask, time, to_hidden + from_outputs[time])
        xp.multiply(new, before[time] - candidate, out=to_update)
        to_hidden = new * update
        xp.subtract(new, to_hidden, out=to_candidate)
        multiply_by_slope(xp, activation, candidate, to_candidate)
        if reset_after:
            xp.multiply(to_candidate, resets[time], out=to_reset)
        else:
            to_product = to_candidate.dot(weights[2 * units :])
            xp.multiply(to_product, before[time], out=to_reset)
            to_product *= reset
            to_hidden += to_product
        multiply_by_slope(xp, recurrent_activation, gates[time, :, : 2 * units], error[:, : 2 * units])
        if reset_after:
            state_error = state_errors[time]
            state_error[:, : 2 * units] = error[:, : 2 * units]
            xp.multiply(to_candidate, reset, out=state_error[:, 2 * units :])
            to_hidden += state_error.dot(weights)
        else:
            to_hidden += error[:, : 2 * units].dot(weights[: 2 * units])
        if held is not None:
            to_hidden += held
    count = times * batch
    rows, state_rows = (array.reshape(count, 3 * units) for array in (errors, state_errors))

    def of_recurrent_kernel() -> Array:
        states = before.reshape(count, units).T
        if reset_after:
            return states.dot(state_rows)
        to_weights = xp.empty(recurrent_kernel.shape, rows.dtype)
        to_weights[:, : 2 * units] = states.dot(rows[:, : 2 * units])
        to_weights[:, 2 * units :] = resets.reshape(count, units).T.dot(rows[:, 2 * units :])
        return to_weights

    results: dict[str, Callable[[], Array]] = {
        "x": lambda: rows.dot(wide(kernel).T).reshape(x.shape),
        "kernel": lambda: wide(x).reshape(count, features).T.dot(rows),
        "recurrent_kernel": of_recurrent_kernel,
        "bias": lambda: xp.stack([rows.sum(0), state_rows.sum(0)]) if reset_after else rows.sum(0),
        "initial_hidden": lambda: to_hidden,
    }
    return tuple([results[source]().astype(kind) for source in sources])
