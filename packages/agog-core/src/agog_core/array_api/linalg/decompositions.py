"""Decompositions of matrices, and solvers of linear systems."""

from __future__ import annotations

from typing import NamedTuple

from agog_core.array_api.products import same_batch
from agog_core.array_api.promotion import promoted
from agog_core.ops.array import expand_dims, real, squeeze
from agog_core.ops.linalg import determinant, eigenvalues, factorization, solving, spectra
from agog_core.ops.linalg.matmul import adjoint
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "qr", "slogdet", "solve", "svd", "svdvals"]


class EigResult(NamedTuple):
    """The result of `eig`."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    """The result of `eigh`."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """The result of `qr`."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """The result of `slogdet`."""

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """The result of `svd`."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def cholesky(x: TensorLike, /, *, upper: bool = False) -> Tensor:
    """Triangular matrices L with `L @ adjoint(L) == x`, or their adjoints."""
    lower = factorization.cholesky(x)
    return adjoint(lower) if upper else lower


def qr(x: TensorLike, /, *, mode: str = "reduced") -> QRResult:
    """Orthonormal matrices Q and upper triangular ones R with `Q @ R == x`; of mode "complete", Q is square."""
    return QRResult(*factorization.qr(x, full_matrices=mode == "complete"))


def det(x: TensorLike, /) -> Tensor:
    """Determinants of matrices of shape (..., n, n)."""
    return determinant.matrix_determinant(x)


def slogdet(x: TensorLike, /) -> SlogdetResult:
    """Signs of determinants, and the logarithms of their absolute values, which are real."""
    sign, logarithm = determinant.log_matrix_determinant(x)
    return SlogdetResult(sign, real(logarithm))


def inv(x: TensorLike, /) -> Tensor:
    """Inverses of matrices of shape (..., n, n)."""
    return solving.matrix_inverse(x)


def solve(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Solutions of linear systems, with matrices of shape (..., n, n) and right sides of shape (..., n, k) or (n,)."""
    matrix, right = promoted(x1, x2)
    columns = expand_dims(right, 1) if len(right._shape) == 1 else right
    matrix, columns = same_batch(matrix, columns)
    solved = solving.matrix_solve(matrix, columns)
    return squeeze(solved, -1) if len(right._shape) == 1 else solved


def eig(x: TensorLike, /) -> EigResult:
    """Complex eigenvalues and eigenvectors, as columns, of any square matrices; they have no gradient."""
    return EigResult(*eigenvalues.eig(x))


def eigvals(x: TensorLike, /) -> Tensor:
    """Complex eigenvalues of any square matrices; they have no gradient."""
    return eigenvalues.eigvals(x)


def eigh(x: TensorLike, /) -> EighResult:
    """Real eigenvalues in ascending order and eigenvectors, as columns, of self-adjoint matrices."""
    values, vectors = spectra.self_adjoint_eig(x)
    return EighResult(real(values), vectors)


def eigvalsh(x: TensorLike, /) -> Tensor:
    """Real eigenvalues of self-adjoint matrices in ascending order."""
    return real(spectra.self_adjoint_eigvals(x))


def svd(x: TensorLike, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular value decompositions `x == U @ diag(S) @ Vh`, with the largest singular value first."""
    values, left, right = spectra.svd(x, full_matrices=full_matrices)
    return SVDResult(left, values, adjoint(right))


def svdvals(x: TensorLike, /) -> Tensor:
    """Singular values of matrices of shape (..., m, n), the largest first: real, of shape (..., min(m, n))."""
    return spectra.singular_values(x)
