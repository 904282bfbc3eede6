"""Gathering: picking parts of tensors by number."""

from __future__ import annotations

import builtins
import math
from typing import Any

from agog_core import dtypes
from agog_core.calls.broadcasting import broadcast_to
from agog_core.calls.call import call
from agog_core.dispatch.op import define
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import range, reshape, stack, transpose
from agog_core.shapes import Shape, normalize_axis
from agog_core.tensors import IndexedSlices, Tensor, TensorLike
from agog_core.tensors.convert import at_each_run, convert_to_tensor, host_value

__all__ = ["batch_gather", "gather", "gather_nd", "sparse_mask"]

_INDICES = (dtypes.int32, dtypes.int64)


def index_tensor(op: str, name: str, value: TensorLike) -> Tensor:
    """Convert an argument of positions to a tensor of int32 or int64; the op's and the argument's names are for the
    error.

    >>> index_tensor("gather", "indices", [0, 1]).dtype
    tf.int32
    """
    # An empty list would be one of floats.
    tensor = convert_to_tensor(value, preferred_dtype=None if hasattr(value, "dtype") else dtypes.int32)
    if tensor.dtype not in _INDICES:
        raise InvalidArgumentError(
            f"{op}: {name} must be int32 or int64; got dtype {tensor.dtype.name} and shape {tensor._shape}. Cast it "
            "with tf.cast."
        )
    return tensor


def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: Any = 0,
) -> Tensor:
    """Pick slices of a tensor along an axis.

    Args:
        params: a tensor of rank at least 1.
        indices: positions on the axis, int32 or int64, of any shape.
        axis: the axis.

    Returns:
        A tensor of shape ``params.shape[:axis] + indices.shape + params.shape[axis + 1:]``. On axis 0 its gradient
        with respect to ``params`` is `IndexedSlices`.

    Raises:
        InvalidArgumentError: an index or the axis is out of range, or the indices are of another dtype.

    >>> print(gather([10, 20, 30], [2, 0]))
    tf.Tensor([30 10], shape=(2,), dtype=int32)
    """
    x = convert_to_tensor(params)
    axis = axis if axis.__class__ is int else int(convert_to_tensor(axis))
    return call(
        _gather, x, index_tensor("gather", "indices", indices), axis=normalize_axis("gather", axis, len(x._shape))
    )


def _gather_vjp(g: Tensor, indices: Tensor, params_shape: Shape, axis: int) -> Tensor | IndexedSlices:
    from agog_core.ops.indexing.segments import unsorted_segment_sum  # here, because the two are each other's transpose

    if axis == 0:
        count = math.prod(indices._shape)
        return IndexedSlices(reshape(g, (count, *params_shape[1:])), reshape(indices, (count,)), params_shape)
    rank, end = len(params_shape), axis + len(indices._shape)
    picked, before, after = (builtins.range(*ends) for ends in ((axis, end), (axis,), (end, len(g._shape))))
    sums = unsorted_segment_sum(transpose(g, (*picked, *before, *after)), indices, params_shape[axis])
    return transpose(sums, (*builtins.range(1, axis + 1), 0, *builtins.range(axis + 1, rank)))


_gather = define(
    gather,
    shape=lambda params, indices, axis: (*params[:axis], *indices, *params[axis + 1 :]),
    alike=["params"],
    vjp={"params": _gather_vjp},
    sparse=True,
    may_fail=True,
)


def gather_nd(params: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """Pick elements or slices of a tensor at positions along its first axes.

    Args:
        params: a tensor.
        indices: positions of shape ``(..., depth)``, int32 or int64: each row names one position on each of the first
            ``depth`` axes.

    Returns:
        A tensor of shape ``indices.shape[:-1] + params.shape[depth:]``.

    Raises:
        InvalidArgumentError: a position is out of range, or there are more positions in a row than axes.

    >>> print(gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]))
    tf.Tensor([2 3], shape=(2,), dtype=int32)
    """
    return call(_gather_nd, convert_to_tensor(params), index_tensor("gather_nd", "indices", indices))


def _gather_nd_shape(params: Shape, indices: Shape) -> Shape:
    if not indices or indices[-1] > len(params):
        raise InvalidArgumentError(
            f"gather_nd: indices of shape {indices} do not index params of shape {params}; the last axis of indices "
            f"must be there, and of a size up to {len(params)}."
        )
    return (*indices[:-1], *params[indices[-1] :])


def _gather_nd_vjp(g: Tensor, indices: Tensor, params_shape: Shape) -> Tensor:
    from agog_core.ops.indexing.scattering import scatter_nd  # here, because the two are each other's transpose

    return scatter_nd(indices, g, params_shape)


_gather_nd = define(gather_nd, shape=_gather_nd_shape, alike=["params"], vjp={"params": _gather_nd_vjp}, may_fail=True)


def batch_gather(params: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """Pick slices of each tensor of a batch; every one has indices of its own.

    Args:
        params: a tensor of shape ``(batch..., size, ...)``.
        indices: positions of shape ``(batch..., n)``, int32 or int64.

    Returns:
        A tensor of shape ``(batch..., n, ...)``.

    Raises:
        InvalidArgumentError: an index is out of range, or the batch shapes differ.

    >>> print(batch_gather([[1, 2], [3, 4]], [[1], [0]]))
    tf.Tensor(
    [[2]
     [3]], shape=(2, 1), dtype=int32)
    """
    x, at = convert_to_tensor(params), index_tensor("batch_gather", "indices", indices)
    batch = at._shape[:-1]
    if not at._shape or len(x._shape) < len(at._shape) or x._shape[: len(batch)] != batch:
        raise InvalidArgumentError(
            f"batch_gather: indices of shape {at._shape} need params of shape {(*batch, '...')}, with one more axis at "
            f"least; got shape {x._shape}."
        )
    count, rows = math.prod(batch), at._shape[-1]
    numbers = broadcast_to(reshape(range(count, dtype=at.dtype), (count, 1)), (count, rows))
    pairs = stack([numbers, reshape(at, (count, rows))], axis=2)
    picked = gather_nd(reshape(x, (count, *x._shape[len(batch) :])), pairs)
    return reshape(picked, (*at._shape, *x._shape[len(at._shape) :]))


def sparse_mask(a: IndexedSlices, mask_indices: TensorLike, name: str | None = None) -> IndexedSlices:
    """Leave out rows.

    Args:
        a: some rows.
        mask_indices: the positions of those to leave out, integers.

    Returns:
        The others.

    >>> sparse_mask(IndexedSlices([[1.0], [2.0], [3.0]], [4, 0, 7], (9, 1)), [0, 5]).indices.numpy().tolist()
    [4, 7]
    """

    def kept(mask: TensorLike, indices: Tensor) -> Tensor:
        leave_out = set(host_value(mask).reshape(-1).tolist())
        rows = [place for place, row in enumerate(indices._host().tolist()) if row not in leave_out]
        return index_tensor("sparse_mask", "mask_indices", rows)

    rows = at_each_run(kept, mask_indices, a.indices)
    return IndexedSlices(gather(a.values, rows), gather(a.indices, rows), a._shape)
