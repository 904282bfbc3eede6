"""Solving: systems of linear equations, and inverses."""

from __future__ import annotations

from agog_core.calls.call import call
from agog_core.calls.docstrings import documented_like
from agog_core.calls.elementwise import operands
from agog_core.dispatch.op import define
from agog_core.errors import InvalidArgumentError
from agog_core.ops.linalg.checks import SOLVABLE, check_matrices, check_square, square
from agog_core.ops.linalg.diagonal import matrix_band_part
from agog_core.ops.linalg.matmul import adjoint as adjoint_of
from agog_core.ops.linalg.matmul import matmul, matrix_transpose
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["matrix_inverse", "matrix_solve", "matrix_triangular_solve"]


def matrix_solve(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solve ``matrix @ x = rhs`` for square matrices.

    Args:
        matrix: a tensor of float32, float64, complex64 or complex128, of shape (..., n, n).
        rhs: a tensor of the same dtype, of shape (..., n, k).
        adjoint: whether the matrices are transposed and conjugated first.

    Returns:
        The solutions, of shape (..., n, k).

    Raises:
        InvalidArgumentError: a matrix is singular, or shapes or dtypes do not fit.

    >>> print(matrix_solve([[2.0, 0.0], [0.0, 4.0]], [[1.0], [1.0]]))
    tf.Tensor(
    [[0.5 ]
     [0.25]], shape=(2, 1), dtype=float32)
    """
    matrix, rhs = operands("matrix_solve", ("matrix", "rhs"), matrix, rhs)
    return call(_matrix_solve, adjoint_of(matrix) if adjoint else matrix, rhs)


def check_rows(op: str, matrix: Shape, rhs: Shape) -> None:
    """Raise where the matrices and the right-hand sides do not fit."""
    check_matrices(op, "rhs", rhs)
    if matrix[:-1] != rhs[:-1]:
        raise InvalidArgumentError(
            f"{op}: matrix and rhs must be of the same batch and have the same number of rows; got shapes {matrix} and "
            f"{rhs}."
        )


def _matrix_solve_shape(matrix: Shape, rhs: Shape) -> Shape:
    check_square("matrix_solve", "matrix", matrix)
    check_rows("matrix_solve", matrix, rhs)
    return rhs


def _matrix_solve_vjp(g: Tensor, matrix: Tensor, out: Tensor, needed: tuple[str, ...]) -> tuple[Tensor | None, Tensor]:
    of_rhs = matrix_solve(matrix_transpose(matrix), g)
    return -matmul(of_rhs, out, transpose_b=True) if "matrix" in needed else None, of_rhs


_matrix_solve = define(
    matrix_solve, shape=_matrix_solve_shape, dtypes=SOLVABLE, vjp={("matrix", "rhs"): _matrix_solve_vjp}, may_fail=True
)


@documented_like(matrix_solve)
def matrix_triangular_solve(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solve ``matrix @ x = rhs`` for triangular matrices by substitution.

    Args:
        matrix: a tensor of float32, float64, complex64 or complex128, of shape (..., n, n). The elements on the other
            side of the diagonal are not read.
        lower: whether the matrices are lower triangular, else upper.

    >>> print(matrix_triangular_solve([[2.0, 0.0], [1.0, 4.0]], [[2.0], [5.0]]))
    tf.Tensor(
    [[1.]
     [1.]], shape=(2, 1), dtype=float32)
    """
    matrix, rhs = operands("matrix_triangular_solve", ("matrix", "rhs"), matrix, rhs)
    if adjoint:
        matrix, lower = adjoint_of(matrix), not lower
    return call(_matrix_triangular_solve, matrix, rhs, lower=bool(lower))


def _matrix_triangular_solve_shape(matrix: Shape, rhs: Shape, lower: bool) -> Shape:
    check_square("matrix_triangular_solve", "matrix", matrix)
    check_rows("matrix_triangular_solve", matrix, rhs)
    return rhs


def _matrix_triangular_solve_vjp(
    g: Tensor, matrix: Tensor, out: Tensor, lower: bool, needed: tuple[str, ...]
) -> tuple[Tensor | None, Tensor]:
    of_rhs = matrix_triangular_solve(matrix_transpose(matrix), g, lower=not lower)
    if "matrix" not in needed:
        return None, of_rhs
    of_matrix = -matmul(of_rhs, out, transpose_b=True)
    return (matrix_band_part(of_matrix, -1, 0) if lower else matrix_band_part(of_matrix, 0, -1)), of_rhs


_matrix_triangular_solve = define(
    matrix_triangular_solve,
    shape=_matrix_triangular_solve_shape,
    dtypes=SOLVABLE,
    vjp={("matrix", "rhs"): _matrix_triangular_solve_vjp},
    may_fail=True,
)


def matrix_inverse(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Invert square matrices.

    Args:
        input: a tensor of float32, float64, complex64 or complex128, of shape (..., n, n).
        adjoint: whether the matrices are transposed and conjugated first.

    Returns:
        The inverses, of the input's shape.

    Raises:
        InvalidArgumentError: a matrix is singular, or not square.

    >>> print(matrix_inverse([[2.0, 0.0], [0.0, 4.0]]))
    tf.Tensor(
    [[0.5  0.  ]
     [0.   0.25]], shape=(2, 2), dtype=float32)
    """
    x = convert_to_tensor(input)
    return call(_matrix_inverse, adjoint_of(x) if adjoint else x)


_matrix_inverse = define(
    matrix_inverse,
    shape=square("matrix_inverse", "input"),
    dtypes=SOLVABLE,
    vjp={"input": lambda g, out: -matmul(matmul(out, g, transpose_a=True), out, transpose_b=True)},
    may_fail=True,
)
