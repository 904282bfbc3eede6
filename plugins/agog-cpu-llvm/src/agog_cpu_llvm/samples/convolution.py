"""Convolution: calls above the least size, with each way of padding, stepping and grouping, and tiles of each width."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo import Sample

# Name, input, filter, strides, paddings, dilations, groups.
_FORMS = (
    ("one axis", (2, 67, 9), (5, 9, 17), (2,), ((2, 2),), (1,), 1),
    ("one axis, dilated", (2, 80, 8), (3, 8, 20), (1,), ((2, 0),), (3,), 1),
    ("one channel", (2, 12, 13, 1), (5, 5, 1, 20), (1, 1), ((2, 2), (2, 2)), (1, 1), 1),
    ("steps of 2", (2, 15, 14, 3), (7, 7, 3, 18), (2, 2), ((2, 3), (2, 3)), (1, 1), 1),
    ("no padding", (2, 9, 9, 16), (3, 3, 16, 40), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ("groups", (1, 9, 8, 12), (3, 3, 4, 54), (1, 1), ((1, 1), (1, 1)), (1, 1), 3),
    ("groups in one vector", (2, 9, 12, 40), (3, 3, 4, 40), (1, 1), ((1, 1), (1, 1)), (1, 1), 10),
    ("windows of one element", (3, 9, 9, 16), (1, 1, 16, 64), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ("depthwise", (2, 13, 12, 40), (3, 3, 1, 40), (1, 1), ((1, 1), (1, 1)), (1, 1), 40),
    ("depthwise, two outputs each", (2, 9, 12, 20), (3, 5, 1, 40), (2, 1), ((1, 1), (2, 2)), (1, 2), 20),
    ("steps over elements", (2, 20, 20, 9), (2, 2, 9, 33), (3, 3), ((0, 0), (1, 0)), (1, 1), 1),
    ("three axes", (1, 4, 5, 6, 8), (2, 3, 3, 8, 12), (1, 2, 1), ((1, 0), (1, 1), (1, 1)), (1, 1, 2), 1),
)


def _convolution(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for name, input, filter, strides, paddings, dilations, groups in _FORMS:
        x, w = (rng.uniform(-1, 1, shape).astype(dtype) for shape in (input, filter))
        form = {"strides": strides, "paddings": paddings, "dilations": dilations, "groups": groups}
        yield Sample(name, (x, w), form)


def _input_gradient(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for sample in _convolution(dtype, rng):
        x, w = sample.args
        yield Sample(sample.name, (_gradient(sample, rng), w), {**sample.kwargs, "input_shape": x.shape})


def _filter_gradient(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for sample in _convolution(dtype, rng):
        x, w = sample.args
        yield Sample(sample.name, (x, _gradient(sample, rng)), {**sample.kwargs, "filter_shape": w.shape})


def _gradient(sample: Sample, rng: np.random.Generator) -> np.ndarray:
    """A gradient of the sample's output."""
    (x, w), form = sample.args, sample.kwargs
    axes = zip(x.shape[1:-1], w.shape, form["strides"], form["paddings"], form["dilations"], strict=False)
    places = [(size + sum(pair) - (n - 1) * rate - 1) // step + 1 for size, n, step, pair, rate in axes]
    return rng.uniform(-1, 1, (x.shape[0], *places, w.shape[-1])).astype(x.dtype)


def _convolution_bias(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    activations = ("linear", "relu", "relu6", "sigmoid", "tanh")
    for number, sample in enumerate(_convolution(dtype, rng)):
        bias = rng.uniform(-1, 1, sample.args[1].shape[-1:]).astype(dtype)
        activation = activations[number % len(activations)]
        yield Sample(f"{sample.name}, {activation}", (*sample.args, bias), {**sample.kwargs, "activation": activation})


SAMPLES = {
    "convolution": _convolution,
    "convolution_bias": _convolution_bias,
    "convolution_filter_grad": _filter_gradient,
    "convolution_input_grad": _input_gradient,
}
