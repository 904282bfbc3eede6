"""Factorization of matrices: Cholesky and QR."""

from __future__ import annotations

from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.scipy import raising


def cholesky(xp: Any, x: Array) -> Array:
    """Lower triangular factor."""
    try:
        with raising(xp):
            return xp.linalg.cholesky(x)
    except ValueError as error:
        raise InvalidArgumentError(
            "cholesky: Cholesky decomposition was not successful. The input might not be valid."
        ) from error


def qr(xp: Any, x: Array, *, full_matrices: bool) -> tuple[Array, Array]:
    """Orthonormal columns and upper triangular factor."""
    q, r = xp.linalg.qr(x, mode="complete" if full_matrices else "reduced")
    return q, r
