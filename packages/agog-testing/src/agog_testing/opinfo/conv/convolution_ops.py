"""Convolution ops: facts about the ops of agog_core.ops.conv.convolution_ops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_testing.opinfo.info import Array, OpInfo, Sample, Sized
from agog_testing.opinfo.values import FLOATING, Rng, constant, invalid, rejected, uniform

# Name, input, filter, strides, paddings, dilations, groups.
_FORMS: tuple[tuple[str, tuple[int, ...], tuple[int, ...], Any, Any, Any, int], ...] = (
    ("one element", (1, 1, 1), (1, 1, 1), (1,), ((0, 0),), (1,), 1),
    ("one axis", (2, 5, 2), (3, 2, 2), (1,), ((1, 1),), (1,), 1),
    ("one axis, steps of 2", (2, 6, 2), (3, 2, 2), (2,), ((0, 1),), (1,), 1),
    ("one axis, dilated", (1, 7, 2), (3, 2, 1), (1,), ((0, 0),), (2,), 1),
    ("two axes", (1, 4, 3, 2), (2, 3, 2, 2), (1, 1), ((0, 1), (1, 1)), (1, 1), 1),
    ("two axes, other steps", (1, 5, 4, 1), (3, 2, 1, 2), (2, 3), ((1, 1), (0, 1)), (1, 1), 1),
    ("two axes, dilated", (1, 5, 5, 1), (2, 3, 1, 2), (1, 1), ((0, 0), (2, 2)), (3, 2), 1),
    ("windows of one element", (2, 3, 3, 3), (1, 1, 3, 2), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ("windows of one element, many outputs", (1, 2, 2, 1), (1, 1, 1, 5), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ("more padding than window", (1, 2, 2, 1), (2, 2, 1, 2), (1, 1), ((2, 0), (0, 3)), (1, 1), 1),
    ("steps over elements", (1, 7, 1), (2, 1, 2), (3,), ((0, 0),), (1,), 1),
    ("three axes", (1, 3, 2, 3, 1), (2, 2, 2, 1, 2), (1, 1, 2), ((0, 1), (1, 0), (0, 0)), (1, 1, 1), 1),
    ("depthwise", (1, 3, 4, 2), (2, 2, 1, 2), (1, 1), ((0, 1), (0, 0)), (1, 1), 2),
    ("depthwise, two outputs each", (1, 3, 4, 2), (2, 2, 1, 4), (1, 1), ((1, 0), (0, 0)), (1, 1), 2),
    ("depthwise, steps", (1, 5, 4, 2), (2, 2, 1, 4), (2, 2), ((0, 0), (1, 1)), (1, 1), 2),
    ("depthwise, dilated", (1, 6, 3), (2, 1, 3), (1,), ((1, 2),), (3,), 3),
    ("groups", (1, 5, 4), (2, 2, 6), (1,), ((0, 0),), (1,), 2),
    ("no images", (0, 4, 4, 2), (2, 2, 2, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ("no places", (1, 2, 2, 1), (3, 3, 1, 2), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ("no outputs", (1, 2, 2, 1), (2, 2, 1, 0), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ("no images, depthwise", (0, 4, 4, 2), (2, 2, 1, 2), (1, 1), ((0, 0), (0, 0)), (1, 1), 2),
    ("8 channels", (1, 6, 5, 8), (3, 3, 8, 8), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ("16 channels to 9", (1, 5, 5, 16), (3, 3, 16, 9), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ("8 groups of one channel", (1, 6, 6, 8), (3, 3, 1, 8), (1, 1), ((1, 1), (1, 1)), (1, 1), 8),
    ("two axes, VALID, steps of 2", (2, 7, 8, 3), (3, 3, 3, 4), (2, 2), ((0, 0), (0, 0)), (1, 1), 1),
    ("two axes, SAME, steps of 2", (1, 7, 8, 3), (3, 3, 3, 4), (2, 2), ((1, 1), (0, 1)), (1, 1), 1),
    ("two axes, dilated, steps of 2", (1, 9, 9, 2), (3, 3, 2, 3), (2, 2), ((0, 0), (1, 1)), (2, 2), 1),
    ("windows of one element, steps of 2", (1, 5, 6, 8), (1, 1, 8, 4), (2, 2), ((0, 0), (0, 0)), (1, 1), 1),
    ("1 by 3", (2, 5, 9, 8), (1, 3, 8, 4), (1, 1), ((0, 0), (1, 1)), (1, 1), 1),
    ("7 by 1", (2, 9, 4, 3), (7, 1, 3, 5), (1, 1), ((3, 3), (0, 0)), (1, 1), 1),
    ("5 by 5, 16 channels", (2, 6, 6, 16), (5, 5, 16, 8), (1, 1), ((2, 2), (2, 2)), (1, 1), 1),
    ("9 images of 8 channels", (9, 4, 3, 8), (3, 3, 8, 8), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ("3 images of 17 channels", (3, 4, 4, 17), (3, 3, 17, 5), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ("long", (1, 67, 3), (5, 3, 4), (1,), ((2, 2),), (1,), 1),
    ("long, narrow output", (3, 67, 1), (5, 1, 4), (1,), ((2, 2),), (1,), 1),
)


def _output_shape(shape: Any, filter: Any, strides: Any, paddings: Any, dilations: Any) -> tuple[int, ...]:
    axes = zip(shape[1:-1], filter, strides, paddings, dilations, strict=False)
    places = [max(0, (size + sum(pair) - (n - 1) * dilation - 1) // step + 1) for size, n, step, pair, dilation in axes]
    return (shape[0], *places, filter[-1])


def _parts(shape: Any, filter: Any, strides: Any, paddings: Any, dilations: Any, groups: int) -> Iterator[Any]:
    """For each place in the window and each group: what it meets of the padded input and of the output; its weights."""
    inner, outer = filter[-2], filter[-1] // groups
    places = _output_shape(shape, filter, strides, paddings, dilations)[1:-1]
    for place in np.ndindex(*filter[:-2]):
        axes = zip(place, dilations, strides, places, strict=True)
        met = [slice(n * dilation, n * dilation + step * size, step) for n, dilation, step, size in axes]
        for group in range(groups):
            sources, targets = (slice(group * n, (group + 1) * n) for n in (inner, outer))
            yield (slice(None), *met, sources), (..., targets), (*place, slice(None), targets)


def _padded(x: Array, paddings: Any) -> Array:
    return np.pad(x, ((0, 0), *paddings, (0, 0)))


def _convolution(input: Array, filter: Array, strides: Any, paddings: Any, dilations: Any, groups: int = 1) -> Array:
    x = _padded(input, paddings)
    out = np.zeros(_output_shape(input.shape, filter.shape, strides, paddings, dilations))
    for source, target, part in _parts(input.shape, filter.shape, strides, paddings, dilations, groups):
        out[target] += x[source] @ filter[part]
    return out


def _input_grad(
    gradient: Array, filter: Array, input_shape: Any, strides: Any, paddings: Any, dilations: Any, groups: int = 1
) -> Array:
    out = _padded(np.zeros(input_shape), paddings)
    for source, target, part in _parts(input_shape, filter.shape, strides, paddings, dilations, groups):
        out[source] += gradient[target] @ filter[part].T
    sizes = zip(input_shape[1:-1], paddings, strict=True)
    return out[(slice(None), *(slice(low, low + size) for size, (low, _) in sizes))]


def _filter_grad(
    input: Array, gradient: Array, filter_shape: Any, strides: Any, paddings: Any, dilations: Any, groups: int = 1
) -> Array:
    x, out = _padded(input, paddings), np.zeros(filter_shape)
    axes = tuple(range(input.ndim - 1))
    for source, target, part in _parts(input.shape, filter_shape, strides, paddings, dilations, groups):
        out[part] += np.tensordot(x[source], gradient[target], (axes, axes))
    return out


def _forward(dtype: str, rng: Rng, name: str, shape: Any, filter: Any, *form: Any) -> Sample:
    return Sample(name, (uniform(dtype, rng, shape, -1, 1), uniform(dtype, rng, filter, -1, 1), *form))


def _to_input(dtype: str, rng: Rng, name: str, shape: Any, filter: Any, *form: Any) -> Sample:
    g = uniform(dtype, rng, _output_shape(shape, filter, *form[:3]), -1, 1)
    return Sample(name, (g, uniform(dtype, rng, filter, -1, 1), shape, *form))


def _to_filter(dtype: str, rng: Rng, name: str, shape: Any, filter: Any, *form: Any) -> Sample:
    g = uniform(dtype, rng, _output_shape(shape, filter, *form[:3]), -1, 1)
    return Sample(name, (uniform(dtype, rng, shape, -1, 1), g, filter, *form))


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for form in _FORMS:
        yield _forward(dtype, rng, *form)
    special = constant(dtype, [[[1.0], [np.nan], [2.0], [3.0], [np.inf], [4.0]]])
    weights = constant(dtype, [[[1.0]], [[2.0]]])
    yield Sample("NaN and infinity", (special, weights, (1,), ((0, 0),), (1,)), smooth=False)


def _gradient_samples(sample: Callable[..., Sample]) -> Callable[[str, Rng], Iterator[Sample]]:
    def samples(dtype: str, rng: Rng) -> Iterator[Sample]:
        for form in _FORMS:
            yield sample(dtype, rng, *form)

    return samples


def _timed(dtype: str, rng: Rng) -> Iterator[Sample]:
    for images, size, inner, outer in ((1, 8, 4, 8), (8, 28, 8, 16), (32, 28, 32, 64)):
        x = uniform(dtype, rng, (images, size, size, inner), -1, 1)
        yield Sample(f"{x.shape}", (x, uniform(dtype, rng, (3, 3, inner, outer), -1, 1), (1, 1), ((1, 1),) * 2, (1, 1)))


def _wide(sample: Callable[..., Sample]) -> Sized:
    """Samples of many places, of many channels, and of many outputs."""

    def sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
        for shape, filter in (((1, size, 2), (3, 2, 2)), ((1, 3, size), (2, size, 2)), ((1, 3, 2), (2, 2, size))):
            yield sample(dtype, rng, f"{shape} by {filter}", shape, filter, (1,), ((1, 1),), (1,), 1)

    return sized


def _ones(*shape: int, dtype: str = "float32") -> Array:
    return np.ones(shape, dtype)


_PLAIN = ((1, 1), ((0, 0), (0, 0)), (1, 1))
_TOLERANCES = {
    "float16": (1e-2, 1e-2),
    "bfloat16": (5e-2, 1e-1),
    "float32": (1e-5, 2e-5),
    "float64": (1e-13, 1e-12),
}

INFOS = (
    OpInfo(
        name="convolution",
        samples=_samples,
        sized=_wide(_forward),
        reference=_convolution,
        timed=_timed,
        errors=(
            invalid(
                (_ones(1, 4, 4, 3), _ones(2, 2, 2, 5), *_PLAIN),
                "convolution: input of shape (1, 4, 4, 3) has 3 channels, but a filter of shape (2, 2, 2, 5) in 1 "
                "group(s) takes 2 channels and gives a multiple of 1 outputs.",
            ),
            invalid(
                (_ones(4, 4, 3), _ones(2, 2, 3, 5), *_PLAIN),
                "convolution: input (batch, axes..., channels) and filter (window..., channels, outputs) must be of "
                "one rank, 3 or more; got shapes (4, 4, 3) and (2, 2, 3, 5).",
            ),
            invalid(
                (_ones(1, 2, 2, 1), _ones(4, 4, 1, 1), *_PLAIN),
                "convolution: a window of shape (4, 4) with dilations (1, 1) does not fit into an input of shape (1, "
                "2, 2, 1) padded by ((0, 0), (0, 0)); use padding 'SAME' or a smaller window.",
            ),
            invalid(
                (_ones(1, 2, 2, 1), _ones(1, 1, 1, 1, dtype="float64"), *_PLAIN),
                "convolution: input has dtype float32 and filter has dtype float64 (shapes (1, 2, 2, 1) and (1, 1, 1, "
                "1)), but they must be of one dtype; cast one of them, such as tf.cast(filter, tf.float32).",
            ),
            rejected(
                "convolution",
                "int32",
                FLOATING,
                (_ones(1, 2, 2, 1, dtype="int32"), _ones(1, 1, 1, 1, dtype="int32"), *_PLAIN),
            ),
        ),
        tolerances=_TOLERANCES,
    ),
    OpInfo(
        name="convolution_input_grad",
        samples=_gradient_samples(_to_input),
        sized=_wide(_to_input),
        reference=_input_grad,
        errors=(
            invalid(
                (_ones(1, 4, 4, 1), _ones(2, 2, 1, 1), (1, 4, 4, 1), *_PLAIN),
                "convolution: an input of shape (1, 4, 4, 1) and a filter of shape (2, 2, 1, 1) give an output of "
                "shape (1, 3, 3, 1) (strides (1, 1), paddings ((0, 0), (0, 0)), dilations (1, 1)); the output, or its "
                "gradient, has shape (1, 4, 4, 1).",
            ),
        ),
        tolerances=_TOLERANCES,
    ),
    OpInfo(
        name="convolution_filter_grad",
        samples=_gradient_samples(_to_filter),
        sized=_wide(_to_filter),
        reference=_filter_grad,
        errors=(
            invalid(
                (_ones(1, 4, 4, 1), _ones(1, 2, 2, 1), (2, 2, 1, 1), *_PLAIN),
                "convolution: an input of shape (1, 4, 4, 1) and a filter of shape (2, 2, 1, 1) give an output of "
                "shape (1, 3, 3, 1) (strides (1, 1), paddings ((0, 0), (0, 0)), dilations (1, 1)); the output, or its "
                "gradient, has shape (1, 2, 2, 1).",
            ),
        ),
        tolerances=_TOLERANCES,
    ),
)
