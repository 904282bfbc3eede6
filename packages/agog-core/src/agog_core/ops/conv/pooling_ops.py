"""Pooling ops: maxima and means of sliding windows over any number of axes, channels last.

Windows, strides, paddings and dilations are given for each axis that windows slide over. Windows may reach over the
beginning and the end of an axis by the paddings; what is outside does not count.
"""

from __future__ import annotations

from agog_core.calls.call import call, call_several, call_with
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING, ORDERED, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.ops.conv.arguments import Pairs, output_sizes
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor


def general_max_pool(input: TensorLike, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape) -> Tensor:
    """Maxima of sliding windows. The result has shape (batch, places..., channels).

    >>> print(general_max_pool([[[1.0], [3.0], [2.0]]], (2,), (1,), ((0, 0),), (1,)).numpy().tolist())
    [[[3.0], [3.0]]]
    """
    x = convert_to_tensor(input)
    return call(_max_pool, x, window=window, strides=strides, paddings=paddings, dilations=dilations)


def _shape(input: Shape, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape) -> Shape:
    if len(input) != len(window) + 2:
        raise InvalidArgumentError(
            f"pool: a window of shape {window} needs an input of shape (batch, {len(window)} axes, channels); got "
            f"shape {input}."
        )
    return (input[0], *output_sizes("pool", input, window, strides, paddings, dilations), input[-1])


def _max_pool_vjp(
    g: Tensor,
    input: Tensor,
    out: Tensor,
    window: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    reserve: Tensor | None,
) -> Tensor:
    return max_pool_grad(g, input, out, window, strides, paddings, dilations, reserve)


_max_pool = Op(
    "max_pool",
    general_max_pool,
    inputs=["input"],
    shape=_shape,
    dtypes=ORDERED,
    vjp={"input": _max_pool_vjp},
)


def max_pool_grad(
    gradient: TensorLike,
    input: TensorLike,
    maxima: TensorLike,
    window: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    reserve: Tensor | None = None,
) -> Tensor:
    """The gradient of `general_max_pool`: it goes to the first maximum of each window.

    >>> x, y, g = [[[1.0], [3.0], [2.0]]], [[[3.0], [3.0]]], [[[5.0], [7.0]]]
    >>> print(max_pool_grad(g, x, y, (2,), (1,), ((0, 0),), (1,)).numpy().tolist())
    [[[0.0], [12.0], [0.0]]]
    """
    tensors = map(convert_to_tensor, (gradient, input, maxima))
    form = {"window": window, "strides": strides, "paddings": paddings, "dilations": dilations}
    return call_with(reserve, _grad, *tensors, **form)


def _grad_shape(
    gradient: Shape, input: Shape, maxima: Shape, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape
) -> Shape:
    expected = _shape(input, window, strides, paddings, dilations)
    if not gradient == maxima == expected:
        raise InvalidArgumentError(
            f"max_pool_grad: a window of shape {window} over an input of shape {input} gives an output of shape "
            f"{expected}; got an output of shape {maxima} and a gradient of shape {gradient}."
        )
    return input


def _grad_vjp(
    g: Tensor,
    input: Tensor,
    maxima: Tensor,
    window: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    reserve: Tensor | None,
) -> Tensor:
    return max_pool_grad_grad(g, input, maxima, window, strides, paddings, dilations, reserve)


def max_pool_grad_grad(
    gradient: TensorLike,
    input: TensorLike,
    maxima: TensorLike,
    window: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    reserve: Tensor | None = None,
) -> Tensor:
    """The gradient of `max_pool_grad`: what lies at the first maximum of each window. ``gradient`` has the input's
    shape.

    >>> x, y, g = [[[1.0], [3.0], [2.0]]], [[[3.0], [3.0]]], [[[5.0], [7.0], [9.0]]]
    >>> print(max_pool_grad_grad(g, x, y, (2,), (1,), ((0, 0),), (1,)).numpy().tolist())
    [[[7.0], [7.0]]]
    """
    tensors = map(convert_to_tensor, (gradient, input, maxima))
    form = {"window": window, "strides": strides, "paddings": paddings, "dilations": dilations}
    return call_with(reserve, _grad_grad, *tensors, **form)


def _grad_grad_shape(
    gradient: Shape, input: Shape, maxima: Shape, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape
) -> Shape:
    expected = _shape(input, window, strides, paddings, dilations)
    if gradient != input or maxima != expected:
        raise InvalidArgumentError(
            f"max_pool_grad_grad: a window of shape {window} over an input of shape {input} gives an output of shape "
            f"{expected}; got an output of shape {maxima} and a gradient of shape {gradient}, which must be the "
            "input's."
        )
    return maxima


def _grad_grad_vjp(
    g: Tensor,
    input: Tensor,
    maxima: Tensor,
    window: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    reserve: Tensor | None,
) -> Tensor:
    return max_pool_grad(g, input, maxima, window, strides, paddings, dilations, reserve)


# Where the maxima lie does not change with the input, as far as derivatives can tell: only the gradient has a vjp.
_grad = define(max_pool_grad, shape=_grad_shape, dtypes=FLOATING, vjp={"gradient": _grad_vjp}, reserve_of="max_pool")
_grad_grad = define(
    max_pool_grad_grad,
    shape=_grad_grad_shape,
    dtypes=FLOATING,
    vjp={"gradient": _grad_grad_vjp},
    reserve_of="max_pool",
)


def general_max_pool_with_argmax(
    input: TensorLike, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape, dtype: str = "int64"
) -> tuple[Tensor, Tensor]:
    """Maxima of sliding windows, and where they lie. The positions are those in the flattened input, ``"int64"`` or
    ``"int32"``; of several equal maxima the first.

    >>> maxima, positions = general_max_pool_with_argmax([[[1.0], [3.0], [2.0]]], (2,), (1,), ((0, 0),), (1,))
    >>> print(positions.numpy().tolist())
    [[[1], [1]]]
    """
    attributes = {"window": window, "strides": strides, "paddings": paddings, "dilations": dilations}
    maxima, positions = call_several(_with_argmax, convert_to_tensor(input), **attributes, dtype=dtype)
    return maxima, positions


def _with_argmax_shape(
    input: Shape, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape, dtype: str
) -> list[Shape]:
    return [_shape(input, window, strides, paddings, dilations)] * 2


def _with_argmax_vjp(
    g: list[Tensor],
    input: Tensor,
    out: tuple[Tensor, ...],
    window: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
) -> Tensor:
    return max_pool_grad(g[0], input, out[0], window, strides, paddings, dilations)


_with_argmax = Op(
    "max_pool_with_argmax",
    general_max_pool_with_argmax,
    inputs=["input"],
    shape=_with_argmax_shape,
    dtype=lambda given, dtype, **attributes: [given, as_dtype(dtype)],
    dtypes=ORDERED,
    vjp={"input": _with_argmax_vjp},
)


def general_avg_pool(input: TensorLike, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape) -> Tensor:
    """Means of sliding windows. The result has shape (batch, places..., channels).

    >>> print(general_avg_pool([[[1.0], [3.0], [2.0]]], (2,), (1,), ((0, 1),), (1,)).numpy().tolist())
    [[[2.0], [2.5], [2.0]]]
    """
    x = convert_to_tensor(input)
    return call(_avg_pool, x, window=window, strides=strides, paddings=paddings, dilations=dilations)


def _avg_pool_vjp(
    g: Tensor, input_shape: Shape, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape
) -> Tensor:
    return avg_pool_grad(g, input_shape, window, strides, paddings, dilations)


_avg_pool = Op(
    "avg_pool",
    general_avg_pool,
    inputs=["input"],
    shape=_shape,
    dtypes=FLOATING,
    vjp={"input": _avg_pool_vjp},
)


def avg_pool_grad(
    gradient: TensorLike, input_shape: Shape, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape
) -> Tensor:
    """The gradient of `general_avg_pool`: it goes to the elements of each window in equal parts.

    >>> print(avg_pool_grad([[[2.0], [6.0]]], (1, 3, 1), (2,), (1,), ((0, 0),), (1,)).numpy().tolist())
    [[[1.0], [4.0], [3.0]]]
    """
    attributes = {"window": window, "strides": strides, "paddings": paddings, "dilations": dilations}
    return call(_avg_grad, convert_to_tensor(gradient), input_shape=input_shape, **attributes)


def _avg_grad_shape(
    gradient: Shape, input_shape: Shape, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape
) -> Shape:
    expected = _shape(input_shape, window, strides, paddings, dilations)
    if gradient != expected:
        raise InvalidArgumentError(
            f"avg_pool_grad: a window of shape {window} over an input of shape {input_shape} gives an output of shape "
            f"{expected}; got a gradient of shape {gradient}."
        )
    return input_shape


def _avg_grad_vjp(g: Tensor, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape) -> Tensor:
    return general_avg_pool(g, window, strides, paddings, dilations)


_avg_grad = define(avg_pool_grad, shape=_avg_grad_shape, dtypes=FLOATING, vjp={"gradient": _avg_grad_vjp})
