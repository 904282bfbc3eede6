"""Extrema: the largest and smallest elements along axes, and their positions."""

from __future__ import annotations

from typing import Any

from agog_core import dtypes
from agog_core.calls.call import call
from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.op import define
from agog_core.dtypes import FLOATING, ORDERED, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import ones_like, reshape
from agog_core.ops.reduce.reduction import reduce_sum, reduction
from agog_core.shapes import Shape, normalize_axis, reduced_shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["arg_max", "arg_min", "argmax", "argmin", "reduce_max", "reduce_min"]


def _nonempty(op: str) -> Any:
    def rule(x: Shape, axes: Shape, keepdims: bool) -> Shape:
        if any(x[axis] == 0 for axis in axes) and 0 not in reduced_shape(x, axes, keepdims):
            raise InvalidArgumentError(f"{op}: no elements to choose from: shape {x} is empty along axes {axes}.")
        return reduced_shape(x, axes, keepdims)

    return rule


def _extremum_vjp(g: Tensor, input_tensor: Tensor, out: Tensor, axes: Shape) -> Tensor:
    return reduce_extremum_grad(g, input_tensor, out, axes)


@reduction(_extremum_vjp, dtypes=ORDERED, shape=_nonempty("reduce_max"))
def reduce_max(input_tensor: TensorLike, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """Maximum over axes; equal maxima share the gradient.

    Returns:
        The maxima; NaN where there is one.

    Raises:
        InvalidArgumentError: an axis is out of range, or has no elements.

    >>> print(reduce_max([[1, 2], [3, 4]], 1))
    tf.Tensor([2 4], shape=(2,), dtype=int32)
    """


@reduction(_extremum_vjp, dtypes=ORDERED, shape=_nonempty("reduce_min"))
def reduce_min(input_tensor: TensorLike, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """Minimum over axes; equal minima share the gradient.

    Returns:
        The minima; NaN where there is one.

    Raises:
        InvalidArgumentError: an axis is out of range, or has no elements.

    >>> print(reduce_min([[1, 2], [3, 4]], 1))
    tf.Tensor([1 3], shape=(2,), dtype=int32)
    """


def reduce_extremum_grad(gradients: TensorLike, input_tensor: TensorLike, output: TensorLike, axes: Shape) -> Tensor:
    """The gradient of `reduce_max` and `reduce_min`, of the input's shape: equally extreme elements share it.

    >>> print(reduce_extremum_grad(1.0, [1.0, 2.0, 2.0], 2.0, (0,)))
    tf.Tensor([0.  0.5 0.5], shape=(3,), dtype=float32)
    """
    g, x, out = convert_to_tensor(gradients), convert_to_tensor(input_tensor), convert_to_tensor(output)
    return call(_reduce_extremum_grad, g, x, out, axes=axes)


def _extremum_grad_shape(gradients: Shape, input_tensor: Shape, output: Shape, axes: Shape) -> Shape:
    allowed = reduced_shape(input_tensor, axes, False), reduced_shape(input_tensor, axes, True)
    if gradients not in allowed or output not in allowed:
        raise InvalidArgumentError(
            f"reduce_extremum_grad: gradients and output must have shape {allowed[0]} or {allowed[1]}, those of shape "
            f"{input_tensor} reduced over axes {axes}; got {gradients} and {output}."
        )
    return input_tensor


def _extremum_grad_vjp(g: Tensor, gradients: Tensor, input_tensor: Tensor, output: Tensor, axes: Shape) -> Tensor:
    shares = reduce_extremum_grad(ones_like(gradients), input_tensor, output, axes)
    return reshape(reduce_sum(g * shares, axes), gradients._shape)


_reduce_extremum_grad = define(
    reduce_extremum_grad, shape=_extremum_grad_shape, dtypes=FLOATING, vjp={"gradients": _extremum_grad_vjp}
)


def argmax(
    input: TensorLike,
    axis: int | None = None,
    name: str | None = None,
    dimension: int | None = None,
    output_type: Any = dtypes.int64,
) -> Tensor:
    """The position of the largest element along an axis; the first one where several are equal.

    Args:
        input: a tensor of numbers.
        axis: the axis; 0 by default. Its older name is ``dimension``.
        output_type: int32 or int64.

    Returns:
        Positions, without the axis.

    Raises:
        InvalidArgumentError: the axis is out of range, or has no elements.

    >>> print(argmax([[1, 2], [4, 3]], 1))
    tf.Tensor([1 0], shape=(2,), dtype=int64)
    """
    x = convert_to_tensor(input)
    return call(_argmax, x, axis=_axis("argmax", axis, dimension, x), dtype=as_dtype(output_type).name)


@documented_like(argmax)
def argmin(
    input: TensorLike,
    axis: int | None = None,
    name: str | None = None,
    dimension: int | None = None,
    output_type: Any = dtypes.int64,
) -> Tensor:
    """The position of the smallest element along an axis; the first one where several are equal.

    >>> print(argmin([[1, 2], [4, 3]], 1))
    tf.Tensor([0 1], shape=(2,), dtype=int64)
    """
    x = convert_to_tensor(input)
    return call(_argmin, x, axis=_axis("argmin", axis, dimension, x), dtype=as_dtype(output_type).name)


def _axis(op: str, axis: int | None, dimension: int | None, x: Tensor) -> int:
    given = dimension if axis is None else axis
    return normalize_axis(op, 0 if given is None else given, len(x._shape))


def _position_shape(op: str) -> Any:
    rule = _nonempty(op)
    return lambda x, axis, dtype: rule(x, (axis,), False)


def _position_dtype(given: dtypes.DType, axis: int, dtype: str) -> dtypes.DType:
    return as_dtype(dtype)


_argmax = define(argmax, shape=_position_shape("argmax"), dtype=_position_dtype, dtypes=ORDERED)
_argmin = define(argmin, shape=_position_shape("argmin"), dtype=_position_dtype, dtypes=ORDERED)


def arg_max(input: TensorLike, dimension: int, output_type: Any = dtypes.int64, name: str | None = None) -> Tensor:
    """See `argmax`, the newer name."""
    return argmax(input, dimension, output_type=output_type)


def arg_min(input: TensorLike, dimension: int, output_type: Any = dtypes.int64, name: str | None = None) -> Tensor:
    """See `argmin`, the newer name."""
    return argmin(input, dimension, output_type=output_type)
