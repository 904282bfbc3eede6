"""Sorting: order, the largest elements, and searching in sorted ones. NaN counts as larger than any number."""

from __future__ import annotations

from typing import Any

from agog_core import dtypes
from agog_core.calls.call import call, call_several
from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.op import define
from agog_core.dtypes import FLOATING, ORDERED, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.named_tuple import Named
from agog_core.ops.array import cast, expand_dims, transpose
from agog_core.ops.indexing.take_along import add_along
from agog_core.ops.math.logic import equal, masked
from agog_core.ops.reduce.reduction import reduce_sum
from agog_core.shapes import Shape, normalize_axis
from agog_core.tensors.convert import convert_to_tensor, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["argsort", "searchsorted", "sort"]


def sort(values: TensorLike, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """Sort the elements along an axis.

    Args:
        values: a tensor of numbers, of rank 1 at least.
        axis: the axis.
        direction: ``"ASCENDING"`` or ``"DESCENDING"``.

    Returns:
        A tensor of the same shape and dtype; NaN comes after the numbers, or in descending order before them.

    Raises:
        InvalidArgumentError: the axis is out of range.
        ValueError: the direction is another.

    >>> print(sort([3, 1, 2]), sort([3, 1, 2], direction="DESCENDING"))
    tf.Tensor([1 2 3], shape=(3,), dtype=int32) tf.Tensor([3 2 1], shape=(3,), dtype=int32)
    """
    x = convert_to_tensor(values)
    perm = _last_axis("sort", x, axis)
    descending = _is_descending("sort", direction)
    if perm is None:
        return call(_sort, x, descending=descending)
    return transpose(call(_sort, transpose(x, perm), descending=descending), perm)


def _same(values: Shape, descending: bool) -> Shape:
    return values


def _sort_vjp(g: Tensor, values: Tensor, descending: bool) -> Tensor:
    return add_along(g, call(_argsort, values, descending=descending), values._shape[-1])


_sort = define(sort, shape=_same, dtypes=ORDERED, vjp={"values": _sort_vjp})


@documented_like(sort)
def argsort(
    values: TensorLike, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    """The positions of the elements along an axis, in the order in which sorting puts them.

    Returns:
        An int32 tensor of the same shape. Equal elements stay in their order.

    >>> print(argsort([3, 1, 2, 1]))
    tf.Tensor([1 3 2 0], shape=(4,), dtype=int32)
    """
    x = convert_to_tensor(values)
    perm = _last_axis("argsort", x, axis)
    descending = _is_descending("argsort", direction)
    if perm is None:
        return call(_argsort, x, descending=descending)
    return transpose(call(_argsort, transpose(x, perm), descending=descending), perm)


_argsort = define(argsort, shape=_same, dtype=dtypes.int32, dtypes=ORDERED)


def _last_axis(op: str, x: Tensor, axis: int) -> Shape | None:
    """The exchange of an axis with the last one; None where it is the last one."""
    last = len(x._shape) - 1
    where = normalize_axis(op, axis, last + 1)
    return None if where == last else (*range(where), last, *range(where + 1, last), where)


def _is_descending(op: str, direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{op}: direction is {direction!r}; use 'ASCENDING' or 'DESCENDING'.")
    return direction == "DESCENDING"


class TopK(Named):
    """The result of `top_k`: the largest elements of each row, and where they are."""

    values: Tensor
    indices: Tensor


def top_k(input: TensorLike, k: Any = 1, sorted: bool = True, name: str | None = None) -> TopK:
    """The k largest elements of each row, and where they are.

    Args:
        input: numbers of shape (..., n).
        k: how many, at most n.

    Returns:
        The values in descending order and their positions (int32), of shape (..., k). Of equal elements the first ones
        are taken first.

    Raises:
        InvalidArgumentError: k is negative or larger than n, or the input is a scalar.

    >>> values, indices = top_k([3, 1, 4, 1, 5], 2)
    >>> values.numpy().tolist(), indices.numpy().tolist()
    ([5, 4], [4, 2])
    """
    return TopK(*call_several(_top_k, convert_to_tensor(input), k=int(host_value(k))))


def _top_shape(input: Shape, k: int) -> list[Shape]:
    if not input or not 0 <= k <= input[-1]:
        raise InvalidArgumentError(
            f"top_k: k must be from 0 to the size of the input's last axis; got k={k} for shape {input}."
        )
    return [(*input[:-1], k)] * 2


_top_k = define(
    top_k,
    shape=_top_shape,
    dtype=lambda given, k: [given, dtypes.int32],
    dtypes=ORDERED,
    vjp={"input": lambda g, out, input_shape: add_along(g[0], out[1], input_shape[-1])},
)


def in_top_k(predictions: TensorLike, targets: TensorLike, k: Any, name: str | None = None) -> Tensor:
    """Whether the prediction for each target class is among the k largest.

    Args:
        predictions: floats of shape (batch, classes).
        targets: int32 or int64 of shape (batch,): the classes.
        k: how many predictions count; of those that equal the kth, all do.

    Returns:
        A bool tensor of shape (batch,); False where the target is no class, or a prediction is infinite or NaN.

    Raises:
        InvalidArgumentError: the shapes do not fit.

    >>> print(in_top_k([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], [2, 2], 2))
    tf.Tensor([ True False], shape=(2,), dtype=bool)
    """
    return call(_in_top_k, convert_to_tensor(predictions), convert_to_tensor(targets), k=int(host_value(k)))


def _in_top_shape(predictions: Shape, targets: Shape, k: int) -> Shape:
    if len(predictions) != 2 or targets != predictions[:1]:
        raise InvalidArgumentError(
            "in_top_k: predictions must have shape (batch, classes) and targets shape (batch,); got shapes "
            f"{predictions} and {targets}."
        )
    return targets


_in_top_k = define(in_top_k, shape=_in_top_shape, dtype=dtypes.bool_, dtypes=FLOATING, alike=["predictions"])


def nth_element(input: TensorLike, n: Any, reverse: bool = False, name: str | None = None) -> Tensor:
    """The element of each row that sorting would put at position n.

    Args:
        input: numbers of shape (..., m).
        n: the position, in [0, m).
        reverse: whether to count from the largest element.

    Returns:
        A tensor of shape (...). Elements that are equal to it share the gradient.

    Raises:
        InvalidArgumentError: n is out of range, or the input is a scalar.

    >>> print(nth_element([3, 1, 2], 0))
    tf.Tensor(1, shape=(), dtype=int32)
    """
    x, position = convert_to_tensor(input), int(host_value(n))
    size = x._shape[-1] if x._shape else 0
    if not 0 <= position < size:
        raise InvalidArgumentError(
            f"nth_element: n must be from 0 to {size - 1} for an input of shape {x._shape}; got {position}."
            if size
            else f"nth_element: the input of shape {x._shape} has no elements along a last axis to choose from."
        )
    return call(_nth_element, x, n=size - 1 - position if reverse else position)


def _nth_shape(input: Shape, n: int) -> Shape:
    return input[:-1]


def _nth_vjp(g: Tensor, input: Tensor, out: Tensor) -> Tensor:
    is_chosen = equal(input, expand_dims(out, -1))
    count = reduce_sum(cast(is_chosen, g.dtype), -1, keepdims=True)
    return masked(expand_dims(g, -1) / count, is_chosen)


_nth_element = define(nth_element, shape=_nth_shape, dtypes=ORDERED, vjp={"input": _nth_vjp})


def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Insertion points of values in sorted rows.

    Args:
        sorted_sequence: rows in ascending order, of shape (..., n).
        values: the values for each row, of shape (..., m), with the same leading sizes and dtype.
        side: ``"left"``: before elements that are equal; ``"right"``: after them.
        out_type: int32 or int64.

    Returns:
        Positions from 0 to n, of the shape of the values.

    Raises:
        InvalidArgumentError: the leading sizes or the dtypes differ.
        ValueError: the side is another.

    >>> print(searchsorted([1, 3, 3, 5], [3, 6]), searchsorted([1, 3, 3, 5], [3, 6], side="right"))
    tf.Tensor([1 4], shape=(2,), dtype=int32) tf.Tensor([3 4], shape=(2,), dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is {side!r}; use 'left' or 'right'.")
    sequence = convert_to_tensor(sorted_sequence)
    wanted = convert_to_tensor(values, preferred_dtype=sequence.dtype)
    return call(_searchsorted, sequence, wanted, side=side, dtype=as_dtype(out_type).name)


def _search_shape(sorted_sequence: Shape, values: Shape, side: str, dtype: str) -> Shape:
    if not sorted_sequence or not values or sorted_sequence[:-1] != values[:-1]:
        raise InvalidArgumentError(
            "searchsorted: sorted_sequence and values must have the same sizes but for the last axis; got shapes "
            f"{sorted_sequence} and {values}."
        )
    return values


_searchsorted = define(
    searchsorted, shape=_search_shape, dtype=lambda given, side, dtype: as_dtype(dtype), dtypes=ORDERED
)
