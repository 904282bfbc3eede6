"""Determinants."""

from __future__ import annotations

from agog_core.calls.call import call, call_several
from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.op import define
from agog_core.named_tuple import Named
from agog_core.ops.array import conj, expand_dims, real
from agog_core.ops.linalg.checks import SOLVABLE, check_square, square
from agog_core.ops.linalg.diagonal import matrix_diag_part
from agog_core.ops.linalg.factorization import cholesky
from agog_core.ops.linalg.matmul import matrix_transpose
from agog_core.ops.linalg.solving import matrix_inverse
from agog_core.ops.math.elementary import log
from agog_core.ops.reduce.reduction import reduce_sum
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["matrix_determinant"]


def matrix_determinant(input: TensorLike, name: str | None = None) -> Tensor:
    """Determinants of square matrices.

    Args:
        input: a tensor of float32, float64, complex64 or complex128, of shape (..., n, n).

    Returns:
        The determinants, of shape (...).

    Raises:
        InvalidArgumentError: the matrices are not square; in the gradient, one is singular.

    >>> print(matrix_determinant([[2.0, 1.0], [1.0, 3.0]]))
    tf.Tensor(5.0, shape=(), dtype=float32)
    """
    return call(_matrix_determinant, convert_to_tensor(input))


def _scaled_inverse(scale: Tensor, matrix: Tensor) -> Tensor:
    """The derivative of a determinant's logarithm, which is the transposed inverse, times a number for each matrix."""
    return expand_dims(expand_dims(scale, -1), -1) * matrix_inverse(matrix_transpose(matrix))


_matrix_determinant = define(
    matrix_determinant,
    shape=square("matrix_determinant", "input", dropped=2),
    dtypes=SOLVABLE,
    vjp={"input": lambda g, input, out: _scaled_inverse(g * out, input)},
)


class LogMatrixDeterminant(Named):
    """The result of `log_matrix_determinant`."""

    sign: Tensor
    log_abs_determinant: Tensor


@documented_like(matrix_determinant)
def log_matrix_determinant(input: TensorLike, name: str | None = None) -> LogMatrixDeterminant:
    """Signs and logarithms of the absolute values of determinants, which overflow less than determinants.

    Returns:
        The pair ``sign`` (for complex numbers the phase; 0 for singular matrices) and ``log_abs_determinant``, both of
        shape (...) and of the input's dtype.

    >>> print(log_matrix_determinant([[0.0, 1.0], [1.0, 0.0]]).sign)
    tf.Tensor(-1.0, shape=(), dtype=float32)
    """
    return LogMatrixDeterminant(*call_several(_log_matrix_determinant, convert_to_tensor(input)))


def _log_matrix_determinant_shape(input: Shape) -> list[Shape]:
    check_square("log_matrix_determinant", "input", input)
    return [input[:-2], input[:-2]]


def _log_matrix_determinant_vjp(g: list[Tensor | None], input: Tensor, out: tuple[Tensor, Tensor]) -> Tensor:
    """The logarithm takes the real part of the determinant's complex logarithm, and the sign the imaginary part."""
    g_sign, g_log = g
    scale = out[1] * 0 if g_log is None else (g_log + conj(g_log)) * 0.5
    if g_sign is not None and input.dtype.is_complex:
        turning = g_sign * out[0]
        scale = scale + (turning - conj(turning)) * 0.5
    return _scaled_inverse(scale, input)


_log_matrix_determinant = define(
    log_matrix_determinant,
    shape=_log_matrix_determinant_shape,
    dtype=lambda dtype: [dtype, dtype],
    dtypes=SOLVABLE,
    vjp={"input": _log_matrix_determinant_vjp},
)


def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Logarithms of the determinants of positive definite matrices.

    Args:
        matrix: a tensor of float32, float64, complex64 or complex128, of shape (..., n, n).

    Returns:
        The logarithms, of shape (...), of the real dtype that goes with the input's.

    Raises:
        InvalidArgumentError: a matrix is not positive definite, or not square.

    >>> print(logdet([[1.0, 0.0], [0.0, 1.0]]))
    tf.Tensor(0.0, shape=(), dtype=float32)
    """
    return reduce_sum(log(real(matrix_diag_part(cholesky(matrix)))), axis=-1) * 2
