"""Least squares: solutions of over- and underdetermined linear systems."""

from __future__ import annotations

from typing import Any

from agog_core.calls.call import call
from agog_core.calls.elementwise import operands
from agog_core.dispatch.op import define
from agog_core.ops.array.complex import conj
from agog_core.ops.linalg.checks import SOLVABLE, check_matrices
from agog_core.ops.linalg.diagonal import eye
from agog_core.ops.linalg.factorization import cholesky, cholesky_solve
from agog_core.ops.linalg.matmul import adjoint, matmul
from agog_core.ops.linalg.solving import check_rows
from agog_core.shapes import Shape
from agog_core.tensors.convert import host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["matrix_solve_ls"]


def matrix_solve_ls(
    matrix: TensorLike, rhs: TensorLike, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """Solve ``matrix @ x = rhs`` in the sense of least squares.

    Args:
        matrix: a tensor of float32, float64, complex64 or complex128, of shape (..., m, n).
        rhs: a tensor of the same dtype, of shape (..., m, k).
        l2_regularizer: the weight of the squared norm of ``x``, minimized too if ``fast`` is True.
        fast: whether to solve the normal equations by Cholesky, which needs matrices of full rank that are not badly
            conditioned (or a regularizer). Otherwise the solution of least norm is computed from the singular values.

    Returns:
        The solutions, of shape (..., n, k); where there are many, those of least norm.

    Raises:
        InvalidArgumentError: ``fast`` and a matrix has not full rank, or shapes or dtypes do not fit.

    >>> print(matrix_solve_ls([[1.0], [1.0]], [[1.0], [3.0]]))
    tf.Tensor([[2.]], shape=(1, 1), dtype=float32)
    """
    matrix, rhs = operands("matrix_solve_ls", ("matrix", "rhs"), matrix, rhs)
    if not fast:
        return call(_matrix_solve_ls, matrix, rhs)
    _matrix_solve_ls_shape(matrix._shape, rhs._shape)
    rows, columns = matrix._shape[-2:]
    is_tall = rows >= columns
    gramian = matmul(matrix, matrix, adjoint_a=is_tall, adjoint_b=not is_tall)
    weight = float(host_value(l2_regularizer))
    if weight:
        size = min(rows, columns)
        gramian = gramian + eye(size, dtype=gramian.dtype) * weight
    factor = cholesky(gramian)
    if is_tall:
        return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))
    return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


def _matrix_solve_ls_shape(matrix: Shape, rhs: Shape) -> Shape:
    check_matrices("matrix_solve_ls", "matrix", matrix)
    check_rows("matrix_solve_ls", matrix, rhs)
    return (*matrix[:-2], matrix[-1], rhs[-1])


def _matrix_solve_ls_vjp(
    g: Tensor, matrix: Tensor, rhs: Tensor, out: Tensor, needed: tuple[str, ...]
) -> tuple[Tensor | None, Tensor]:
    """Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems", 1973."""
    a, x = conj(matrix), conj(out)
    a_adjoint = adjoint(a)
    of_rhs = call(_matrix_solve_ls, a_adjoint, g)
    if "matrix" not in needed:
        return None, of_rhs
    residual = conj(rhs) - a @ x
    unseen = g - call(_matrix_solve_ls, a, a @ g)  # what lies in the null space
    of_matrix = (
        matmul(residual, call(_matrix_solve_ls, a, of_rhs), adjoint_b=True)
        - matmul(of_rhs, x, adjoint_b=True)
        + matmul(call(_matrix_solve_ls, a_adjoint, x), unseen, adjoint_b=True)
    )
    return of_matrix, of_rhs


_matrix_solve_ls = define(
    matrix_solve_ls,
    shape=_matrix_solve_ls_shape,
    dtypes=SOLVABLE,
    vjp={("matrix", "rhs"): _matrix_solve_ls_vjp},
    may_fail=True,
)
