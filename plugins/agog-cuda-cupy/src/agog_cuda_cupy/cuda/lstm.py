"""LSTM: `lstm` and its gradient, by a kernel of lstm.cu for all times, or one for each behind a product of matrices.

The reserve is that of agog_kernels_xp. Half precision is computed in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_cuda_cupy.cuda.modules import Modules, element
from agog_cuda_cupy.cuda.recurrence import codes, is_served, widening
from agog_cuda_cupy.cuda.transpose import contiguous

Array = Any

_MOST_UNITS = 256  # as in the source
_MOST_READS = 3 << 20  # quarters of the weights that all blocks read at each time, one for each example


def lstm(
    modules: Modules,
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
) -> Any:
    if not is_served(x, activation, recurrent_activation):
        return NotImplemented
    xp, wide = modules.xp, widening(modules, x)
    (times, batch, features), units = x.shape, len(recurrent_kernel)
    weights, biases, hidden, cell = (wide(a) for a in (recurrent_kernel, bias, initial_hidden, initial_cell))
    products = wide(x).reshape(times * batch, features).dot(wide(kernel))
    reserve = xp.empty((times, batch, 5 * units), products.dtype)
    hiddens = xp.empty((times, batch, units), products.dtype)
    masks = xp.ascontiguousarray(mask), bool(mask.size)
    kinds = codes(activation, recurrent_activation)
    if _is_small(times, batch, units):
        layer = modules.kernel("lstm", "lstm_layer", AGOG_NUMBER=element(products.dtype) or "")
        given = products, biases, weights, hidden, cell, *masks, reserve, hiddens, times, batch, units, *kinds
        layer((batch,), (_threads(units),), given)
    else:
        from_state = xp.empty((batch, 4 * units), products.dtype)
        step = modules.kernel("lstm", "lstm_cell", AGOG_NUMBER=element(products.dtype) or "")
        for time in range(times):
            xp.matmul(hiddens[time - 1] if time else hidden, weights, out=from_state)
            given = products, biases, from_state, hidden, cell, *masks, reserve, hiddens, time, batch, units, *kinds
            modules.launch(step, batch * units, *given)
    last = reserve[-1, :, 4 * units :] if times else cell
    return hiddens.astype(x.dtype, copy=False), last.astype(x.dtype), reserve


def lstm_grad(
    modules: Modules,
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
) -> Any:
    if not is_served(x, activation, recurrent_activation):
        return NotImplemented
    xp, wide = modules.xp, widening(modules, x)
    (times, batch, features), units = x.shape, len(recurrent_kernel)
    weights, outputs = wide(recurrent_kernel).T, wide(hidden_gradients)
    first_hidden, first_cell = wide(initial_hidden), wide(initial_cell)
    reserve = xp.ascontiguousarray(reserve)
    to_cell = xp.array(wide(cell_gradients))
    held, product = xp.zeros((batch, units), to_cell.dtype), xp.zeros((batch, units), to_cell.dtype)
    errors = xp.empty((times, batch, 4 * units), to_cell.dtype)
    masks = xp.ascontiguousarray(mask), bool(mask.size)
    kinds = codes(activation, recurrent_activation)
    if _is_small(times, batch, units):
        layer = modules.kernel("lstm", "lstm_layer_grad", AGOG_NUMBER=element(to_cell.dtype) or "")
        states = product, held, to_cell, errors
        given = outputs, contiguous(modules, weights), reserve, first_cell, *masks, *states, times, batch, units, *kinds
        layer((batch,), (_threads(units),), given)
    else:
        step = modules.kernel("lstm", "lstm_cell_grad", AGOG_NUMBER=element(to_cell.dtype) or "")
        for time in range(times - 1, -1, -1):
            given = outputs, product, reserve, first_cell, *masks, held, to_cell, errors, time, batch, units, *kinds
            modules.launch(step, batch * units, *given)
            xp.matmul(errors[time], weights, out=product)
    rows = errors.reshape(times * batch, 4 * units)

    def of_recurrent_kernel() -> Array:
        before = xp.concatenate([first_hidden[None], wide(hidden)])[:times]
        return before.reshape(times * batch, units).T.dot(rows)

    results: dict[str, Callable[[], Array]] = {
        "x": lambda: rows.dot(wide(kernel).T).reshape(x.shape),
        "kernel": lambda: wide(x).reshape(times * batch, features).T.dot(rows),
        "recurrent_kernel": of_recurrent_kernel,
        "bias": lambda: rows.sum(0),
        "initial_hidden": lambda: product + held,
        "initial_cell": lambda: to_cell,
    }
    return tuple([results[source]().astype(x.dtype) for source in sources])


def _is_small(times: int, batch: int, units: int) -> bool:
    """Whether a block of each example goes through all times sooner than launches for each time do."""
    return bool(times and batch and 0 < units <= _MOST_UNITS and batch * units**2 <= _MOST_READS)


def _threads(units: int) -> int:
    """A thread for each unit, in whole warps."""
    return -(-units // 32) * 32
