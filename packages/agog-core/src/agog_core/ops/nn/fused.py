"""Fused: products of matrices and convolutions with a bias and an activation, as one op each.

A library computes all three in one pass. Where its plugin brings the product alone, or a traced function takes kernels
apart, the op is what it is composed of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from agog_core.calls.broadcasting import sum_to
from agog_core.calls.call import call
from agog_core.dispatch.devices.lookup import scopes
from agog_core.dispatch.kernels.failure import note_failure
from agog_core.dispatch.kernels.resolution import run_next
from agog_core.dispatch.op import Op
from agog_core.dtypes import FLOATING
from agog_core.errors import InvalidArgumentError
from agog_core.ops.conv.arguments import Pairs
from agog_core.ops.conv.convolution_ops import _shape as convolution_shape
from agog_core.ops.conv.convolution_ops import convolution_filter_grad, convolution_input_grad
from agog_core.ops.linalg.matmul import _matmul_shape as matmul_shape
from agog_core.ops.linalg.matmul import matmul
from agog_core.ops.math.elementary import sigmoid_grad, tanh_grad
from agog_core.ops.nn.activations import relu6_grad, relu_grad
from agog_core.recording import active, record
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor
from agog_core.tensors.tensor import wrap

# The gradients of the activations that have a name here, by their outputs.
_GRADIENTS: dict[str, Callable[[Tensor, Any], Tensor]] = {
    "linear": lambda g, out: g,
    "relu": relu_grad,
    "relu6": relu6_grad,
    "sigmoid": sigmoid_grad,
    "tanh": tanh_grad,
}


def matmul_bias(a: TensorLike, b: TensorLike, bias: TensorLike, activation: str = "linear") -> Tensor:
    """A layer's ``activation(a @ b + bias)`` for matrices: a product, a number added to each column, and an activation.

    The activation is ``"linear"``, ``"relu"``, ``"relu6"``, ``"sigmoid"`` or ``"tanh"``.

    >>> print(matmul_bias([[1.0, 2.0]], [[3.0, -3.0], [4.0, 0.0]], [5.0, 1.0], "relu"))
    tf.Tensor([[16.  0.]], shape=(1, 2), dtype=float32)
    """
    if type(a) is not Tensor or type(b) is not Tensor or type(bias) is not Tensor:
        a, b, bias = convert_to_tensor(a), convert_to_tensor(b), convert_to_tensor(bias)
    table = a._table
    kernel = table.kernels.get("matmul_bias")
    if kernel is None or b._table is not table or bias._table is not table or scopes:
        return call(_matmul_bias, a, b, bias, activation=activation)
    shape = _matmul_bias_shape(a._shape, b._shape, bias._shape, activation)
    try:
        array = kernel(a._array, b._array, bias._array, activation=activation)
    except Exception as error:
        note_failure(error, _matmul_bias, table, (a._array, b._array, bias._array))
        raise
    if type(array) is not table.array_type:
        if array is NotImplemented:
            array = run_next(_matmul_bias, table, (a._array, b._array, bias._array), {"activation": activation})
        else:
            array = table.adopt("matmul_bias", array)
    out = wrap(array, table, shape)
    if active and (a._watch is not None or b._watch is not None or bias._watch is not None):
        record(_matmul_bias, out, (a, b, bias), {"activation": activation})
    return out


def _check(op: str, shape: Shape, bias: Shape, activation: str) -> Shape:
    if bias != shape[-1:]:
        raise InvalidArgumentError(f"{op}: bias has a number for each of the {shape[-1]} outputs; got shape {bias}.")
    if activation not in _GRADIENTS:
        raise InvalidArgumentError(f"{op}: activation must be one of {', '.join(_GRADIENTS)}; got {activation!r}.")
    return shape


@lru_cache(maxsize=4096)
def _matmul_bias_shape(a: Shape, b: Shape, bias: Shape, activation: str) -> Shape:
    if len(a) != 2 or len(b) != 2:
        raise InvalidArgumentError(f"matmul_bias: a and b must be matrices; got shapes {a} and {b}.")
    return _check("matmul_bias", matmul_shape(a, b, False, False), bias, activation)


def _matmul_bias_vjp(
    g: Tensor, a: Tensor, b: Tensor, out: Tensor | None, bias_shape: Shape, activation: str, needed: tuple[str, ...]
) -> tuple[Tensor | None, ...]:
    g = _GRADIENTS[activation](g, out)
    return (
        matmul(g, b, transpose_b=True) if "a" in needed else None,
        matmul(a, g, transpose_a=True) if "b" in needed else None,
        sum_to(g, bias_shape) if "bias" in needed else None,
    )


def _matmul_bias_parts(run: Callable[..., Any], a: Any, b: Any, bias: Any, *, activation: str) -> Any:
    return _finished(run, run("matmul", a, b, transpose_a=False, transpose_b=False), bias, activation)


_ACTIVATIONS = tuple(name for name in _GRADIENTS if name != "linear")


def _is_linear(attributes: Mapping[str, Any]) -> bool:
    return bool(attributes["activation"] == "linear")


def _finished(run: Callable[..., Any], product: Any, bias: Any, activation: str) -> Any:
    out = run("add", product, bias)
    return out if activation == "linear" else run(activation, out)


_matmul_bias = Op(
    "matmul_bias",
    matmul_bias,
    inputs=["a", "b", "bias"],
    shape=_matmul_bias_shape,
    dtypes=FLOATING,
    vjp={("a", "b", "bias"): _matmul_bias_vjp},
    parts=("matmul", _matmul_bias_parts, _ACTIVATIONS),
    unneeded={"out": _is_linear},
)


def convolution_bias(
    input: TensorLike,
    filter: TensorLike,
    bias: TensorLike,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int = 1,
    activation: str = "linear",
) -> Tensor:
    """A layer's ``activation(convolution + bias)``: see `general_convolution`, with a number added to each output.

    The activation is ``"linear"``, ``"relu"``, ``"relu6"``, ``"sigmoid"`` or ``"tanh"``.

    >>> x, f = [[[1.0], [2.0], [3.0]]], [[[1.0]], [[-10.0]]]
    >>> print(convolution_bias(x, f, [20.0], (1,), ((0, 0),), (1,), activation="relu").numpy().tolist())
    [[[1.0], [0.0]]]
    """
    x, f, b = convert_to_tensor(input), convert_to_tensor(filter), convert_to_tensor(bias)
    return call(
        _convolution_bias,
        *(x, f, b),
        strides=strides,
        paddings=paddings,
        dilations=dilations,
        groups=groups,
        activation=activation,
    )


@lru_cache(maxsize=4096)
def _convolution_bias_shape(
    input: Shape,
    filter: Shape,
    bias: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int,
    activation: str,
) -> Shape:
    shape = convolution_shape(input, filter, strides, paddings, dilations, groups)
    return _check("convolution_bias", shape, bias, activation)


def _convolution_bias_vjp(
    g: Tensor,
    input: Tensor,
    filter: Tensor,
    out: Tensor | None,
    input_shape: Shape,
    filter_shape: Shape,
    bias_shape: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int,
    activation: str,
    needed: tuple[str, ...],
) -> tuple[Tensor | None, ...]:
    g = _GRADIENTS[activation](g, out)
    form = strides, paddings, dilations, groups
    return (
        convolution_input_grad(g, filter, input_shape, *form) if "input" in needed else None,
        convolution_filter_grad(input, g, filter_shape, *form) if "filter" in needed else None,
        sum_to(g, bias_shape) if "bias" in needed else None,
    )


def _convolution_bias_parts(
    run: Callable[..., Any], input: Any, filter: Any, bias: Any, *, activation: str, **form: Any
) -> Any:
    return _finished(run, run("convolution", input, filter, **form), bias, activation)


_convolution_bias = Op(
    "convolution_bias",
    convolution_bias,
    inputs=["input", "filter", "bias"],
    shape=_convolution_bias_shape,
    dtypes=FLOATING,
    vjp={("input", "filter", "bias"): _convolution_bias_vjp},
    parts=("convolution", _convolution_bias_parts, _ACTIVATIONS),
    unneeded={"out": _is_linear},
)
