"""Matrices: products with vectors, norms taken off, and pseudoinverses."""

from __future__ import annotations

from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_core.ops.linalg.matmul import adjoint

__all__ = ["matvec", "normalize", "pinv"]

# The distance from 1 to the next number of a dtype.
_SPACING = {"float32": 2.0**-23, "float64": 2.0**-52, "complex64": 2.0**-23, "complex128": 2.0**-52}


def matvec(
    a: ag.TensorLike,
    b: ag.TensorLike,
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
    return ag.squeeze(ag.matmul(a, ag.expand_dims(b, -1), transpose_a=transpose_a, adjoint_a=adjoint_a), [-1])


def normalize(
    tensor: ag.TensorLike, ord: Any = "euclidean", axis: Any = None, name: str | None = None
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
    x = ag.convert_to_tensor(tensor)
    length = ag.norm(x, ord=ord, axis=axis, keepdims=True)
    return x / length, length


def pinv(a: ag.TensorLike, rcond: float | None = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The Moore-Penrose pseudoinverses of matrices, by their singular values.

    G. Strang, "Linear algebra and its applications", 1980, section 7.2.

    Args:
        a: matrices of floats, a tensor of shape (..., n, m).
        rcond: which share of the largest singular value counts as 0; None for 10 times the larger size, times the
            spacing of the dtype's numbers at 1.

    Returns:
        A tensor of shape (..., m, n).

    >>> print(pinv([[2.0, 0.0], [0.0, 0.0]]))
    tf.Tensor(
    [[0.5 0. ]
     [0.  0. ]], shape=(2, 2), dtype=float32)
    """
    x = ag.convert_to_tensor(a)
    share = 10 * max(x._shape[-2:]) * _SPACING[x.dtype.name] if rcond is None else rcond
    values, left, right = ag.svd(x, full_matrices=False)
    counts = values > ag.reduce_max(values, -1, keepdims=True) * share
    inverses = ag.where(counts, 1.0 / ag.where(counts, values, values * 0 + 1), ag.zeros_like(values))
    return (right * ag.expand_dims(inverses, -2)) @ adjoint(left)
