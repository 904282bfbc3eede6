"""LSTM: `lstm` and its gradient, in compiled code. Half precision is computed in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_cpu_llvm import team
from agog_cpu_llvm.kernels.recurrent.arrays import (
    Array,
    aligned,
    grouped,
    in_groups,
    in_order,
    mask_words,
    out_of_groups,
    step_words,
    turned,
    wide,
    with_features,
)
from agog_cpu_llvm.kernels.recurrent.back import walk_back
from agog_cpu_llvm.kernels.recurrent.sizes import Sizes
from agog_cpu_llvm.kernels.recurrent.words import BACK, INPUTS, PART, SIZES, SUMS, TO_X
from agog_cpu_llvm.units import compiled

GATES = 4

FORWARD = (*INPUTS, *PART, "recurrent", "hidden", "hiddens", "reserve", *SIZES)
"""The words of `lstm`."""

BACKWARD = (
    *("gradients", "gradients_time", "gradients_row", "to_cell", "to_hidden", "pitch"),
    *("recurrent", "reserve", *BACK, *TO_X, *PART, *SIZES),
)
"""The words of `lstm_grad`; a row of ``to_hidden`` has ``pitch`` elements."""

WEIGHTS = (*SUMS, *BACK, *SIZES)
"""The words of `lstm_weights_grad`."""


def lstm(
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
) -> tuple[Array, ...]:
    """The hidden states, the last cell state, and the reserve that `lstm_code` describes."""
    kind, (x, kernel) = x.dtype, with_features(wide(x), wide(kernel))
    sizes = Sizes.of(x, recurrent_kernel)
    lanes, times, batch, units = sizes.lanes, sizes.times, sizes.batch, sizes.units
    hiddens = aligned((times, batch, units), x.dtype)
    if not hiddens.size:
        return hiddens.astype(kind), initial_cell.copy(), hiddens
    reserve = aligned((times + 1, sizes.groups, batch, GATES + 1, lanes), x.dtype)
    reserve[0] = 0
    reserve[0, :, :, GATES] = in_groups(wide(initial_cell), lanes)
    part = sizes.part_words()
    words: dict[str, Any] = {
        **step_words("x", x),
        "kernel": grouped(kernel, GATES, lanes),
        "bias": grouped(wide(bias)[None], GATES, lanes),
        **mask_words(mask),
        **part,
        "recurrent": grouped(wide(recurrent_kernel), GATES, lanes),
        "hidden": np.ascontiguousarray(wide(initial_hidden)),
        "hiddens": hiddens,
        "reserve": reserve,
        **sizes.words(activation, recurrent_activation),
    }
    scratch = part["block"] * sizes.groups * part["chunk"] * GATES * lanes * x.itemsize
    entries = compiled("recurrent.lstm", x.dtype.name, is_backward=False)
    team.run(entries["lstm"], in_order(FORWARD, words), scratch, part["chunks"])
    cell = out_of_groups(reserve[-1, :, :, GATES], units)
    return hiddens.astype(kind, copy=False), cell.astype(kind, copy=False), reserve


def lstm_grad(
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
    """The gradients by the sources."""
    kind, features = x.dtype, x.shape[2]
    if not hidden.size:
        given = {"x": x, "kernel": kernel, "recurrent_kernel": recurrent_kernel, "bias": bias}
        zeros = {name: np.zeros_like(array) for name, array in {**given, "initial_hidden": initial_hidden}.items()}
        return tuple([zeros.get(source, cell_gradients.copy()) for source in sources])
    x, kernel = with_features(wide(x), wide(kernel))
    sizes = Sizes.of(x, recurrent_kernel)
    lanes, times, batch, units = sizes.lanes, sizes.times, sizes.batch, sizes.units
    panel, dtype = GATES * lanes, x.dtype
    pitch = -(-units // panel) * panel
    to_hidden, to_cell = np.zeros((batch, pitch), dtype), in_groups(wide(cell_gradients), lanes)
    parts = list(sizes.times_back(GATES))
    errors = aligned((sizes.groups, parts[0][1], batch, GATES, lanes), dtype)
    needs_x = "x" in sources
    to_x = aligned(x.shape, dtype) if needs_x else None
    shared = {
        "hidden": np.ascontiguousarray(wide(initial_hidden)),
        **step_words("hiddens", wide(hidden)),
        "reserve": np.ascontiguousarray(reserve),
        "errors": errors,
        "start": 0,
        **sizes.words(activation, recurrent_activation),
    }
    part = sizes.part_words()
    words = {
        **step_words("gradients", wide(hidden_gradients)),
        "to_cell": to_cell,
        "to_hidden": to_hidden,
        "pitch": pitch,
        "recurrent": turned(wide(recurrent_kernel), GATES, lanes, panel),
        "to_x": to_x,
        "input_kernel": turned(kernel, GATES, lanes, panel) if needs_x else None,
        "zeros": np.zeros(panel, dtype),
        **mask_words(mask),
        **part,
        **shared,
    }
    entries = compiled("recurrent.lstm", x.dtype.name, is_backward=True)
    weights = {"kernel": kernel, "recurrent_kernel": recurrent_kernel, "bias": bias}
    found = walk_back(
        (entries["lstm_grad"], BACKWARD),
        (entries["lstm_weights_grad"], WEIGHTS),
        words,
        shared,
        sizes,
        x,
        {name: array for name, array in weights.items() if name in sources},
        parts,
        0,
    )
    found |= {
        "x": to_x,
        "initial_hidden": np.ascontiguousarray(to_hidden[:, :units]),
        "initial_cell": out_of_groups(to_cell, units),
    }
    if not features:
        found |= {"x": np.zeros((times, batch, 0), dtype), "kernel": np.zeros((0, GATES * units), dtype)}
    return tuple([found[source].astype(kind, copy=False) for source in sources])
