"""Tensor scatter: tensors with some elements or slices changed by number. The given tensors stay as they are."""

from __future__ import annotations

from agog_core.calls.call import call
from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.op import define
from agog_core.ops.array.creation import zeros_like
from agog_core.ops.indexing.gathering import gather_nd, index_tensor
from agog_core.ops.indexing.scattering import check_updates, scatter_nd
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["tensor_scatter_add", "tensor_scatter_sub", "tensor_scatter_update"]


def tensor_scatter_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """A tensor with some elements or slices replaced.

    Args:
        tensor: a tensor of any dtype.
        indices: positions of shape ``(..., depth)``, int32 or int64: each row names one position on each of the first
            ``depth`` axes. Which update is kept where several meet is not determined.
        updates: values of shape ``indices.shape[:-1] + tensor.shape[depth:]``.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: a position is out of range, or shapes or dtypes do not fit.

    >>> print(tensor_scatter_update([1, 2, 3], [[2], [0]], [30, 10]))
    tf.Tensor([10  2 30], shape=(3,), dtype=int32)
    """
    x = convert_to_tensor(tensor)
    at = index_tensor("tensor_scatter_update", "indices", indices)
    return call(_tensor_scatter_update, x, at, convert_to_tensor(updates, x.dtype))


def _tensor_scatter_update_shape(tensor: Shape, indices: Shape, updates: Shape) -> Shape:
    check_updates("tensor_scatter_update", indices, updates, tensor, "a tensor of shape")
    return tensor


_tensor_scatter_update = define(
    tensor_scatter_update,
    shape=_tensor_scatter_update_shape,
    alike=["tensor", "updates"],
    vjp={
        "tensor": lambda g, indices: tensor_scatter_update(g, indices, zeros_like(gather_nd(g, indices))),
        "updates": lambda g, indices: gather_nd(g, indices),
    },
    may_fail=True,
)


@documented_like(tensor_scatter_update)
def tensor_scatter_add(tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Tensor:
    """A tensor with updates added to some elements or slices; updates that meet at one position are all added.

    Args:
        tensor: a tensor of numbers.
        indices: positions of shape ``(..., depth)``, int32 or int64.
        updates: numbers of shape ``indices.shape[:-1] + tensor.shape[depth:]``.

    >>> print(tensor_scatter_add([1, 2, 3], [[2], [0], [2]], [10, 20, 30]))
    tf.Tensor([21  2 43], shape=(3,), dtype=int32)
    """
    x = convert_to_tensor(tensor)
    return x + scatter_nd(indices, convert_to_tensor(updates, x.dtype), x._shape)


@documented_like(tensor_scatter_add)
def tensor_scatter_sub(tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Tensor:
    """A tensor with updates subtracted from some elements or slices.

    >>> print(tensor_scatter_sub([1, 2, 3], [[2], [0], [2]], [10, 20, 30]))
    tf.Tensor([-19   2 -37], shape=(3,), dtype=int32)
    """
    x = convert_to_tensor(tensor)
    return x - scatter_nd(indices, convert_to_tensor(updates, x.dtype), x._shape)
