"""Spectra: eigenvalues and singular values.

LAPACK may fail for NaN and infinities, or return NaN, or even numbers: all of it counts as a failure here.
"""

from __future__ import annotations

from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.deferral import check

_EIGEN = "Self-adjoint eigen decomposition was not successful."
_SVD = "SVD did not converge."


def self_adjoint_eig(xp: Any, x: Array) -> tuple[Array, Array]:
    """Eigenvalues, in the input's dtype, and eigenvectors."""
    _check_finite(xp, "self_adjoint_eig", _EIGEN, xp.tril(x))
    try:
        eigenvalues, eigenvectors = xp.linalg.eigh(x)
    except ValueError as error:
        raise _failure("self_adjoint_eig", _EIGEN) from error
    return eigenvalues.astype(x.dtype, copy=False), eigenvectors


def self_adjoint_eigvals(xp: Any, x: Array) -> Array:
    """Eigenvalues, in the input's dtype."""
    _check_finite(xp, "self_adjoint_eigvals", _EIGEN, xp.tril(x))
    try:
        return xp.linalg.eigvalsh(x).astype(x.dtype, copy=False)
    except ValueError as error:
        raise _failure("self_adjoint_eigvals", _EIGEN) from error


def svd(xp: Any, x: Array, *, full_matrices: bool) -> tuple[Array, Array, Array]:
    """Singular values, left and right singular vectors."""
    _check_finite(xp, "svd", _SVD, x)
    try:
        u, s, adjoint_v = xp.linalg.svd(x, full_matrices=full_matrices)
    except ValueError as error:
        raise _failure("svd", _SVD) from error
    return s, u, xp.conjugate(adjoint_v.swapaxes(-1, -2))


def singular_values(xp: Any, x: Array) -> Array:
    """Singular values."""
    _check_finite(xp, "singular_values", _SVD, x)
    try:
        return xp.linalg.svd(x, compute_uv=False)
    except ValueError as error:
        raise _failure("singular_values", _SVD) from error


def _check_finite(xp: Any, op: str, what: str, x: Array) -> None:
    def look(is_finite: Any) -> None:
        if not is_finite:
            raise _failure(op, what)

    check(xp, look, xp.isfinite(x).all())


def _failure(op: str, what: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{op}: {what} The input might not be valid.")
