"""Convolution ops: the three ops behind all convolutions; the gradients of each are the other two.

They work on any number of axes, channels last, with explicit paddings. TensorFlow's functions convert their arguments
to theirs.
"""

from __future__ import annotations

from functools import lru_cache

from agog_core.calls.call import call, call_with
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING
from agog_core.errors import InvalidArgumentError
from agog_core.ops.conv.arguments import Pairs, output_sizes
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor


def general_convolution(
    input: TensorLike, filter: TensorLike, strides: Shape, paddings: Pairs, dilations: Shape, groups: int = 1
) -> Tensor:
    """Weighted sums of sliding windows over any number of axes; a cross-correlation, as everywhere in deep learning.

    The input has shape (batch, axes..., channels), the filter (window..., channels / groups, outputs), the result
    (batch, places..., outputs). Strides, paddings (zeros before and after) and dilations are given for each axis that
    windows slide over. Each of the groups, equal parts of channels and outputs, has only itself as source. V. Dumoulin,
    F. Visin, "A guide to convolution arithmetic for deep learning", 2016, arXiv:1603.07285.

    >>> x, f = [[[1.0], [2.0], [3.0]]], [[[1.0]], [[10.0]]]
    >>> print(general_convolution(x, f, (1,), ((0, 0),), (1,)).numpy().tolist())
    [[[21.0], [32.0]]]
    """
    x, f = convert_to_tensor(input), convert_to_tensor(filter)
    return call(_convolution, x, f, strides=strides, paddings=paddings, dilations=dilations, groups=groups)


@lru_cache(maxsize=4096)
def _shape(input: Shape, filter: Shape, strides: Shape, paddings: Pairs, dilations: Shape, groups: int) -> Shape:
    if len(input) != len(filter) or len(input) < 3:
        raise InvalidArgumentError(
            f"convolution: input (batch, axes..., channels) and filter (window..., channels, outputs) must be of one "
            f"rank, 3 or more; got shapes {input} and {filter}."
        )
    if input[-1] != filter[-2] * groups or filter[-1] % groups:
        raise InvalidArgumentError(
            f"convolution: input of shape {input} has {input[-1]} channels, but a filter of shape {filter} in {groups} "
            f"group(s) takes {filter[-2] * groups} channels and gives a multiple of {groups} outputs."
        )
    return (
        input[0],
        *output_sizes("convolution", input, filter[:-2], strides, paddings, dilations),
        filter[-1],
    )


def _vjp_input(
    g: Tensor,
    filter: Tensor,
    input_shape: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int,
    reserve: Tensor | None,
) -> Tensor:
    return convolution_input_grad(g, filter, input_shape, strides, paddings, dilations, groups, reserve)


def _vjp_filter(
    g: Tensor,
    input: Tensor,
    filter_shape: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int,
    reserve: Tensor | None,
) -> Tensor:
    return convolution_filter_grad(input, g, filter_shape, strides, paddings, dilations, groups, reserve)


_convolution = Op(
    "convolution",
    general_convolution,
    inputs=["input", "filter"],
    shape=_shape,
    dtypes=FLOATING,
    vjp={"input": _vjp_input, "filter": _vjp_filter},
)


def convolution_input_grad(
    gradient: TensorLike,
    filter: TensorLike,
    input_shape: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int = 1,
    reserve: Tensor | None = None,
) -> Tensor:
    """The gradient of `general_convolution` with respect to its input; also known as transposed convolution.

    >>> g, f = [[[1.0], [2.0]]], [[[1.0]], [[10.0]]]
    >>> print(convolution_input_grad(g, f, (1, 3, 1), (1,), ((0, 0),), (1,)).numpy().tolist())
    [[[1.0], [12.0], [20.0]]]
    """
    return call_with(
        reserve,
        _input_grad,
        convert_to_tensor(gradient),
        convert_to_tensor(filter),
        input_shape=input_shape,
        strides=strides,
        paddings=paddings,
        dilations=dilations,
        groups=groups,
    )


def _input_grad_shape(
    gradient: Shape, filter: Shape, input_shape: Shape, strides: Shape, paddings: Pairs, dilations: Shape, groups: int
) -> Shape:
    _check_gradient(gradient, input_shape, filter, strides, paddings, dilations, groups)
    return input_shape


def _check_gradient(
    gradient: Shape, input: Shape, filter: Shape, strides: Shape, paddings: Pairs, dilations: Shape, groups: int
) -> None:
    expected = _shape(input, filter, strides, paddings, dilations, groups)
    if gradient != expected:
        raise InvalidArgumentError(
            f"convolution: an input of shape {input} and a filter of shape {filter} give an output of shape "
            f"{expected} (strides {strides}, paddings {paddings}, dilations {dilations}); the output, or its gradient, "
            f"has shape {gradient}."
        )


def _input_grad_vjp_gradient(
    g: Tensor, filter: Tensor, strides: Shape, paddings: Pairs, dilations: Shape, groups: int
) -> Tensor:
    return general_convolution(g, filter, strides, paddings, dilations, groups)


def _input_grad_vjp_filter(
    g: Tensor, gradient: Tensor, filter_shape: Shape, strides: Shape, paddings: Pairs, dilations: Shape, groups: int
) -> Tensor:
    return convolution_filter_grad(g, gradient, filter_shape, strides, paddings, dilations, groups)


_input_grad = define(
    convolution_input_grad,
    shape=_input_grad_shape,
    dtypes=FLOATING,
    vjp={"gradient": _input_grad_vjp_gradient, "filter": _input_grad_vjp_filter},
    reserve_of="convolution",
)


def convolution_filter_grad(
    input: TensorLike,
    gradient: TensorLike,
    filter_shape: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int = 1,
    reserve: Tensor | None = None,
) -> Tensor:
    """The gradient of `general_convolution` with respect to its filter.

    >>> x, g = [[[1.0], [2.0], [3.0]]], [[[1.0], [10.0]]]
    >>> print(convolution_filter_grad(x, g, (2, 1, 1), (1,), ((0, 0),), (1,)).numpy().tolist())
    [[[21.0]], [[32.0]]]
    """
    return call_with(
        reserve,
        _filter_grad,
        convert_to_tensor(input),
        convert_to_tensor(gradient),
        filter_shape=filter_shape,
        strides=strides,
        paddings=paddings,
        dilations=dilations,
        groups=groups,
    )


def _filter_grad_shape(
    input: Shape, gradient: Shape, filter_shape: Shape, strides: Shape, paddings: Pairs, dilations: Shape, groups: int
) -> Shape:
    _check_gradient(gradient, input, filter_shape, strides, paddings, dilations, groups)
    return filter_shape


def _filter_grad_vjp_input(
    g: Tensor, gradient: Tensor, input_shape: Shape, strides: Shape, paddings: Pairs, dilations: Shape, groups: int
) -> Tensor:
    return convolution_input_grad(gradient, g, input_shape, strides, paddings, dilations, groups)


def _filter_grad_vjp_gradient(
    g: Tensor, input: Tensor, strides: Shape, paddings: Pairs, dilations: Shape, groups: int
) -> Tensor:
    return general_convolution(input, g, strides, paddings, dilations, groups)


_filter_grad = define(
    convolution_filter_grad,
    shape=_filter_grad_shape,
    dtypes=FLOATING,
    vjp={"input": _filter_grad_vjp_input, "gradient": _filter_grad_vjp_gradient},
    reserve_of="convolution",
)
