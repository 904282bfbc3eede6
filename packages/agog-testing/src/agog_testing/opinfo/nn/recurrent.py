"""Recurrent: facts about the ops of agog_core.ops.nn.lstm and gru.

The references work along leading axes too, on complex numbers. So they are differentiated by a complex step, which
has no error but that of rounding: J. Martins et al., "The complex-step derivative approximation", 2003.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import Rng, invalid, uniform

_STEP = 1e-100
_SOURCES = ("x", "kernel", "recurrent_kernel", "bias", "initial_hidden", "initial_cell")

# What is special, (time, batch, features, units), keyword arguments, whether there is a mask.
_CASES: tuple[tuple[str, tuple[int, int, int, int], dict[str, Any], bool], ...] = (
    ("one of each", (1, 1, 1, 1), {}, False),
    ("two times", (2, 2, 1, 1), {}, False),
    ("two units", (2, 1, 2, 2), {}, False),
    ("mask", (3, 2, 1, 1), {}, True),
    ("hard gates", (2, 2, 1, 1), {"recurrent_activation": "hard_sigmoid"}, False),
    ("other activations", (2, 1, 1, 2), {"activation": "relu", "recurrent_activation": "linear"}, False),
    ("sigmoids", (3, 1, 1, 1), {"activation": "sigmoid", "recurrent_activation": "tanh"}, True),
    ("odd sizes", (5, 3, 2, 7), {}, True),
    ("no time", (0, 2, 1, 1), {}, False),
    ("no example", (2, 0, 1, 1), {}, False),
    ("no feature", (2, 1, 0, 1), {}, False),
    ("long", (67, 1, 1, 1), {}, False),
)


def _samples(gates: int, states: int, dtype: str, rng: Rng, is_grad: bool, **more: Any) -> Iterator[Sample]:
    for name, (time, batch, features, units), attributes, has_mask in _CASES:
        bias = (2, gates * units) if more.get("reset_after") else (gates * units,)
        outputs = [(time, batch, units), *[(batch, units)] * (states - 1)] if is_grad else []
        kernels = (features, gates * units), (units, gates * units), bias
        shapes = [*outputs, (time, batch, features), *kernels, *[(batch, units)] * states]
        arrays = [uniform(dtype, rng, shape, -1, 1) for shape in shapes]
        if has_mask:
            arrays.append(rng.random((time, batch)) < 0.6)
        # A long gradient, differentiated again step by step, would take a third of all gradients' time.
        is_smooth = "other" not in name and not (is_grad and name == "long")
        yield Sample(name, tuple(arrays), {**attributes, **more}, smooth=is_smooth)
        if name == "mask" and is_grad:
            for sources in (("kernel", "bias"), ("x", "recurrent_kernel", "initial_hidden")):
                yield Sample(f"mask, {len(sources)} sources", tuple(arrays), {**attributes, **more, "sources": sources})
        if name == "two times" and not is_grad and dtype not in ("float16", "bfloat16"):
            spoilt = arrays[0].copy()
            spoilt[1] = np.nan
            yield Sample("not a number", (spoilt, *arrays[1:]), {**attributes, **more}, smooth=False)


def _hard_sigmoid(x: Array) -> Array:
    line = 0.2 * x + 0.5
    return np.where(line.real < 0, 0, np.where(line.real > 1, 1, line))


_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "tanh": np.tanh,
    "sigmoid": lambda x: np.asarray(1 / (1 + np.exp(-x))),
    "hard_sigmoid": _hard_sigmoid,
    "relu": lambda x: np.where(x.real > 0, x, 0 * x),
    "linear": lambda x: x,
}


def _lstm(
    x: Array,
    kernel: Array,
    recurrent_kernel: Array,
    bias: Array,
    hidden: Array,
    cell: Array,
    mask: Array | None = None,
    activation: str = "tanh",
    recurrent_activation: str = "sigmoid",
) -> tuple[Array, Array, Array]:
    f, s = _ACTIVATIONS[activation], _ACTIVATIONS[recurrent_activation]
    hiddens = np.zeros((*x.shape[:-1], hidden.shape[-1]), hidden.dtype)
    for time in range(x.shape[-3]):
        z = x[..., time, :, :] @ kernel + hidden @ recurrent_kernel + bias[..., None, :]
        i, keep, c, o = np.split(z, 4, -1)
        new = s(keep) * cell + s(i) * f(c)
        counts = np.ones((x.shape[-2], 1)) if mask is None else mask[time][:, None]
        hidden, cell = np.where(counts, s(o) * f(new), hidden), np.where(counts, new, cell)
        hiddens[..., time, :, :] = hidden
    return hiddens, hidden, cell


def _gru(
    x: Array,
    kernel: Array,
    recurrent_kernel: Array,
    bias: Array,
    hidden: Array,
    mask: Array | None = None,
    activation: str = "tanh",
    recurrent_activation: str = "sigmoid",
    reset_after: bool = False,
) -> tuple[Array, Array]:
    f, s = _ACTIVATIONS[activation], _ACTIVATIONS[recurrent_activation]
    hiddens = np.zeros((*x.shape[:-1], hidden.shape[-1]), hidden.dtype)
    if not reset_after:
        bias = np.stack([bias, np.zeros_like(bias)], -2)
    weights_z, weights_r, weights_c = np.split(recurrent_kernel, 3, -1)
    state_z, state_r, state_c = np.split(bias[..., 1:, :], 3, -1)
    for time in range(x.shape[-3]):
        z, r, c = np.split(x[..., time, :, :] @ kernel + bias[..., :1, :], 3, -1)
        z = s(z + hidden @ weights_z + state_z)
        r = s(r + hidden @ weights_r + state_r)
        c = f(c + (r * (hidden @ weights_c + state_c) if reset_after else (r * hidden) @ weights_c))
        counts = np.ones((x.shape[-2], 1)) if mask is None else mask[time][:, None]
        hidden = np.where(counts, z * hidden + (1 - z) * c, hidden)
        hiddens[..., time, :, :] = hidden
    return hiddens, hidden


def _gradients(
    recur: Callable[..., tuple[Array, ...]],
    outputs: tuple[int, ...],
    count: int,
    *args: Array,
    sources: tuple[str, ...] = _SOURCES,
    **names: Any,
) -> tuple[Array, ...]:
    """The gradients of the sum of chosen outputs, weighted by the first arguments, by some of the next ``count``."""
    weights, tensors, mask = args[: len(outputs)], args[len(outputs) :][:count], args[len(outputs) + count :]
    results = []
    for position, (name, source) in enumerate(zip(_SOURCES, tensors, strict=False)):
        if name not in sources:
            continue
        steps = np.eye(source.size).reshape(source.size, *source.shape) * (1j * _STEP)
        stepped = [np.broadcast_to(each + 0j, (source.size, *each.shape)) for each in tensors]
        stepped[position] = stepped[position] + steps
        out = recur(*stepped, *mask, **names)
        sums = [
            (weight * out[n]).reshape(source.size, -1).sum(-1) if source.size else np.zeros(0, complex)
            for weight, n in zip(weights, outputs, strict=True)
        ]
        results.append(np.sum(sums, 0).imag.reshape(source.shape) / _STEP)
    return tuple(results)


# Sums in other orders, through many steps.
_TOLERANCES = {"float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2), "float32": (1e-5, 1e-5), "float64": (1e-12, 1e-12)}
_X, _STATE = np.ones((3, 2, 5), np.float32), np.ones((2, 4), np.float32)


def _ones(*shape: int) -> Array:
    return np.ones(shape, np.float32)


def _gru_samples(is_grad: bool, dtype: str, rng: Rng) -> Iterator[Sample]:
    yield from _samples(3, 1, dtype, rng, is_grad)
    for sample in _samples(3, 1, dtype, rng, is_grad, reset_after=True):
        yield Sample(f"{sample.name}, reset after", sample.args, sample.kwargs, smooth=sample.smooth)


INFOS = (
    OpInfo(
        name="lstm",
        samples=lambda dtype, rng: _samples(4, 2, dtype, rng, False),
        reference=_lstm,
        errors=(
            invalid(
                (_X[0], _ones(5, 16), _ones(4, 16), _ones(16), _STATE, _STATE),
                "lstm: x must be of shape (time, batch, features); got (2, 5).",
            ),
            invalid(
                (_X, _ones(5, 16), _ones(4, 12), _ones(16), _STATE, _STATE),
                "lstm: recurrent_kernel must be of shape (units, 4 * units); got (4, 12).",
            ),
            invalid(
                (_X, _ones(6, 16), _ones(4, 16), _ones(16), _STATE, _STATE),
                "lstm: with x of shape (3, 2, 5) and recurrent_kernel of shape (4, 16), kernel must be of shape (5, "
                "16); got (6, 16).",
            ),
            invalid(
                (_X, _ones(5, 16), _ones(4, 16), _ones(16), _STATE, _STATE, np.ones(3, bool)),
                "lstm: with x of shape (3, 2, 5) and recurrent_kernel of shape (4, 16), mask must be of shape (3, 2); "
                "got (3,).",
            ),
            ErrorSample(
                (_X, _ones(5, 16), _ones(4, 16), _ones(16), _STATE, _STATE),
                {"activation": "cosine"},
                ValueError,
                "lstm: an activation must be one of hard_sigmoid, linear, relu, sigmoid, tanh; got 'cosine'.",
            ),
        ),
        tolerances=_TOLERANCES,
    ),
    OpInfo(
        name="lstm_grad",
        samples=lambda dtype, rng: _samples(4, 2, dtype, rng, True),
        reference=partial(_gradients, _lstm, (0, 2), 6),
        errors=(
            invalid(
                (_ones(3, 2, 3), _STATE, _X, _ones(5, 16), _ones(4, 16), _ones(16), _STATE, _STATE),
                "lstm_grad: hidden_gradients must be of shape (3, 2, 4) and cell_gradients of shape (2, 4); got (3, "
                "2, 3) and (2, 4).",
            ),
        ),
        tolerances=_TOLERANCES,
    ),
    OpInfo(
        name="gru",
        samples=partial(_gru_samples, False),
        reference=_gru,
        errors=(
            invalid(
                (_X, _ones(5, 12), _ones(4, 12), _ones(12), _STATE),
                "gru: with x of shape (3, 2, 5) and recurrent_kernel of shape (4, 12), bias must be of shape (2, 12); "
                "got (12,).",
                reset_after=True,
            ),
            invalid(
                (_X, _ones(5, 12), _ones(4, 12), _ones(12), _STATE[:1]),
                "gru: with x of shape (3, 2, 5) and recurrent_kernel of shape (4, 12), initial_hidden must be of "
                "shape (2, 4); got (1, 4).",
            ),
        ),
        tolerances=_TOLERANCES,
    ),
    OpInfo(
        name="gru_grad",
        samples=partial(_gru_samples, True),
        reference=partial(_gradients, _gru, (0,), 5),
        errors=(
            invalid(
                (_ones(3, 2, 3), _X, _ones(5, 12), _ones(4, 12), _ones(12), _STATE),
                "gru_grad: gradients must be of shape (3, 2, 4); got (3, 2, 3).",
            ),
        ),
        tolerances=_TOLERANCES,
    ),
)
