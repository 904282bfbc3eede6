"""Pooling ops: facts about the ops of agog_core.ops.conv.pooling_ops."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import (
    FLOATING,
    ORDERED,
    SUMS,
    Rng,
    constant,
    invalid,
    is_float,
    rejected,
    ties,
    uniform,
)

# Name, input, window, strides, paddings, dilations.
_FORMS: tuple[tuple[str, tuple[int, ...], Any, Any, Any, Any], ...] = (
    ("one element", (1, 1, 1), (1,), (1,), ((0, 0),), (1,)),
    ("one axis", (2, 5, 2), (2,), (1,), ((0, 0),), (1,)),
    ("one axis, padded", (2, 5, 2), (3,), (2,), ((1, 1),), (1,)),
    ("two axes", (1, 4, 6, 2), (2, 3), (2, 3), ((0, 0), (0, 0)), (1, 1)),
    ("two axes, windows that overlap", (1, 5, 4, 2), (3, 2), (2, 1), ((1, 1), (0, 1)), (1, 1)),
    ("two axes, dilated", (1, 5, 6, 1), (2, 3), (1, 1), ((0, 1), (2, 0)), (3, 2)),
    ("three axes", (1, 3, 4, 3, 1), (2, 2, 1), (1, 2, 2), ((0, 1), (0, 0), (0, 0)), (1, 1, 1)),
    ("steps over elements", (1, 8, 1), (2,), (3,), ((0, 0),), (1,)),
    ("nothing to reduce", (2, 3, 2), (1,), (1,), ((0, 0),), (1,)),
    ("no images", (0, 4, 4, 2), (2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    ("no channels", (2, 4, 0), (2,), (2,), ((0, 0),), (1,)),
    ("no places", (1, 2, 1), (3,), (1,), ((0, 0),), (1,)),
    ("two axes, VALID, steps of 2", (1, 7, 8, 8), (3, 3), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    ("two axes, dilated, steps of 2", (1, 7, 7, 2), (2, 2), (2, 2), ((0, 1), (1, 0)), (2, 2)),
    ("1 by 3", (2, 3, 7, 8), (1, 3), (1, 2), ((0, 0), (1, 1)), (1, 1)),
    ("7 by 1", (2, 8, 2, 3), (7, 1), (1, 1), ((2, 2), (0, 0)), (1, 1)),
    ("5 by 5, 16 channels", (2, 6, 6, 16), (5, 5), (2, 2), ((1, 1), (1, 1)), (1, 1)),
    ("9 images of 17 channels", (9, 3, 3, 17), (2, 2), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ("long", (1, 67, 2), (5,), (2,), ((2, 2),), (1,)),
)


def _output_shape(shape: Any, window: Any, strides: Any, paddings: Any, dilations: Any) -> tuple[int, ...]:
    axes = zip(shape[1:-1], window, strides, paddings, dilations, strict=True)
    places = [max(0, (size + sum(pair) - (n - 1) * dilation - 1) // step + 1) for size, n, step, pair, dilation in axes]
    return (shape[0], *places, shape[-1])


@lru_cache(maxsize=256)
def _windows(
    shape: Any, window: Any, strides: Any, paddings: Any, dilations: Any
) -> tuple[tuple[tuple[int, ...], list[tuple[int, ...]]], ...]:
    """The index of each output, and those of the elements of its window that are not padding; once for all dtypes."""
    return tuple(_places(shape, window, strides, paddings, dilations))


def _places(
    shape: Any, window: Any, strides: Any, paddings: Any, dilations: Any
) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
    for index in np.ndindex(*_output_shape(shape, window, strides, paddings, dilations)):
        found = []
        for place in np.ndindex(*window):
            axes = zip(index[1:-1], place, strides, paddings, dilations, strict=True)
            position = [start * step + n * dilation - low for start, n, step, (low, _), dilation in axes]
            if all(0 <= p < size for p, size in zip(position, shape[1:-1], strict=True)):
                found.append((index[0], *position, index[-1]))
        yield index, found


def _max_pool(input: Array, *form: Any) -> Array:
    out = np.zeros(_output_shape(input.shape, *form), input.dtype)
    for index, window in _windows(input.shape, *form):
        out[index] = np.max([input[position] for position in window])
    return out


def _first_maxima(input: Array, form: tuple[Any, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for index, window in _windows(input.shape, *form):
        yield index, window[int(np.argmax([input[position] for position in window]))]


def _with_argmax(input: Array, *form: Any) -> tuple[Array, Array]:
    positions = np.zeros(_output_shape(input.shape, *form[:4]), np.int64)
    for index, position in _first_maxima(input, form[:4]):
        positions[index] = np.ravel_multi_index(position, input.shape)
    return _max_pool(input, *form[:4]), positions


def _max_pool_grad(gradient: Array, input: Array, maxima: Array, *form: Any) -> Array:
    out = np.zeros(input.shape)
    for index, position in _first_maxima(input, form):
        out[position] += gradient[index]
    return out


def _max_pool_grad_grad(gradient: Array, input: Array, maxima: Array, *form: Any) -> Array:
    out = np.zeros(maxima.shape)
    for index, position in _first_maxima(input, form):
        out[index] = gradient[position]
    return out


def _avg_pool(input: Array, *form: Any) -> Array:
    out = np.zeros(_output_shape(input.shape, *form))
    for index, window in _windows(input.shape, *form):
        out[index] = np.mean([input[position] for position in window])
    return out


def _avg_pool_grad(gradient: Array, input_shape: Any, *form: Any) -> Array:
    out = np.zeros(input_shape)
    for index, window in _windows(input_shape, *form):
        for position in window:
            out[position] += gradient[index] / len(window)
    return out


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for name, shape, *form in _FORMS:
        yield Sample(name, (uniform(dtype, rng, shape), *form))
    lowest = constant(dtype, [[[0], [0], [0], [0]]])
    if is_float(dtype):
        values = constant(dtype, [[[1.0], [-np.inf], [-np.inf], [np.inf], [2.0]]])
        yield Sample("infinities", (values, (2,), (1,), ((0, 1),), (1,)), smooth=False)
    yield Sample("equal elements", (lowest, (2,), (2,), ((0, 0),), (1,)), smooth=False)


def _nan(dtype: str, rng: Rng) -> Iterator[Sample]:
    yield from _samples(dtype, rng)
    if is_float(dtype):
        values = constant(dtype, [[[1.0], [np.nan], [3.0], [2.0]]])
        yield Sample("NaN", (values, (2,), (2,), ((0, 0),), (1,)), smooth=False)


def _with_argmax_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    yield from _samples(dtype, rng)
    form = (2,), (1,), ((0, 0),), (1,)
    yield Sample("ties", (ties(dtype, rng, (1, 9, 2)), *form), smooth=False)
    yield Sample("positions as int32", (uniform(dtype, rng, (1, 5, 1)), *form, "int32"))


def _grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for values in (uniform, ties):
        for name, shape, *form in _FORMS:
            x = values(dtype, rng, shape)
            maxima = _max_pool(x.astype(np.float64), *form).astype(x.dtype)
            g = uniform(dtype, rng, maxima.shape)
            yield Sample(f"{name}{', ties' if values is ties else ''}", (g, x, maxima, *form))


def _grad_grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for sample in _grad_samples(dtype, rng):
        _, x, *rest = sample.args
        yield Sample(sample.name, (uniform(dtype, rng, x.shape), x, *rest))


def _avg_grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for name, shape, *form in _FORMS:
        yield Sample(name, (uniform(dtype, rng, _output_shape(shape, *form)), shape, *form))


_PAIR = ((2,), (1,), ((0, 0),), (1,))
_X, _Y = np.ones((1, 3, 1), np.float32), np.ones((1, 2, 1), np.float32)
_WRONG_RANK = invalid(
    (np.ones((2, 3), np.float32), *_PAIR),
    "pool: a window of shape (2,) needs an input of shape (batch, 1 axes, channels); got shape (2, 3).",
)
_TOO_LARGE = invalid(
    (_X, (5,), (1,), ((0, 0),), (1,)),
    "pool: a window of shape (5,) with dilations (1,) does not fit into an input of shape (1, 3, 1) padded by ((0, "
    "0),); use padding 'SAME' or a smaller window.",
)

INFOS = (
    OpInfo(
        name="max_pool",
        samples=_nan,
        reference=_max_pool,
        errors=(
            _WRONG_RANK,
            _TOO_LARGE,
            rejected("max_pool", "bool", ORDERED, (np.ones((1, 3, 1), np.bool_), *_PAIR)),
        ),
    ),
    OpInfo("max_pool_with_argmax", _with_argmax_samples, _with_argmax, errors=(_WRONG_RANK, _TOO_LARGE)),
    OpInfo(
        name="max_pool_grad",
        samples=_grad_samples,
        reference=_max_pool_grad,
        errors=(
            invalid(
                (_X, _X, _Y, *_PAIR),
                "max_pool_grad: a window of shape (2,) over an input of shape (1, 3, 1) gives an output of shape (1, "
                "2, 1); got an output of shape (1, 2, 1) and a gradient of shape (1, 3, 1).",
            ),
        ),
        tolerances=SUMS,
    ),
    OpInfo(
        name="max_pool_grad_grad",
        samples=_grad_grad_samples,
        reference=_max_pool_grad_grad,
        errors=(
            invalid(
                (_Y, _X, _Y, *_PAIR),
                "max_pool_grad_grad: a window of shape (2,) over an input of shape (1, 3, 1) gives an output of shape "
                "(1, 2, 1); got an output of shape (1, 2, 1) and a gradient of shape (1, 2, 1), which must be the "
                "input's.",
            ),
        ),
    ),
    OpInfo(
        name="avg_pool",
        samples=_nan,
        reference=_avg_pool,
        errors=(
            _WRONG_RANK,
            _TOO_LARGE,
            rejected("avg_pool", "int32", FLOATING, (np.ones((1, 3, 1), np.int32), *_PAIR)),
        ),
        tolerances=SUMS,
    ),
    OpInfo(
        name="avg_pool_grad",
        samples=_avg_grad_samples,
        reference=_avg_pool_grad,
        errors=(
            invalid(
                (_X, (1, 3, 1), *_PAIR),
                "avg_pool_grad: a window of shape (2,) over an input of shape (1, 3, 1) gives an output of shape (1, "
                "2, 1); got a gradient of shape (1, 3, 1).",
            ),
        ),
        tolerances=SUMS,
    ),
)
