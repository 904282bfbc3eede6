"""Sparse sums: sums of the elements of a sparse tensor."""

from __future__ import annotations

from typing import Any

from agog_core import SparseTensor, Tensor, reduce_sum, scatter_nd

__all__ = ["sparse_reduce_sum"]


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
