"""Sparse: dense tensors and sums of sparse ones."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from agog_core.calls.broadcasting import broadcast_to, static_shape
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import concat, reshape
from agog_core.ops.indexing.gathering import gather
from agog_core.ops.indexing.scattering import scatter_nd
from agog_core.ops.reduce.reduction import reduce_sum
from agog_core.tensors import SparseTensor, Tensor, TensorLike, constant
from agog_core.tensors.convert import convert_to_tensor, host_value

__all__ = ["sparse_reduce_sum", "sparse_tensor_to_dense", "sparse_to_dense"]


def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: Any,
    sparse_values: TensorLike,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """Put values into a tensor that is filled with one value; gradients flow into the values.

    Args:
        sparse_indices: integers of shape (n, rank), or (n,) or () for a result of rank 1.
        output_shape: the shape of the result.
        sparse_values: the values, of shape (n,), or one for all.
        default_value: what is everywhere else.
        validate_indices: whether the indices must be sorted, without repetitions.

    Returns:
        A tensor of that shape and the values' dtype.

    Raises:
        InvalidArgumentError: the shapes do not fit, or an index is out of range, out of order or repeated.

    >>> print(sparse_to_dense([1, 3], [5], 7, default_value=-1))
    tf.Tensor([-1  7 -1  7 -1], shape=(5,), dtype=int32)
    """
    shape = static_shape(output_shape)
    indices = np.asarray(host_value(sparse_indices))
    indices = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    values = convert_to_tensor(sparse_values)
    if indices.ndim != 2 or indices.shape[1] != len(shape):
        raise InvalidArgumentError(
            f"sparse_to_dense: indices of shape {indices.shape} do not name positions in a tensor of shape {shape}."
        )
    count = len(indices)
    if values._shape not in ((), (count,)):
        raise InvalidArgumentError(
            f"sparse_to_dense: values of shape {values._shape} do not fit {count} indices; give as many, or one."
        )
    if validate_indices:
        _check_order(indices)
    default = reshape(convert_to_tensor(default_value, values.dtype), (1,))
    # Which value is where: so it works for strings too, and gradients are those of gather.
    places = scatter_nd(constant(indices), constant(np.arange(1, count + 1, dtype=np.int64)), shape)
    return gather(concat([default, broadcast_to(values, (count,))], 0), places)


def _check_order(indices: np.ndarray[Any, Any]) -> None:
    rows = [tuple(row) for row in indices.tolist()]
    for number, (before, row) in enumerate(pairwise(rows), 1):
        if row <= before:
            problem = "is repeated" if row == before else "is out of order"
            raise InvalidArgumentError(
                f"sparse_to_dense: indices[{number}] = {list(row)} {problem}. Many sparse ops require sorted indices "
                "without repetitions; or give validate_indices=False."
            )


def sparse_tensor_to_dense(
    sp_input: SparseTensor, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """Make a dense tensor of a sparse one.

    Args:
        sp_input: a `SparseTensor`.
        default_value: what is where no element is given; None for 0, False or the empty string.
        validate_indices: whether the indices must be sorted, without repetitions.

    Returns:
        A tensor of the sparse tensor's shape and dtype.

    Raises:
        TypeError: the input is not a `SparseTensor`.
        InvalidArgumentError: an index is out of range, out of order or repeated.

    >>> print(sparse_tensor_to_dense(SparseTensor([[0, 1], [1, 0]], [5.0, 6.0], [2, 2])))
    tf.Tensor(
    [[0. 5.]
     [6. 0.]], shape=(2, 2), dtype=float32)
    """
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(
            f"sparse_tensor_to_dense: the input must be a SparseTensor; got {sp_input!r} of type "
            f"{type(sp_input).__name__}."
        )
    if default_value is None:
        default_value = {"string": "", "bool": False}.get(sp_input.dtype.name, 0)
    return sparse_to_dense(
        sp_input.indices, sp_input.dense_shape, sp_input.values, default_value, validate_indices, name
    )


def sparse_reduce_sum(
    sp_input: SparseTensor,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Add up the elements of a sparse tensor.

    Args:
        sp_input: the `SparseTensor`, of numbers.
        axis: the axes; None for all.
        keepdims: whether they stay, with size 1.
        reduction_axes: an older name of ``axis``.
        keep_dims: an older name of ``keepdims``.

    Returns:
        A tensor.

    Raises:
        TypeError: the input is no `SparseTensor`.

    >>> sparse = SparseTensor([[0, 1], [2, 0]], [5.0, 6.0], [3, 2])
    >>> print(sparse_reduce_sum(sparse, 0))
    tf.Tensor([6. 5.], shape=(2,), dtype=float32)
    """
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"sparse_reduce_sum: sp_input must be a SparseTensor; got {type(sp_input).__name__}.")
    axes = axis if reduction_axes is None else reduction_axes
    stay = keepdims if keep_dims is None else keep_dims
    dense = scatter_nd(sp_input.indices, sp_input.values, sp_input.dense_shape.numpy().tolist())
    return reduce_sum(dense, axes, bool(stay))
