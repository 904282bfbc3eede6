"""Elementwise: the functions of elementwise.cu, of one array or of two of one shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agog_cuda_cupy.cuda.modules import Modules, element
from agog_cuda_cupy.cuda.transpose import contiguous

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


def _of_one(name: str) -> Callable[..., Any]:
    number = np.int32(_UNARY.index(name))

    def launch(modules: Modules, x: Array, *, alpha: float = 0) -> Any:
        return _launched(modules, "unary", number, alpha, x)

    return _named(name, launch)


def _of_two(name: str) -> Callable[..., Any]:
    number = np.int32(_BINARY.index(name))

    def launch(modules: Modules, x: Array, y: Array, *, alpha: float = 0) -> Any:
        return _launched(modules, "binary", number, alpha, x, y)

    return _named(name, launch)


def _named(name: str, launch: Callable[..., Any]) -> Callable[..., Any]:
    """The launcher under the name that errors give."""
    launch.__name__ = launch.__qualname__ = name
    return launch


def _launched(modules: Modules, name: str, function: np.int32, parameter: float, *arrays: Array) -> Any:
    """The values of a function; arrays of several dtypes or shapes are declined."""
    first = arrays[0]
    kind = element(first.dtype)
    if kind is None or any(a.dtype != first.dtype or a.shape != first.shape for a in arrays):
        return NotImplemented
    values = modules.xp.empty(first.shape, first.dtype)
    kernel = modules.kernel("elementwise", name, AGOG_NUMBER=kind)
    given = [contiguous(modules, array) for array in arrays]
    modules.launch(kernel, first.size, *given, values, first.size, function, float(parameter))
    return values


relu6 = _of_one("relu6")
elu = _of_one("elu")
selu = _of_one("selu")
leaky_relu = _of_one("leaky_relu")
softsign = _of_one("softsign")
swish = _of_one("swish")
sigmoid = _of_one("sigmoid")
softplus = _of_one("softplus")
rsqrt = _of_one("rsqrt")
relu_grad = _of_two("relu_grad")
relu6_grad = _of_two("relu6_grad")
elu_grad = _of_two("elu_grad")
selu_grad = _of_two("selu_grad")
leaky_relu_grad = _of_two("leaky_relu_grad")
sigmoid_grad = _of_two("sigmoid_grad")
tanh_grad = _of_two("tanh_grad")
squared_difference = _of_two("squared_difference")
div_no_nan = _of_two("div_no_nan")
sigmoid_cross_entropy = _of_two("sigmoid_cross_entropy")
_gelu, _approximate_gelu = _of_one("gelu"), _of_one("approximate_gelu")
_gelu_grad, _approximate_gelu_grad = _of_two("gelu_grad"), _of_two("approximate_gelu_grad")


def gelu(modules: Modules, features: Array, *, approximate: bool) -> Any:
    return (_approximate_gelu if approximate else _gelu)(modules, features)


def gelu_grad(modules: Modules, gradients: Array, features: Array, outputs: Array, *, approximate: bool) -> Any:
    """See `agog_kernels_xp.nn.gelu`; the error function costs a GPU nothing, so the outputs are not looked at."""
    return (_approximate_gelu_grad if approximate else _gelu_grad)(modules, gradients, features)
