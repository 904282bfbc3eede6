"""GRU: `gru` and its gradient, by one or two kernels of gru.cu for each time behind products of matrices.

The reserve is that of agog_kernels_xp. Half precision is computed in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agog_cuda_cupy.cuda.modules import Modules, element
from agog_cuda_cupy.cuda.recurrence import codes, is_served, widening

Array = Any

_NETWORK = np.dtype(
    [
        *((name, "u8") for name in ("products", "bias", "initial_hidden", "mask", "reserve", "hiddens")),
        *(("batch", "i8"), ("units", "i8"), ("activation", "i4"), ("recurrent_activation", "i4")),
    ]
)
_ERRORS = np.dtype([(name, "u8") for name in ("gradients", "product", "direct", "errors")])


def gru(
    modules: Modules,
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
) -> Any:
    if not is_served(x, activation, recurrent_activation):
        return NotImplemented
    xp, wide = modules.xp, widening(modules, x)
    (times, batch, features), units = x.shape, len(recurrent_kernel)
    weights, hidden, biases, mask = wide(recurrent_kernel), wide(initial_hidden), wide(bias), xp.ascontiguousarray(mask)
    products = wide(x).reshape(times * batch, features).dot(wide(kernel))
    reserve = xp.empty((times, batch, 4 * units), products.dtype)
    hiddens = xp.empty((times, batch, units), products.dtype)
    arrays = products, biases, hidden, mask, reserve, hiddens
    network = _network(modules, arrays, batch, units, codes(activation, recurrent_activation))
    step = _launching(modules, products.dtype, batch * units)
    to_gates, to_candidate = _split(xp, weights, units)
    from_state = xp.empty((batch, (3 if reset_after else 2) * units), products.dtype)
    chosen, from_chosen = xp.empty((2, batch, units), products.dtype)
    for time in range(times):
        before = hiddens[time - 1] if time else hidden
        if reset_after:
            xp.matmul(before, weights, out=from_state)
            step("gru_cell", network, from_state, time)
        else:
            xp.matmul(before, to_gates, out=from_state)
            step("gru_gates", network, from_state, chosen, time)
            xp.matmul(chosen, to_candidate, out=from_chosen)
            step("gru_candidate", network, from_chosen, time)
    return hiddens.astype(x.dtype, copy=False), reserve


def gru_grad(
    modules: Modules,
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
) -> Any:
    if not is_served(x, activation, recurrent_activation):
        return NotImplemented
    xp, wide = modules.xp, widening(modules, x)
    (times, batch, features), units = x.shape, len(recurrent_kernel)
    weights, outputs, mask = wide(recurrent_kernel), wide(gradients), xp.ascontiguousarray(mask)
    first, hiddens, reserve = wide(initial_hidden), wide(hidden), xp.ascontiguousarray(reserve)
    errors = xp.empty((times, batch, 3 * units), outputs.dtype)
    state_errors = xp.empty(errors.shape, errors.dtype) if reset_after else errors
    product, direct = xp.zeros((2, batch, units), errors.dtype)
    candidate_errors, to_chosen = xp.empty((2, batch, units), errors.dtype)
    gate_errors = xp.empty((batch, 2 * units), errors.dtype)
    # The kernels that go back read neither the products of the inputs nor the bias.
    arrays = None, None, first, mask, reserve, hiddens
    network = _network(modules, arrays, batch, units, codes(activation, recurrent_activation))
    to = np.array(tuple(modules.address(array) for array in (outputs, product, direct, errors)), _ERRORS)[()]
    step = _launching(modules, errors.dtype, batch * units)
    to_gates, to_candidate = _split(xp, weights, units)
    for time in range(times - 1, -1, -1):
        if reset_after:
            step("gru_cell_grad", network, to, state_errors, time)
            xp.matmul(state_errors[time], weights.T, out=product)
        else:
            step("gru_candidate_grad", network, to, candidate_errors, time)
            xp.matmul(candidate_errors, to_candidate.T, out=to_chosen)
            step("gru_gates_grad", network, to, to_chosen, gate_errors, time)
            xp.matmul(gate_errors, to_gates.T, out=product)
    count = times * batch
    rows, state_rows = (array.reshape(count, 3 * units) for array in (errors, state_errors))

    def of_recurrent_kernel() -> Array:
        states = xp.concatenate([first[None], hiddens])[:times].reshape(count, units).T
        if reset_after:
            return states.dot(state_rows)
        chosen = reserve[:, :, 3 * units :].reshape(count, units).T
        return xp.concatenate([states.dot(rows[:, : 2 * units]), chosen.dot(rows[:, 2 * units :])], axis=1)

    results: dict[str, Callable[[], Array]] = {
        "x": lambda: rows.dot(wide(kernel).T).reshape(x.shape),
        "kernel": lambda: wide(x).reshape(count, features).T.dot(rows),
        "recurrent_kernel": of_recurrent_kernel,
        "bias": lambda: xp.stack([rows.sum(0), state_rows.sum(0)]) if reset_after else rows.sum(0),
        "initial_hidden": lambda: product + direct,
    }
    return tuple([results[source]().astype(x.dtype) for source in sources])


def _network(
    modules: Modules, arrays: tuple[Array | None, ...], batch: int, units: int, activations: tuple[np.int32, ...]
) -> Any:
    """The structure that the kernels share; an array that is None or has no element is null there."""
    addresses = [0 if array is None or not array.size else modules.address(array) for array in arrays]
    return np.array((*addresses, batch, units, *activations), _NETWORK)[()]


def _launching(modules: Modules, dtype: Any, threads: int) -> Callable[..., None]:
    """What launches a kernel of gru.cu by its name."""
    number = element(dtype) or ""
    return lambda name, *given: modules.launch(modules.kernel("gru", name, AGOG_NUMBER=number), threads, *given)


def _split(xp: Any, weights: Array, units: int) -> tuple[Array, Array]:
    """The recurrent weights of the gates, and those of the candidate."""
    return xp.ascontiguousarray(weights[:, : 2 * units]), xp.ascontiguousarray(weights[:, 2 * units :])
