"""Factorization of matrices: Cholesky and QR."""

from __future__ import annotations

from agog_core.calls.call import call, call_several
from agog_core.calls.elementwise import operands
from agog_core.dispatch.op import define
from agog_core.named_tuple import Named
from agog_core.ops.array import concat, conj, zeros_like
from agog_core.ops.linalg.checks import SOLVABLE, check_matrices, lower_half, square
from agog_core.ops.linalg.matmul import adjoint, matmul
from agog_core.ops.linalg.solving import matrix_triangular_solve
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["cholesky", "cholesky_solve", "qr"]


def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """Factorize positive definite matrices into ``l @ adjoint(l)`` with ``l`` lower triangular.

    The gradient is that with respect to a matrix whose triangles change together.

    Args:
        input: a tensor of float32, float64, complex64 or complex128, of shape (..., n, n). Only the lower triangles are
            read.

    Returns:
        The lower triangular factors, of the input's shape.

    Raises:
        InvalidArgumentError: a matrix is not positive definite, or not square.

    The derivative is that of Murray, "Differentiation of the Cholesky decomposition", 2016.

    >>> print(cholesky([[4.0, 2.0], [2.0, 2.0]]))
    tf.Tensor(
    [[2. 0.]
     [1. 1.]], shape=(2, 2), dtype=float32)
    """
    return call(_cholesky, convert_to_tensor(input))


def _cholesky_vjp(g: Tensor, out: Tensor) -> Tensor:
    factor = conj(out)
    middle = lower_half(matmul(factor, g, adjoint_a=True))
    left = matrix_triangular_solve(factor, middle, adjoint=True)
    one_sided = adjoint(matrix_triangular_solve(factor, adjoint(left), adjoint=True))
    return (one_sided + adjoint(one_sided)) * 0.5


_cholesky = define(
    cholesky, shape=square("cholesky", "input"), dtypes=SOLVABLE, vjp={"input": _cholesky_vjp}, may_fail=True
)


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """Solve ``a @ x = rhs`` where the Cholesky factor of ``a`` is given.

    Args:
        chol: what `cholesky` returns for ``a``: a tensor of shape (..., n, n) of which the lower triangles are read.
        rhs: a tensor of the same dtype, of shape (..., n, k).

    Returns:
        The solutions, of shape (..., n, k).

    Raises:
        InvalidArgumentError: a matrix is singular, or shapes or dtypes do not fit.

    >>> print(cholesky_solve([[2.0, 0.0], [0.0, 1.0]], [[4.0], [3.0]]))
    tf.Tensor(
    [[1.]
     [3.]], shape=(2, 1), dtype=float32)
    """
    chol, rhs = operands("cholesky_solve", ("chol", "rhs"), chol, rhs)
    return matrix_triangular_solve(chol, matrix_triangular_solve(chol, rhs), adjoint=True)


class Qr(Named):
    """The result of `qr`."""

    q: Tensor
    r: Tensor


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Factorize matrices into ``q @ r`` with orthonormal columns of ``q`` and upper triangular ``r``.

    Where there are more rows than columns and ``full_matrices`` is set, any orthonormal basis may complete ``q``; the
    gradient is right for what does not depend on that choice.

    Args:
        input: a tensor of float32, float64, complex64 or complex128, of shape (..., m, n).
        full_matrices: whether ``q`` is square.

    Returns:
        The pair ``q`` of shape (..., m, k) and ``r`` of shape (..., k, n), where k is m for ``full_matrices``, else
        the smaller one of m and n.

    Raises:
        InvalidArgumentError: the rank is below 2.

    The derivative is that of Walter, Lehmann and Lamour, "On evaluating higher-order derivatives of the QR
    decomposition of tall matrices with full column rank in forward and reverse mode algorithmic differentiation", 2012.

    >>> q, r = qr([[3.0], [4.0]])
    >>> print(matmul(q, r))
    tf.Tensor(
    [[3.]
     [4.]], shape=(2, 1), dtype=float32)
    """
    return Qr(*call_several(_qr, convert_to_tensor(input), full_matrices=bool(full_matrices)))


def _qr_shape(input: Shape, full_matrices: bool) -> list[Shape]:
    check_matrices("qr", "input", input)
    *batch, rows, columns = input
    inner = rows if full_matrices else min(rows, columns)
    return [(*batch, rows, inner), (*batch, inner, columns)]


def _qr_vjp(g: list[Tensor | None], out: tuple[Tensor, Tensor]) -> Tensor:
    q, r = (conj(x) for x in out)
    g_q, g_r = (zeros_like(x) if gradient is None else gradient for x, gradient in zip(out, g, strict=True))
    rows, columns = q._shape[-2], r._shape[-1]
    if rows < columns:
        first, rest = r[..., :rows], r[..., rows:]
        g_q = g_q + matmul(q @ rest, g_r[..., rows:], adjoint_b=True)
        return concat([_tall_qr_vjp(q, first, g_q, g_r[..., :rows]), q @ g_r[..., rows:]], -1)
    if rows == columns or q._shape[-1] == columns:
        return _tall_qr_vjp(q, r, g_q, g_r)
    basis, completion = q[..., :columns], q[..., columns:]
    g_basis = g_q[..., :columns] - completion @ matmul(g_q[..., columns:], basis, adjoint_a=True)
    return _tall_qr_vjp(basis, r[..., :columns, :], g_basis, g_r[..., :columns, :])


def _tall_qr_vjp(q: Tensor, r: Tensor, g_q: Tensor, g_r: Tensor) -> Tensor:
    lower = lower_half(matmul(r, g_r, adjoint_b=True) - matmul(g_q, q, adjoint_a=True))
    hermitian = lower + adjoint(lower)
    return adjoint(matrix_triangular_solve(r, adjoint(g_q + q @ hermitian), lower=False))


_qr = define(qr, shape=_qr_shape, dtypes=SOLVABLE, vjp={"input": _qr_vjp})
