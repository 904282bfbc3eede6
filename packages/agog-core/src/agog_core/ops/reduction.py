"""Reductions over axes."""

from __future__ import annotations

import math
from typing import Any

from agog_core import dtypes
from agog_core.broadcasting import broadcast_to
from agog_core.call import call
from agog_core.convert import convert_to_tensor
from agog_core.dtypes import ORDERED, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.op import Op
from agog_core.ops.array import reshape
from agog_core.ops.casting import cast
from agog_core.ops.logic import equal
from agog_core.ops.math import multiply, realdiv
from agog_core.shapes import Shape, normalize_axes, normalize_axis, reduced_shape
from agog_core.tensor import Tensor, TensorLike


def _reduce(op: Op, value: TensorLike, axis: Any, keepdims: Any, reduction_indices: Any, keep_dims: Any) -> Tensor:
    """Run a reduction with TensorFlow's arguments, old names included."""
    x = convert_to_tensor(value)
    axes = normalize_axes(op.name, reduction_indices if axis is None else axis, len(x._shape))
    return call(op, x, axes=axes, keepdims=bool(keep_dims if keepdims is None else keepdims))


def _kept(x: Shape, axes: Shape) -> Shape:
    return reduced_shape(x, axes, True)


def reduce_sum(
    input_tensor: TensorLike,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Sum over axes.

    Args:
        input_tensor: a tensor of numbers.
        axis: an axis or several; None for all.
        keepdims: whether reduced axes stay, with size 1.
        name: not used; kept for compatibility.
        reduction_indices: the older name of ``axis``.
        keep_dims: the older name of ``keepdims``.

    Returns:
        The sums, in the input's dtype; 0 for no elements.

    Raises:
        InvalidArgumentError: an axis is out of range.

    >>> print(reduce_sum([[1, 2], [3, 4]], 0))
    tf.Tensor([4 6], shape=(2,), dtype=int32)
    """
    return _reduce(_reduce_sum, input_tensor, axis, keepdims, reduction_indices, keep_dims)


_reduce_sum = Op(
    "reduce_sum",
    reduce_sum,
    inputs=["input_tensor"],
    shape=reduced_shape,
    dtypes=ORDERED,
    vjp={"input_tensor": lambda g, input_tensor_shape, axes: _spread(g, input_tensor_shape, axes)},
)


def _spread(g: Tensor, shape: Shape, axes: Shape) -> Tensor:
    return broadcast_to(reshape(g, _kept(shape, axes)) if g._shape else g, shape)


def reduce_mean(
    input_tensor: TensorLike,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Mean over axes.

    Args:
        input_tensor: a tensor of numbers.
        axis: an axis or several; None for all.
        keepdims: whether reduced axes stay, with size 1.
        name: not used; kept for compatibility.
        reduction_indices: the older name of ``axis``.
        keep_dims: the older name of ``keepdims``.

    Returns:
        The means, in the input's dtype (cut off towards zero for integers); NaN for no elements.

    Raises:
        InvalidArgumentError: an axis is out of range, or integers are averaged over no elements.

    >>> print(reduce_mean([[1.0, 2.0], [3.0, 4.0]]))
    tf.Tensor(2.5, shape=(), dtype=float32)
    """
    return _reduce(_reduce_mean, input_tensor, axis, keepdims, reduction_indices, keep_dims)


def _mean_vjp(g: Tensor, input_tensor_shape: Shape, axes: Shape) -> Tensor:
    count = math.prod(input_tensor_shape[axis] for axis in axes)
    return _spread(realdiv(g, max(count, 1)), input_tensor_shape, axes)


_reduce_mean = Op(
    "reduce_mean",
    reduce_mean,
    inputs=["input_tensor"],
    shape=reduced_shape,
    dtypes=ORDERED,
    vjp={"input_tensor": _mean_vjp},
)


def _extremum_vjp(g: Tensor, input_tensor: Tensor, out: Tensor, axes: Shape) -> Tensor:
    """Elements that are equally extreme share the gradient."""
    kept = _kept(input_tensor._shape, axes)
    extreme = cast(equal(input_tensor, reshape(out, kept)), g.dtype)
    share = realdiv(extreme, reshape(reduce_sum(extreme, axes), kept)) if axes else extreme
    return multiply(share, reshape(g, kept))


def _nonempty(op: str) -> Any:
    def rule(x: Shape, axes: Shape, keepdims: bool) -> Shape:
        if any(x[axis] == 0 for axis in axes) and 0 not in reduced_shape(x, axes, keepdims):
            raise InvalidArgumentError(f"{op}: no elements to choose from: shape {x} is empty along axes {axes}.")
        return reduced_shape(x, axes, keepdims)

    return rule


def reduce_max(
    input_tensor: TensorLike,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Maximum over axes; equal maxima share the gradient.

    Args:
        input_tensor: a tensor of numbers.
        axis: an axis or several; None for all.
        keepdims: whether reduced axes stay, with size 1.
        name: not used; kept for compatibility.
        reduction_indices: the older name of ``axis``.
        keep_dims: the older name of ``keepdims``.

    Returns:
        The maxima; NaN where there is one.

    Raises:
        InvalidArgumentError: an axis is out of range, or has no elements.

    >>> print(reduce_max([[1, 2], [3, 4]], 1))
    tf.Tensor([2 4], shape=(2,), dtype=int32)
    """
    return _reduce(_reduce_max, input_tensor, axis, keepdims, reduction_indices, keep_dims)


_reduce_max = Op(
    "reduce_max",
    reduce_max,
    inputs=["input_tensor"],
    shape=_nonempty("reduce_max"),
    dtypes=ORDERED,
    vjp={"input_tensor": _extremum_vjp},
)


def reduce_min(
    input_tensor: TensorLike,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Minimum over axes; equal minima share the gradient.

    Args:
        input_tensor: a tensor of numbers.
        axis: an axis or several; None for all.
        keepdims: whether reduced axes stay, with size 1.
        name: not used; kept for compatibility.
        reduction_indices: the older name of ``axis``.
        keep_dims: the older name of ``keepdims``.

    Returns:
        The minima; NaN where there is one.

    Raises:
        InvalidArgumentError: an axis is out of range, or has no elements.

    >>> print(reduce_min([[1, 2], [3, 4]], 1))
    tf.Tensor([1 3], shape=(2,), dtype=int32)
    """
    return _reduce(_reduce_min, input_tensor, axis, keepdims, reduction_indices, keep_dims)


_reduce_min = Op(
    "reduce_min",
    reduce_min,
    inputs=["input_tensor"],
    shape=_nonempty("reduce_min"),
    dtypes=ORDERED,
    vjp={"input_tensor": _extremum_vjp},
)


def reduce_all(
    input_tensor: TensorLike,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Whether all elements along axes are true.

    Args:
        input_tensor: a bool tensor.
        axis: an axis or several; None for all.
        keepdims: whether reduced axes stay, with size 1.
        name: not used; kept for compatibility.
        reduction_indices: the older name of ``axis``.
        keep_dims: the older name of ``keepdims``.

    Returns:
        A bool tensor; True for no elements.

    Raises:
        InvalidArgumentError: an axis is out of range, or the input is not bool.

    >>> print(reduce_all([True, False]))
    tf.Tensor(False, shape=(), dtype=bool)
    """
    return _reduce(_reduce_all, input_tensor, axis, keepdims, reduction_indices, keep_dims)


_reduce_all = Op(
    "reduce_all", reduce_all, inputs=["input_tensor"], shape=reduced_shape, dtypes=frozenset({dtypes.bool_})
)


def reduce_any(
    input_tensor: TensorLike,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Whether any element along axes is true.

    Args:
        input_tensor: a bool tensor.
        axis: an axis or several; None for all.
        keepdims: whether reduced axes stay, with size 1.
        name: not used; kept for compatibility.
        reduction_indices: the older name of ``axis``.
        keep_dims: the older name of ``keepdims``.

    Returns:
        A bool tensor; False for no elements.

    Raises:
        InvalidArgumentError: an axis is out of range, or the input is not bool.

    >>> print(reduce_any([True, False]))
    tf.Tensor(True, shape=(), dtype=bool)
    """
    return _reduce(_reduce_any, input_tensor, axis, keepdims, reduction_indices, keep_dims)


_reduce_any = Op(
    "reduce_any", reduce_any, inputs=["input_tensor"], shape=reduced_shape, dtypes=frozenset({dtypes.bool_})
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
        axis: the axis; 0 by default.
        name: not used; kept for compatibility.
        dimension: the older name of ``axis``.
        output_type: int32 or int64.

    Returns:
        Positions, without the axis.

    Raises:
        InvalidArgumentError: the axis is out of range, or has no elements.

    >>> print(argmax([[1, 2], [4, 3]], 1))
    tf.Tensor([1 0], shape=(2,), dtype=int64)
    """
    x = convert_to_tensor(input)
    where = normalize_axis("argmax", next((a for a in (axis, dimension) if a is not None), 0), len(x._shape))
    return call(_argmax, x, axis=where, dtype=as_dtype(output_type).name)


def _argmax_shape(x: Shape, axis: int, dtype: str) -> Shape:
    return _argmax_rule(x, (axis,), False)  # type: ignore[no-any-return]  # a shape rule


_argmax_rule = _nonempty("argmax")
_argmax = Op(
    "argmax",
    argmax,
    inputs=["input"],
    shape=_argmax_shape,
    dtype=lambda given, axis, dtype: as_dtype(dtype),
    dtypes=ORDERED,
)
