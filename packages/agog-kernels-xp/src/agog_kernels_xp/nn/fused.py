"""Fused: products with a bias and an activation, which are added and applied in the memory of the product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_kernels_xp.conv.convolution_ops import convolution, convolution_filter_grad, convolution_input_grad
from agog_kernels_xp.math.elementary import sigmoid, sigmoid_grad, tanh_grad
from agog_kernels_xp.nn.activations import relu6_grad, relu_grad
from agog_kernels_xp.reduce.reduction import sum_to

Array = Any
Sizes = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


def matmul_bias(xp: Any, a: Array, b: Array, bias: Array, *, activation: str) -> Array:
    """activation(a @ b + bias)."""
    out = a.dot(b)  # see `matmul`
    out += bias
    return out if activation == "linear" else _activated(xp, out, activation)


def matmul_bias_grad(
    xp: Any, gradients: Array, a: Array, b: Array, outputs: Array, *, activation: str, sources: tuple[str, ...]
) -> tuple[Array, ...]:
    """Its gradients."""
    g = _through(xp, gradients, outputs, activation)
    found: dict[str, Callable[[], Array]] = {
        "a": lambda: g.dot(b.T),
        "b": lambda: a.T.dot(g),
        "bias": lambda: sum_to(xp, g, shape=g.shape[-1:]),
    }
    return tuple([found[source]() for source in sources])


def convolution_bias(
    xp: Any,
    input: Array,
    filter: Array,
    bias: Array,
    *,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
    activation: str,
) -> Array:
    """activation(convolution + bias)."""
    out = convolution(xp, input, filter, strides=strides, paddings=paddings, dilations=dilations, groups=groups)
    out += bias
    return _activated(xp, out, activation)


def convolution_bias_grad(
    xp: Any,
    gradients: Array,
    input: Array,
    filter: Array,
    outputs: Array,
    *,
    activation: str,
    sources: tuple[str, ...],
    **form: Any,
) -> tuple[Array, ...]:
    """Its gradients."""
    g = _through(xp, gradients, outputs, activation)
    found: dict[str, Callable[[], Array]] = {
        "input": lambda: convolution_input_grad(xp, g, filter, input_shape=input.shape, **form),
        "filter": lambda: convolution_filter_grad(xp, input, g, filter_shape=filter.shape, **form),
        "bias": lambda: sum_to(xp, g, shape=g.shape[-1:]),
    }
    return tuple([found[source]() for source in sources])


def _through(xp: Any, gradients: Array, out: Array, activation: str) -> Array:
    """The gradient before the activation."""
    return gradients if activation == "linear" else _SLOPES[activation](xp, gradients, out)


_SLOPES = {"relu": relu_grad, "relu6": relu6_grad, "sigmoid": sigmoid_grad, "tanh": tanh_grad}


def _activated(xp: Any, out: Array, activation: str) -> Array:
    if activation == "relu":
        return xp.maximum(out, out.dtype.type(0), out=out)
    if activation == "relu6":
        return xp.minimum(xp.maximum(out, out.dtype.type(0), out=out), out.dtype.type(6), out=out)
    if activation == "tanh":
        return xp.tanh(out, out=out)
    return sigmoid(xp, out) if activation == "sigmoid" else out
