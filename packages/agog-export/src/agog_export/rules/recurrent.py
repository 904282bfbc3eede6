"""Recurrent: rules of layers with states, whose gates come in another order here and there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_export.refusal import Refusal
from agog_export.sizes import Number
from agog_export.writer import Array, Operand, Writer

__all__ = ["gru", "lstm"]

# ONNX's activations with their numbers alpha and beta, where they have any.
_ACTIVATIONS: dict[str, tuple[str, tuple[float, ...]]] = {
    "hard_sigmoid": ("HardSigmoid", (0.2, 0.5)),
    "linear": ("Affine", (1.0, 0.0)),
    "relu": ("Relu", ()),
    "sigmoid": ("Sigmoid", ()),
    "tanh": ("Tanh", ()),
}


def gru(
    op: Writer,
    x: Operand,
    kernel: Operand,
    recurrent_kernel: Operand,
    bias: Operand,
    initial_hidden: Operand,
    mask: Operand,
    *,
    activation: str,
    recurrent_activation: str,
    reset_after: bool,
) -> list[Any]:
    _check(x, mask)
    order, activations = (0, 1, 2), _activations(recurrent_activation, activation)
    biases = bias if reset_after else _with_zeros(op, bias)
    units = initial_hidden.shape[-1]
    weights = _weights(op, (kernel, recurrent_kernel, biases), order, units)
    form = {"hidden_size": units, "linear_before_reset": reset_after, **activations}
    hidden, _ = op.GRU(x, *weights, None, op.Unsqueeze(initial_hidden, [0]), outputs=2, **form)
    return [op.Squeeze(hidden, [1]), None]


def lstm(
    op: Writer,
    x: Operand,
    kernel: Operand,
    recurrent_kernel: Operand,
    bias: Operand,
    initial_hidden: Operand,
    initial_cell: Operand,
    mask: Operand,
    *,
    activation: str,
    recurrent_activation: str,
) -> list[Any]:
    _check(x, mask)
    order = (0, 3, 1, 2)  # entry, keep, candidate and exit gates here; entry, exit, keep and candidate there
    units = initial_hidden.shape[-1]
    weights = _weights(op, (kernel, recurrent_kernel, _with_zeros(op, bias)), order, units)
    states = [op.Unsqueeze(state, [0]) for state in (initial_hidden, initial_cell)]
    activations = _activations(recurrent_activation, activation, activation)
    hidden, _, cell = op.LSTM(x, *weights, None, *states, outputs=3, hidden_size=units, **activations)
    return [op.Squeeze(hidden, [1]), op.Squeeze(cell, [0]), None]


def _activations(*names: str) -> dict[str, Any]:
    numbers = [_ACTIVATIONS[name][1] for name in names if _ACTIVATIONS[name][1]]
    return {
        "activations": [_ACTIVATIONS[name][0] for name in names],
        "activation_alpha": [alpha for alpha, _ in numbers] or None,
        "activation_beta": [beta for _, beta in numbers] or None,
    }


def _check(x: Operand, mask: Operand) -> None:
    if 0 not in mask.shape:
        raise Refusal("it takes a mask of times, which ONNX's recurrent operators do not")
    if 0 in x.shape:
        raise Refusal("it has no times or examples, where onnxruntime's recurrent operators crash")


def _with_zeros(op: Writer, bias: Operand) -> Operand:
    """The biases of the input and of the state, of which there is only the first."""
    first = op.Unsqueeze(bias, [0])
    found: Operand = op.Concat(first, op.Sub(first, first), axis=0)
    return found


def _weights(op: Writer, given: Sequence[Operand], order: Sequence[int], units: Number) -> list[Operand]:
    """The kernels and biases as ONNX takes them: gates first, in its order, for one direction."""
    count = units.__index__()
    rows: Array = np.concatenate([np.arange(gate * count, (gate + 1) * count) for gate in order])
    kernels = [op.Gather(x, rows, axis=1) for x in given]
    kernel, recurrent_kernel = (op.Unsqueeze(op.Transpose(x, perm=[1, 0]), [0]) for x in kernels[:2])
    return [kernel, recurrent_kernel, op.Reshape(kernels[2], [1, -1])]
