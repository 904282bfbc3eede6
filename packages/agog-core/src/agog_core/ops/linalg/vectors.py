"""Vectors: products of matrices and vectors, and vectors divided by their norms."""

from __future__ import annotations

from typing import Any

from agog_core.ops.array.reshaping import expand_dims, squeeze
from agog_core.ops.linalg.matmul import matmul
from agog_core.ops.linalg.norm import norm
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["matvec", "normalize"]


def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Multiply matrices by vectors.

    Args:
        a: matrices, a tensor of shape (..., n, m).
        b: vectors, a tensor of shape (..., m).
        transpose_a: whether to transpose the matrices.
        adjoint_a: whether to transpose and conjugate them.

    Returns:
        A tensor of shape (..., n).

    >>> print(matvec([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]))
    tf.Tensor([3. 7.], shape=(2,), dtype=float32)
    """
    return squeeze(matmul(a, expand_dims(b, -1), transpose_a=transpose_a, adjoint_a=adjoint_a), [-1])


def normalize(
    tensor: TensorLike, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Divide by a norm.

    Args:
        tensor: a tensor of floats.
        ord: the norm, as for `tf.norm`.
        axis: the axis of vectors, or the two axes of matrices; None for all elements as a vector.

    Returns:
        The quotient, and the norm with axes of size 1.

    >>> quotient, length = normalize([3.0, 4.0])
    >>> print(quotient, length)
    tf.Tensor([0.6 0.8], shape=(2,), dtype=float32) tf.Tensor([5.], shape=(1,), dtype=float32)
    """
    x = convert_to_tensor(tensor)
    length = norm(x, ord=ord, axis=axis, keepdims=True)
    return x / length, length
