"""Fused convolution: a convolution with a bias and an activation, as one op with one gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

from agog_core.calls.broadcasting import sum_to
from agog_core.calls.call import call, call_several, call_with
from agog_core.dispatch.kernels.parts import is_whole
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING
from agog_core.ops.conv.arguments import Pairs
from agog_core.ops.conv.convolution_ops import _shape as convolution_shape
from agog_core.ops.conv.convolution_ops import convolution_filter_grad, convolution_input_grad
from agog_core.ops.nn.fused import (
    ACTIVATIONS,
    GRADIENTS,
    SLOPES,
    check,
    differentiated,
    finished,
    grad_shapes,
    is_linear,
)
from agog_core.ops.nn.recurrent import check_sources, in_order
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

_OF_CONVOLUTION = ("input", "filter", "bias")


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
    return check("convolution_bias", shape, bias, activation)


def _convolution_bias_vjp(
    g: Tensor,
    input: Tensor,
    filter: Tensor,
    out: Tensor | None,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int,
    activation: str,
    reserve: Tensor | None,
    needed: tuple[str, ...],
) -> tuple[Tensor | None, ...]:
    if reserve is None and not is_whole(_convolution_bias_grad, g._table):
        return _convolution_gradients(g, input, filter, out, (strides, paddings, dilations, groups), activation, needed)
    form = {"strides": strides, "paddings": paddings, "dilations": dilations, "groups": groups}
    given = g, input, filter, g if out is None else out
    found: Any = call_with(reserve, _convolution_bias_grad, *given, **form, activation=activation, sources=needed)
    return in_order(found, needed, _OF_CONVOLUTION)


def _convolution_gradients(
    g: Tensor,
    input: Tensor,
    filter: Tensor,
    out: Tensor | None,
    form: tuple[Shape, Pairs, Shape, int],
    activation: str,
    needed: tuple[str, ...],
) -> tuple[Tensor | None, ...]:
    g = GRADIENTS[activation](g, out)
    return (
        convolution_input_grad(g, filter, input._shape, *form) if "input" in needed else None,
        convolution_filter_grad(input, g, filter._shape, *form) if "filter" in needed else None,
        sum_to(g, g._shape[-1:]) if "bias" in needed else None,
    )


def _convolution_bias_parts(
    run: Callable[..., Any], input: Any, filter: Any, bias: Any, *, activation: str, **form: Any
) -> Any:
    return finished(run, run("convolution", input, filter, **form), bias, activation)


_convolution_bias = Op(
    "convolution_bias",
    convolution_bias,
    inputs=["input", "filter", "bias"],
    shape=_convolution_bias_shape,
    dtypes=FLOATING,
    vjp={("input", "filter", "bias"): _convolution_bias_vjp},
    parts=("convolution", _convolution_bias_parts, ACTIVATIONS),
    unneeded={"out": is_linear},
)


def convolution_bias_grad(
    gradients: TensorLike,
    input: TensorLike,
    filter: TensorLike,
    outputs: TensorLike,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int = 1,
    activation: str = "linear",
    sources: Sequence[str] | None = None,
) -> tuple[Tensor, ...]:
    """The gradients of `convolution_bias` with respect to ``input``, ``filter`` and ``bias``, or only to those that
    ``sources`` names. ``outputs`` is its result; with activation ``"linear"`` any tensor of that shape will do.

    >>> x, f, g = [[[1.0], [2.0]]], [[[3.0]]], [[[1.0], [10.0]]]
    >>> print(convolution_bias_grad(g, x, f, g, (1,), ((0, 0),), (1,), sources=["filter"])[0].numpy().tolist())
    [[[21.0]]]
    """
    return call_several(
        _convolution_bias_grad,
        *map(convert_to_tensor, (gradients, input, filter, outputs)),
        strides=strides,
        paddings=paddings,
        dilations=dilations,
        groups=groups,
        activation=activation,
        sources=check_sources("convolution_bias_grad", sources, _OF_CONVOLUTION),
    )


def _convolution_bias_grad_shape(
    gradients: Shape, input: Shape, filter: Shape, outputs: Shape, sources: tuple[str, ...], **form: Any
) -> list[Shape]:
    expected = _convolution_bias_shape(input, filter, filter[-1:], **form)
    return grad_shapes(
        "convolution_bias_grad", gradients, outputs, expected, {"input": input, "filter": filter}, sources
    )


def _convolution_bias_grad_parts(
    run: Callable[..., Any],
    gradients: Any,
    input: Any,
    filter: Any,
    outputs: Any,
    *,
    activation: str,
    sources: tuple[str, ...],
    **form: Any,
) -> tuple[Any, ...]:
    g = gradients if activation == "linear" else run(f"{activation}_grad", gradients, outputs)
    makers: dict[str, Callable[[], Any]] = {
        "input": lambda: run("convolution_input_grad", g, filter, input_shape=tuple(input.shape), **form),
        "filter": lambda: run("convolution_filter_grad", input, g, filter_shape=tuple(filter.shape), **form),
        "bias": lambda: run("sum_to", g, shape=tuple(g.shape[-1:])),
    }
    return tuple([makers[source]() for source in sources])


def _convolution_bias_grad_vjp(
    g: list[Tensor | None],
    gradients: Tensor,
    input: Tensor,
    filter: Tensor,
    outputs: Tensor | None,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int,
    activation: str,
    sources: tuple[str, ...],
    needed: tuple[str, ...],
) -> tuple[Tensor | None, ...]:
    form = strides, paddings, dilations, groups
    inputs = {"gradients": gradients, "input": input, "filter": filter, "outputs": outputs}
    by_ops = partial(_convolution_gradients, form=form, activation=activation, needed=sources)
    return differentiated(by_ops, g, inputs, needed)


_convolution_bias_grad: Op = define(
    convolution_bias_grad,
    shape=_convolution_bias_grad_shape,
    dtypes=FLOATING,
    vjp={("gradients", "input", "filter", "outputs"): _convolution_bias_grad_vjp},
    parts=(("convolution_input_grad", "convolution_filter_grad", "sum_to", *SLOPES), _convolution_bias_grad_parts),
    unneeded={"outputs": is_linear},
    reserve_of="convolution_bias",
)
