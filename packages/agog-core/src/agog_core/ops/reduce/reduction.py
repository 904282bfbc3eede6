"""Reduction: sums, means, products, and whether all or any are true, along axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Protocol

from agog_core.calls.call import call
from agog_core.calls.docstrings import inputs_of, write_arguments
from agog_core.dispatch.edge import Vjp
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import DIFFERENTIABLE, FLOATING, NUMERIC, DType, bool_
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.reshaping import reshape, transpose
from agog_core.ops.math.elementary import exp
from agog_core.ops.reduce.scans import cumprod
from agog_core.shapes import Shape, normalize_axes, reduced_shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["reduce_all", "reduce_any", "reduce_logsumexp", "reduce_mean", "reduce_prod", "reduce_sum"]


class Reduction(Protocol):
    """The public signature of a reduction, with older names of arguments."""

    def __call__(
        self,
        input_tensor: TensorLike,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Tensor: ...


def reduction(
    vjp: Vjp | None = None, *, dtypes: frozenset[DType] = NUMERIC, shape: Callable[..., Shape] = reduced_shape
) -> Callable[[Callable[..., Tensor]], Reduction]:
    """Make a reduction out of a signature with a docstring; it takes the older names of TensorFlow's arguments too.

    The docstring may leave its Args to the dtypes. ``vjp`` is for ``input_tensor``; the attributes are ``axes``,
    sorted, and ``keepdims``.
    """

    def decorate(public: Callable[..., Tensor]) -> Reduction:
        op_name = public.__name__
        write_arguments(
            public,
            inputs_of(["input_tensor"], dtypes),
            "axis: an axis or several; None for all. Its older name is ``reduction_indices``.",
            "keepdims: whether reduced axes stay, with size 1. Its older name is ``keep_dims``.",
        )
        op = Op(
            op_name,
            public,
            inputs=["input_tensor"],
            shape=shape,
            dtypes=dtypes,
            vjp={} if vjp is None else {"input_tensor": vjp},
        )

        def function(
            input_tensor: TensorLike,
            axis: Any = None,
            keepdims: bool | None = None,
            name: str | None = None,
            reduction_indices: Any = None,
            keep_dims: bool | None = None,
        ) -> Tensor:
            x = input_tensor if type(input_tensor) is Tensor else convert_to_tensor(input_tensor)
            axes = normalize_axes(op_name, reduction_indices if axis is None else axis, len(x._shape), True)
            return call(op, x, axes=axes, keepdims=bool(keep_dims if keepdims is None else keepdims))

        # Tracebacks and profiles show the op's name; `inspect.signature` shows all arguments.
        function.__code__ = function.__code__.replace(co_name=op_name, co_qualname=op_name)
        update_wrapper(function, public, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
        del function.__wrapped__  # type: ignore[attr-defined]  # update_wrapper sets it
        op.function = function
        return function

    return decorate


@reduction(lambda g, input_tensor_shape, axes, keepdims: reduce_sum_grad(g, input_tensor_shape, axes, keepdims))
def reduce_sum(input_tensor: TensorLike, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """Sum over axes.

    Returns:
        The sums, in the input's dtype; 0 for no elements.

    Raises:
        InvalidArgumentError: an axis is out of range.

    >>> print(reduce_sum([[1, 2], [3, 4]], 0))
    tf.Tensor([4 6], shape=(2,), dtype=int32)
    """


def _spread_shape(op: str) -> Any:
    def rule(gradients: Shape, shape: Shape, axes: Shape, keepdims: bool) -> Shape:
        wanted = reduced_shape(shape, axes, keepdims)
        if gradients != wanted:
            raise InvalidArgumentError(
                f"{op}: gradients must have shape {wanted}, that of a reduction of shape {shape} over axes {axes} with "
                f"keepdims={keepdims}; got {gradients}."
            )
        return shape

    return rule


def reduce_sum_grad(gradients: TensorLike, shape: Shape, axes: Shape, keepdims: bool) -> Tensor:
    """The gradient of `reduce_sum`, of the input's shape: each element is repeated for all that were summed.

    >>> print(reduce_sum_grad([1.0, 2.0], (2, 2), (1,), False))
    tf.Tensor(
    [[1. 1.]
     [2. 2.]], shape=(2, 2), dtype=float32)
    """
    return call(_reduce_sum_grad, convert_to_tensor(gradients), shape=shape, axes=axes, keepdims=keepdims)


_reduce_sum_grad = define(
    reduce_sum_grad,
    shape=_spread_shape("reduce_sum_grad"),
    dtypes=NUMERIC,
    vjp={"gradients": lambda g, axes, keepdims: reduce_sum(g, axes, keepdims)},
)


@reduction(lambda g, input_tensor_shape, axes, keepdims: reduce_mean_grad(g, input_tensor_shape, axes, keepdims))
def reduce_mean(input_tensor: TensorLike, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """Mean over axes.

    Returns:
        The means, in the input's dtype (cut off towards zero for integers); NaN for no elements.

    Raises:
        InvalidArgumentError: an axis is out of range, or integers are averaged over no elements.

    >>> print(reduce_mean([[1.0, 2.0], [3.0, 4.0]]))
    tf.Tensor(2.5, shape=(), dtype=float32)
    """


def reduce_mean_grad(gradients: TensorLike, shape: Shape, axes: Shape, keepdims: bool) -> Tensor:
    """The gradient of `reduce_mean`, of the input's shape: each element is shared among all that were averaged.

    >>> print(reduce_mean_grad([1.0, 2.0], (2, 2), (1,), False))
    tf.Tensor(
    [[0.5 0.5]
     [1.  1. ]], shape=(2, 2), dtype=float32)
    """
    return call(_reduce_mean_grad, convert_to_tensor(gradients), shape=shape, axes=axes, keepdims=keepdims)


def _mean_grad_vjp(g: Tensor, shape: Shape, axes: Shape, keepdims: bool) -> Tensor:
    """The mean, but 0 where there are no elements: nothing depends on that gradient."""
    return reduce_mean(g, axes, keepdims) if 0 not in shape else reduce_sum(g, axes, keepdims)


_reduce_mean_grad = define(
    reduce_mean_grad, shape=_spread_shape("reduce_mean_grad"), dtypes=DIFFERENTIABLE, vjp={"gradients": _mean_grad_vjp}
)


def _prod_vjp(g: Tensor, input_tensor: Tensor, axes: Shape) -> Tensor:
    """The product of all other elements, those before times those behind: no division, so zeros do no harm."""
    shape = input_tensor._shape
    kept = reshape(g, reduced_shape(shape, axes, True))
    if not axes:
        return kept
    rest = tuple(axis for axis in range(len(shape)) if axis not in axes)
    order = (*rest, *axes)
    moved = transpose(input_tensor, order)
    rows = reshape(moved, (math.prod(shape[axis] for axis in rest), math.prod(shape[axis] for axis in axes)))
    others = cumprod(rows, 1, exclusive=True) * cumprod(rows, 1, exclusive=True, reverse=True)
    back = tuple(order.index(axis) for axis in range(len(shape)))
    return kept * transpose(reshape(others, moved._shape), back)


@reduction(_prod_vjp)
def reduce_prod(input_tensor: TensorLike, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """Product over axes.

    Returns:
        The products, in the input's dtype; 1 for no elements.

    Raises:
        InvalidArgumentError: an axis is out of range.

    >>> print(reduce_prod([[1, 2], [3, 4]], 1))
    tf.Tensor([ 2 12], shape=(2,), dtype=int32)
    """


def _logsumexp_vjp(g: Tensor, input_tensor: Tensor, out: Tensor, axes: Shape) -> Tensor:
    """The softmax; its sum is divided by because that of large inputs is not exactly 1."""
    kept = reduced_shape(input_tensor._shape, axes, True)
    shares = exp(input_tensor - reshape(out, kept))
    return reshape(g, kept) * (shares / reduce_sum(shares, axes, keepdims=True))


@reduction(_logsumexp_vjp, dtypes=FLOATING)
def reduce_logsumexp(input_tensor: TensorLike, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """Logarithm of the sum of exponentials over axes, without overflow.

    Returns:
        ``log(sum(exp(x)))``; -inf for no elements.

    Raises:
        InvalidArgumentError: an axis is out of range.

    >>> print(reduce_logsumexp([1000.0, 1000.0]))
    tf.Tensor(1000.6932, shape=(), dtype=float32)
    """


@reduction(dtypes=frozenset({bool_}))
def reduce_all(input_tensor: TensorLike, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """Whether all elements along axes are true.

    Returns:
        A bool tensor; True for no elements.

    Raises:
        InvalidArgumentError: an axis is out of range, or the input is not bool.

    >>> print(reduce_all([True, False]))
    tf.Tensor(False, shape=(), dtype=bool)
    """


@reduction(dtypes=frozenset({bool_}))
def reduce_any(input_tensor: TensorLike, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """Whether any element along axes is true.

    Returns:
        A bool tensor; False for no elements.

    Raises:
        InvalidArgumentError: an axis is out of range, or the input is not bool.

    >>> print(reduce_any([True, False]))
    tf.Tensor(True, shape=(), dtype=bool)
    """
