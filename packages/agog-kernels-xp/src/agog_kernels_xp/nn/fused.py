"""Fused: products with a bias and an activation, which are added and applied in the memory of the product."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.conv.convolution_ops import convolution
from agog_kernels_xp.math.elementary import sigmoid

Array = Any
Sizes = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


def matmul_bias(xp: Any, a: Array, b: Array, bias: Array, *, activation: str) -> Array:
    """activation(a @ b + bias)."""
    out = a.dot(b)  # see `matmul`
    out += bias
    return out if activation == "linear" else _activated(xp, out, activation)


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


def _activated(xp: Any, out: Array, activation: str) -> Array:
    if activation == "relu":
        return xp.maximum(out, out.dtype.type(0), out=out)
    if activation == "relu6":
        return xp.minimum(xp.maximum(out, out.dtype.type(0), out=out), out.dtype.type(6), out=out)
    if activation == "tanh":
        return xp.tanh(out, out=out)
    return sigmoid(xp, out) if activation == "sigmoid" else out
