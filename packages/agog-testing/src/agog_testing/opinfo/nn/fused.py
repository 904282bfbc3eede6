"""Fused: facts about the ops of agog_core.ops.nn.fused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_testing.opinfo.conv import convolution_ops
from agog_testing.opinfo.conv.convolution_ops import (
    _FORMS,
    _convolution,
    _filter_grad,
    _forward,
    _input_grad,
    _output_shape,
)
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.linalg import matmul
from agog_testing.opinfo.values import FLOATING, Rng, constant, invalid, rejected, uniform

_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "linear": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
}
_KINKED = ("relu", "relu6")


def _product(dtype: str, rng: Rng, rows: int, inner: int, columns: int, activation: str) -> Sample:
    a, b = uniform(dtype, rng, (rows, inner), -1, 1), uniform(dtype, rng, (inner, columns), -1, 1)
    bias = uniform(dtype, rng, (columns,), -1, 1)
    if activation in _KINKED and inner:  # far from where the gradient jumps
        a, b = np.abs(a), np.abs(b) + b.dtype.type(0.125)
        bias = np.where(np.arange(columns) % 2 == 0, np.abs(bias), -np.abs(bias) - 8 * inner).astype(bias.dtype)
        if activation == "relu6":
            bias = (bias + bias.dtype.type(0.5)).astype(bias.dtype)
    return Sample(f"{rows} by {inner} by {columns}, {activation}", (a, b, bias, activation))


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for activation in _ACTIVATIONS:
        for sizes in ((2, 3, 4), (1, 1, 1), (5, 2, 9), (0, 2, 3), (2, 3, 0)):
            yield _product(dtype, rng, *sizes, activation)
    yield _product(dtype, rng, 3, 67, 2, "linear")
    yield Sample("no inner size", (*(np.zeros(s, dtype) for s in ((2, 0), (0, 3))), uniform(dtype, rng, (3,))))
    special = constant(dtype, [[1.0, np.nan], [np.inf, 2.0]]), constant(dtype, [[1.0], [2.0]])
    for activation in _ACTIVATIONS:
        yield Sample(f"NaN and infinity, {activation}", (*special, constant(dtype, [1.0]), activation), smooth=False)


def _sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for sizes in ((size, 2, 3), (2, size, 3), (2, 3, size)):
        yield _product(dtype, rng, *sizes, "linear")
    yield _product(dtype, rng, size, 2, 3, "tanh")


def _matmul_bias(a: Array, b: Array, bias: Array, activation: str = "linear") -> Array:
    return _ACTIVATIONS[activation]((a[:, :, None] * b[None]).sum(1) + bias)


def _windows(dtype: str, rng: Rng, form: Any, activation: str) -> Sample:
    sample = _forward(dtype, rng, *form)
    input, filter, strides, paddings, dilations, *groups = sample.args
    bias = uniform(dtype, rng, filter.shape[-1:], -1, 1)
    if activation in _KINKED:
        input, filter = np.abs(input), np.abs(filter) + filter.dtype.type(0.125)
        lower = 8 * max(1, int(np.prod(filter.shape[:-1])))
        is_even = np.arange(len(bias)) % 2 == 0
        bias = np.where(is_even, np.abs(bias) + 0.25, -np.abs(bias) - lower).astype(bias.dtype)
    arguments = (input, filter, bias, strides, paddings, dilations, *groups)
    return Sample(f"{sample.name}, {activation}", arguments, {"activation": activation})


def _convolution_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for form in _FORMS:
        yield _windows(dtype, rng, form, "linear")
    for activation in ("relu", "relu6", "sigmoid", "tanh"):
        yield _windows(dtype, rng, _FORMS[1], activation)
    for activation in ("sigmoid", "tanh"):
        yield _windows(dtype, rng, _FORMS[16], activation)


def _wide(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for shape, filter in (((1, size, 2), (3, 2, 2)), ((1, 3, size), (2, size, 2)), ((1, 3, 2), (2, 2, size))):
        yield _windows(dtype, rng, (f"{shape} by {filter}", shape, filter, (1,), ((1, 1),), (1,), 1), "linear")


def _convolution_bias(
    input: Array,
    filter: Array,
    bias: Array,
    strides: Any,
    paddings: Any,
    dilations: Any,
    groups: int = 1,
    activation: str = "linear",
) -> Array:
    return _ACTIVATIONS[activation](_convolution(input, filter, strides, paddings, dilations, groups) + bias)


# The slopes of the activations, by their results.
_SLOPES: dict[str, Callable[[Array], Any]] = {
    "linear": np.ones_like,
    "relu": lambda y: y > 0,
    "relu6": lambda y: (y > 0) & (y < 6),
    "sigmoid": lambda y: y * (1 - y),
    "tanh": lambda y: 1 - y * y,
}
_OF_PRODUCT, _OF_CONVOLUTION = ("a", "b", "bias"), ("input", "filter", "bias")


def _outputs(dtype: str, rng: Rng, shape: Any, activation: str) -> Array:
    """Results of an activation, far from where its gradient jumps."""
    if activation in _KINKED:
        return constant(dtype, rng.choice([-1.0, 3.0, 7.0], shape))
    return uniform(dtype, rng, shape, 0.125, 0.875)


def _some(sources: tuple[str, ...] | None) -> dict[str, Any]:
    return {} if sources is None else {"sources": sources}


def _of_product(
    dtype: str, rng: Rng, rows: int, inner: int, columns: int, activation: str, sources: tuple[str, ...] | None = None
) -> Sample:
    gradients, a, b = (
        uniform(dtype, rng, shape, -1, 1) for shape in ((rows, columns), (rows, inner), (inner, columns))
    )
    arguments = gradients, a, b, _outputs(dtype, rng, (rows, columns), activation), activation
    return Sample(f"{rows} by {inner} by {columns}, {activation}, of {sources or 'all'}", arguments, _some(sources))


def _grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for activation in _ACTIVATIONS:
        for sizes in ((2, 3, 4), (1, 1, 1), (0, 2, 3), (2, 3, 0)):
            yield _of_product(dtype, rng, *sizes, activation)
    for sources in (("a",), ("b",), ("bias",), ("b", "bias")):
        yield _of_product(dtype, rng, 3, 2, 4, "tanh", sources)
    yield _of_product(dtype, rng, 2, 67, 3, "relu")


def _sized_grad(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for sizes in ((2, size, 3), (size, 2, 3), (2, 3, size)):  # the first may be large: its sums are short
        yield _of_product(dtype, rng, *sizes, "linear")
    yield _of_product(dtype, rng, 2, size, 3, "tanh")


def _matmul_bias_grad(
    gradients: Array, a: Array, b: Array, outputs: Array, activation: str = "linear", sources: Any = _OF_PRODUCT
) -> tuple[Array, ...]:
    g = gradients * _SLOPES[activation](outputs)
    found = {
        "a": (g[:, None, :] * b[None]).sum(2),
        "b": (a[:, :, None] * g[:, None, :]).sum(0),
        "bias": g.sum(0),
    }
    return tuple(found[source] for source in sources)


def _of_windows(dtype: str, rng: Rng, form: Any, activation: str, sources: tuple[str, ...] | None = None) -> Sample:
    name, shape, filter, strides, paddings, dilations, *groups = form
    places = _output_shape(shape, filter, strides, paddings, dilations)
    gradients, *tensors = (uniform(dtype, rng, sizes, -1, 1) for sizes in (places, shape, filter))
    arguments = gradients, *tensors, _outputs(dtype, rng, places, activation), strides, paddings, dilations, *groups
    return Sample(
        f"{name}, {activation}, of {sources or 'all'}", arguments, {"activation": activation, **_some(sources)}
    )


def _convolution_grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for form in _FORMS:
        yield _of_windows(dtype, rng, form, "linear")
    for activation in ("relu", "relu6", "sigmoid", "tanh"):
        yield _of_windows(dtype, rng, _FORMS[1], activation)
    for sources in (("input",), ("filter", "bias")):
        yield _of_windows(dtype, rng, _FORMS[1], "tanh", sources)


def _wide_grad(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for shape, filter in (((1, size, 2), (3, 2, 2)), ((1, 3, size), (2, size, 2)), ((1, 3, 2), (2, 2, size))):
        yield _of_windows(dtype, rng, (f"{shape} by {filter}", shape, filter, (1,), ((1, 1),), (1,), 1), "linear")


def _convolution_bias_grad(
    gradients: Array,
    input: Array,
    filter: Array,
    outputs: Array,
    strides: Any,
    paddings: Any,
    dilations: Any,
    groups: int = 1,
    activation: str = "linear",
    sources: Any = _OF_CONVOLUTION,
) -> tuple[Array, ...]:
    g = gradients * _SLOPES[activation](outputs)
    form = strides, paddings, dilations, groups
    found: dict[str, Callable[[], Array]] = {
        "input": lambda: _input_grad(g, filter, input.shape, *form),
        "filter": lambda: _filter_grad(input, g, filter.shape, *form),
        "bias": lambda: g.sum(tuple(range(g.ndim - 1))),
    }
    return tuple(found[source]() for source in sources)


_TWO, _THREE = np.ones((2, 2), np.float32), np.ones(3, np.float32)
_X, _F, _PLAIN = np.ones((1, 2, 1), np.float32), np.ones((1, 1, 2), np.float32), ((1,), ((0, 0),), (1,))
_OF_PRODUCTS, _OF_WINDOWS = matmul.INFOS[0], convolution_ops.INFOS[0]

INFOS = (
    OpInfo(
        "matmul_bias",
        _samples,
        _matmul_bias,
        sized=_sized,
        errors=(
            invalid((_TWO, _TWO, _THREE), "matmul_bias: bias has a number for each of the 2 outputs; got shape (3,)."),
            invalid(
                (_TWO[None], _TWO, _THREE), "matmul_bias: a and b must be matrices; got shapes (1, 2, 2) and (2, 2)."
            ),
            invalid(
                (_TWO, np.ones((3, 2), np.float32), _THREE),
                "matmul: Matrix size-incompatible: a is (2, 2) and b is (3, 2): inner sizes 2 and 3.",
            ),
            invalid(
                (_TWO, _TWO, _TWO[0], "softmax"),
                "matmul_bias: activation must be one of linear, relu, relu6, sigmoid, tanh; got 'softmax'.",
            ),
            rejected("matmul_bias", "int32", FLOATING, (*[np.ones((1, 1), np.int32)] * 2, np.ones(1, np.int32))),
        ),
        tolerances={name: _OF_PRODUCTS.tolerances[name] for name in ("float16", "bfloat16", "float32", "float64")},
    ),
    OpInfo(
        "convolution_bias",
        _convolution_samples,
        _convolution_bias,
        sized=_wide,
        errors=(
            invalid(
                (_X, _F, _THREE, *_PLAIN),
                "convolution_bias: bias has a number for each of the 2 outputs; got shape (3,).",
            ),
            invalid(
                (_X, _F, _THREE[:2], *_PLAIN),
                "convolution_bias: activation must be one of linear, relu, relu6, sigmoid, tanh; got 'elu'.",
                activation="elu",
            ),
        ),
        tolerances=_OF_WINDOWS.tolerances,
    ),
    OpInfo(
        "matmul_bias_grad",
        _grad_samples,
        _matmul_bias_grad,
        sized=_sized_grad,
        errors=(
            invalid(
                (_TWO[:1], _TWO, _TWO, _TWO),
                "matmul_bias_grad: gradients and outputs must be of shape (2, 2); got gradients (1, 2) and outputs "
                "(2, 2).",
            ),
            ErrorSample(
                (_TWO, _TWO, _TWO, _TWO),
                {"sources": ("filter",)},
                ValueError,
                "matmul_bias_grad: sources must name some of a, b, bias; got ('filter',).",
            ),
        ),
        tolerances={name: _OF_PRODUCTS.tolerances[name] for name in ("float16", "bfloat16", "float32", "float64")},
    ),
    OpInfo(
        "convolution_bias_grad",
        _convolution_grad_samples,
        _convolution_bias_grad,
        sized=_wide_grad,
        errors=(
            invalid(
                (_X[:, :, :1], _X, _F, _X, *_PLAIN),
                "convolution_bias_grad: gradients and outputs must be of shape (1, 2, 2); got gradients (1, 2, 1) and "
                "outputs (1, 2, 1).",
            ),
        ),
        tolerances=_OF_WINDOWS.tolerances,
    ),
)
