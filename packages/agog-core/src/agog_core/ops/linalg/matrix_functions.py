"""Matrix functions: the exponential, the logarithm and the square root of matrices."""

from __future__ import annotations

from collections.abc import Callable

from agog_core.calls.call import call
from agog_core.dispatch.op import Op
from agog_core.dtypes import DType, complex64, complex128
from agog_core.ops.array import concat, zeros_like
from agog_core.ops.linalg.checks import SOLVABLE, square
from agog_core.ops.linalg.matmul import matrix_transpose
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["matrix_square_root"]


def matrix_exponential(input: TensorLike, name: str | None = None) -> Tensor:
    """Exponential of square matrices: the sum of ``input^k / k!``.

    Args:
        input: a tensor of float32, float64, complex64 or complex128, of shape (..., n, n).

    Returns:
        The exponentials, of the input's shape.

    Raises:
        InvalidArgumentError: the matrices are not square.

    The method is that of Higham, "The scaling and squaring method for the matrix exponential revisited", 2005; the
    derivative is that of Mathias, "A chain rule for matrix functions and applications", 1996.

    >>> print(matrix_exponential([[0.0, 1.0], [0.0, 0.0]]))
    tf.Tensor(
    [[1. 1.]
     [0. 1.]], shape=(2, 2), dtype=float32)
    """
    return call(_matrix_exponential, convert_to_tensor(input))


def matrix_logarithm(input: TensorLike, name: str | None = None) -> Tensor:
    """Principal logarithm of invertible square matrices: the inverse of `matrix_exponential`.

    Args:
        input: a tensor of complex64 or complex128, of shape (..., n, n). Cast real matrices first, because their
            logarithms may be complex.

    Returns:
        The logarithms, of the input's shape.

    Raises:
        InvalidArgumentError: the matrices are not square.

    The method is that of Al-Mohy and Higham, "Improved inverse scaling and squaring algorithms for the matrix
    logarithm", 2012.

    >>> import numpy as np
    >>> print(matrix_logarithm(np.eye(1, dtype=np.complex64)))
    tf.Tensor([[0.+0.j]], shape=(1, 1), dtype=complex64)
    """
    return call(_matrix_logarithm, convert_to_tensor(input))


def matrix_square_root(input: TensorLike, name: str | None = None) -> Tensor:
    """Principal square root of invertible square matrices: the one whose eigenvalues have positive real parts.

    Args:
        input: a tensor of float32, float64, complex64 or complex128, of shape (..., n, n), without eigenvalues on the
            negative real axis.

    Returns:
        The roots, of the input's shape: ``matmul(root, root)`` is the input. NaN where there is no principal one.

    Raises:
        InvalidArgumentError: the matrices are not square, or one is not invertible or was found to have no principal
            root.

    The method is the scaled product form of the Denman-Beavers iteration (N. J. Higham, "Functions of Matrices: Theory
    and Computation", 2008, equation 6.29); the derivative is that of Mathias, "A chain rule for matrix functions and
    applications", 1996.

    >>> print(matrix_square_root([[4.0, 4.0], [0.0, 4.0]]))
    tf.Tensor(
    [[2. 1.]
     [0. 2.]], shape=(2, 2), dtype=float32)
    """
    return call(_matrix_square_root, convert_to_tensor(input))


def _block_vjp(function: Callable[[Tensor], Tensor], g: Tensor, x: Tensor) -> Tensor:
    """The derivative of a power series of matrices in a direction is a block of its value at twice the size."""
    size = x._shape[-1]
    transposed = matrix_transpose(x)
    upper, lower = concat([transposed, g], -1), concat([zeros_like(x), transposed], -1)
    return function(concat([upper, lower], -2))[..., :size, size:]


def _op(function: Callable[[TensorLike], Tensor], dtypes: frozenset[DType], *, may_fail: bool = False) -> Op:
    name = function.__name__
    return Op(
        name,
        function,
        inputs=["input"],
        shape=square(name, "input"),
        dtypes=dtypes,
        vjp={"input": lambda g, input: _block_vjp(function, g, input)},
        may_fail=may_fail,
    )


_matrix_exponential = _op(matrix_exponential, SOLVABLE)
_matrix_logarithm = _op(matrix_logarithm, frozenset({complex64, complex128}))
_matrix_square_root = _op(matrix_square_root, SOLVABLE, may_fail=True)
