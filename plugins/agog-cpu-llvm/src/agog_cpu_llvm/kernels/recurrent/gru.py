"""GRU: `gru` and its gradient, in compiled code. Half precision is computed in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_cpu_llvm import team
from agog_cpu_llvm.kernels.recurrent.arrays import (
    Array,
    aligned,
    grouped,
    in_order,
    mask_words,
    step_words,
    turned,
    wide,
    with_features,
)
from agog_cpu_llvm.kernels.recurrent.back import walk_back
from agog_cpu_llvm.kernels.recurrent.sizes import Sizes
from agog_cpu_llvm.kernels.recurrent.words import BACK, INPUTS, PART, SIZES, SUMS, TO_X
from agog_cpu_llvm.units import compiled

GATES = 3
KEPT = 4
"""Vectors of the reserve, and of what is activated."""

FORWARD = (*INPUTS, *PART, "gate_kernel", "candidate_kernel", "state_bias", "hidden", "hiddens", "reserve", *SIZES)
"""The words of `gru`."""

BACKWARD = (
    *("gradients", "gradients_time", "gradients_row", "hidden", "hiddens", "hiddens_time", "hiddens_row"),
    *("to_hidden", "pitch", "gate_kernel", "candidate_kernel", "reserve", *BACK, *TO_X, *PART, *SIZES),
)
"""The words of `gru_grad`; a row of ``to_hidden`` has ``pitch`` elements."""

WEIGHTS = (*SUMS, "reserve", *BACK, *SIZES)
"""The words of `gru_weights_grad`."""


def gru(
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
) -> tuple[Array, ...]:
    """The hidden states, and the reserve that `gru_code` describes."""
    kind, (x, kernel) = x.dtype, with_features(wide(x), wide(kernel))
    sizes = Sizes.of(x, recurrent_kernel)
    lanes, times, batch, units = sizes.lanes, sizes.times, sizes.batch, sizes.units
    hiddens = aligned((times, batch, units), x.dtype)
    if not hiddens.size:
        return hiddens.astype(kind), hiddens
    reserve = aligned((times, sizes.groups, batch, KEPT, lanes), x.dtype)
    biases, state_bias = _biases(wide(bias), units, reset_after)
    weights = wide(recurrent_kernel)
    part = sizes.part_words()
    words: dict[str, Any] = {
        **step_words("x", x),
        "kernel": grouped(kernel, GATES, lanes),
        "bias": grouped(biases[None], GATES, lanes),
        **mask_words(mask),
        **part,
        "gate_kernel": grouped(weights[:, : 2 * units], 2, lanes),
        "candidate_kernel": grouped(weights[:, 2 * units :], 1, lanes),
        "state_bias": grouped(state_bias[None], 1, lanes),
        "hidden": np.ascontiguousarray(wide(initial_hidden)),
        "hiddens": hiddens,
        "reserve": reserve,
        **sizes.words(activation, recurrent_activation),
    }
    vectors = part["chunk"] * sizes.groups * (words["block"] * KEPT + 1)
    scratch = vectors * lanes * x.itemsize
    entries = compiled("recurrent.gru", sizes.dtype, is_after=reset_after, is_backward=False)
    team.run(entries["gru"], in_order(FORWARD, words), scratch, part["chunks"])
    return hiddens.astype(kind, copy=False), reserve


def gru_grad(
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
    """The gradients by the sources."""
    kind, features = x.dtype, x.shape[2]
    if not hidden.size:
        given = x, kernel, recurrent_kernel, bias, initial_hidden
        zeros = dict(zip(("x", "kernel", "recurrent_kernel", "bias", "initial_hidden"), given, strict=True))
        return tuple([np.zeros_like(zeros[source]) for source in sources])
    x, kernel = with_features(wide(x), wide(kernel))
    sizes = Sizes.of(x, recurrent_kernel)
    lanes, times, batch, units, dtype = sizes.lanes, sizes.times, sizes.batch, sizes.units, x.dtype
    panel = GATES * lanes
    pitch = -(-units // panel) * panel
    to_hidden = np.zeros((batch, pitch), dtype)
    vectors = KEPT if reset_after else GATES
    parts = list(sizes.times_back(vectors))
    errors = aligned((sizes.groups, parts[0][1], batch, vectors, lanes), dtype)
    needs_x = "x" in sources
    to_x = aligned(x.shape, dtype) if needs_x else None
    recurrent = wide(recurrent_kernel)
    shared = {
        "hidden": np.ascontiguousarray(wide(initial_hidden)),
        **step_words("hiddens", wide(hidden)),
        "reserve": np.ascontiguousarray(reserve),
        "errors": errors,
        "start": 0,
        **sizes.words(activation, recurrent_activation),
    }
    part = sizes.part_words()
    words: dict[str, Any] = {
        **step_words("gradients", wide(gradients)),
        "to_hidden": to_hidden,
        "pitch": pitch,
        "gate_kernel": turned(recurrent[:, : 2 * units], 2, lanes, panel),
        "candidate_kernel": turned(recurrent[:, 2 * units :], 1, lanes, panel),
        "to_x": to_x,
        "input_kernel": turned(kernel, GATES, lanes, panel) if needs_x else None,
        "zeros": np.zeros(panel, dtype),
        **mask_words(mask),
        **part,
        **shared,
    }
    entries = compiled("recurrent.gru", sizes.dtype, is_after=reset_after, is_backward=True)
    weights = {"kernel": kernel, "recurrent_kernel": recurrent_kernel, "bias": bias}
    found = walk_back(
        (entries["gru_grad"], BACKWARD),
        (entries["gru_weights_grad"], WEIGHTS),
        words,
        shared,
        sizes,
        x,
        {name: array for name, array in weights.items() if name in sources},
        parts,
        part["chunk"] * pitch * x.itemsize,
    )
    found |= {"x": to_x, "initial_hidden": np.ascontiguousarray(to_hidden[:, :units])}
    if not features:
        found |= {"x": np.zeros((times, batch, 0), dtype), "kernel": np.zeros((0, GATES * units), dtype)}
    return tuple([found[source].astype(kind, copy=False) for source in sources])


def _biases(bias: Array, units: int, is_after: bool) -> tuple[Array, Array]:
    """The biases of the gates and the candidate, and that of the product which the reset gate multiplies."""
    if not is_after:
        return bias, np.zeros(units, bias.dtype)
    biases = bias[0].copy()
    biases[: 2 * units] += bias[1, : 2 * units]
    return biases, bias[1, 2 * units :]
