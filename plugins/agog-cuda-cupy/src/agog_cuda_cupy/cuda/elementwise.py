"""Elementwise: the functions of elementwise.cu, of one array or of two of one shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_cuda_cupy.cuda.modules import Modules, element
from agog_cuda_cupy.cuda.transposing import contiguous

Array = Any

# In the order of the source.
_UNARY = (
    *("relu6", "elu", "selu", "leaky_relu", "softsign", "swish", "sigmoid", "softplus", "rsqrt"),
    *("gelu", "approximate_gelu"),
)
_BINARY = (
    *("relu_grad", "relu6_grad", "elu_grad", "selu_grad", "leaky_relu_grad"),
    *("sigmoid_grad", "tanh_grad", "gelu_grad", "approximate_gelu_grad"),
    *("squared_difference", "div_no_nan", "sigmoid_cross_entropy"),
)


def relu6(modules: Modules, features: Array) -> Any:
    return _unary(modules, "relu6", features)


def elu(modules: Modules, features: Array) -> Any:
    return _unary(modules, "elu", features)


def selu(modules: Modules, features: Array) -> Any:
    return _unary(modules, "selu", features)


def leaky_relu(modules: Modules, features: Array, *, alpha: float) -> Any:
    return _unary(modules, "leaky_relu", features, alpha)


def softsign(modules: Modules, features: Array) -> Any:
    return _unary(modules, "softsign", features)


def swish(modules: Modules, features: Array) -> Any:
    return _unary(modules, "swish", features)


def sigmoid(modules: Modules, x: Array) -> Any:
    return _unary(modules, "sigmoid", x)


def softplus(modules: Modules, features: Array) -> Any:
    return _unary(modules, "softplus", features)


def rsqrt(modules: Modules, x: Array) -> Any:
    return _unary(modules, "rsqrt", x)


def gelu(modules: Modules, features: Array, *, approximate: bool) -> Any:
    return _unary(modules, "approximate_gelu" if approximate else "gelu", features)


def relu_grad(modules: Modules, gradients: Array, features: Array) -> Any:
    return _binary(modules, "relu_grad", gradients, features)


def relu6_grad(modules: Modules, gradients: Array, features: Array) -> Any:
    return _binary(modules, "relu6_grad", gradients, features)


def elu_grad(modules: Modules, gradients: Array, outputs: Array) -> Any:
    return _binary(modules, "elu_grad", gradients, outputs)


def selu_grad(modules: Modules, gradients: Array, outputs: Array) -> Any:
    return _binary(modules, "selu_grad", gradients, outputs)


def leaky_relu_grad(modules: Modules, gradients: Array, features: Array, *, alpha: float) -> Any:
    return _binary(modules, "leaky_relu_grad", gradients, features, alpha)


def sigmoid_grad(modules: Modules, gradients: Array, outputs: Array) -> Any:
    return _binary(modules, "sigmoid_grad", gradients, outputs)


def tanh_grad(modules: Modules, gradients: Array, outputs: Array) -> Any:
    return _binary(modules, "tanh_grad", gradients, outputs)


def gelu_grad(modules: Modules, gradients: Array, features: Array, outputs: Array, *, approximate: bool) -> Any:
    """See `agog_kernels_xp.nn.gelu`; the error function costs a GPU nothing, so the outputs are not looked at."""
    return _binary(modules, "approximate_gelu_grad" if approximate else "gelu_grad", gradients, features)


def squared_difference(modules: Modules, x: Array, y: Array) -> Any:
    return _binary(modules, "squared_difference", x, y)


def div_no_nan(modules: Modules, x: Array, y: Array) -> Any:
    return _binary(modules, "div_no_nan", x, y)


def sigmoid_cross_entropy(modules: Modules, labels: Array, logits: Array) -> Any:
    return _binary(modules, "sigmoid_cross_entropy", labels, logits)


def _unary(modules: Modules, name: str, x: Array, parameter: float = 0) -> Any:
    return _launched(modules, "unary", _UNARY.index(name), parameter, x)


def _binary(modules: Modules, name: str, x: Array, y: Array, parameter: float = 0) -> Any:
    return _launched(modules, "binary", _BINARY.index(name), parameter, x, y)


def _launched(modules: Modules, name: str, function: int, parameter: float, *arrays: Array) -> Any:
    """The values of a function; arrays of several dtypes or shapes are declined."""
    first = arrays[0]
    kind = element(first.dtype)
    if kind is None or any(a.dtype != first.dtype or a.shape != first.shape for a in arrays):
        return NotImplemented
    values = modules.xp.empty(first.shape, first.dtype)
    kernel = modules.kernel("elementwise", name, AGOG_NUMBER=kind)
    given = [contiguous(modules, array) for array in arrays]
    modules.launch(kernel, first.size, *given, values, first.size, np.int32(function), float(parameter))
    return values
