"""Solving: systems of linear equations, and inverses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.deferral import check, deferring
from agog_kernels_xp.parts.scipy import companion, raising

# A failure of LAPACK is a LinAlgError, which is a ValueError; the array libraries differ in where they keep it.
LinAlgError = ValueError


def matrix_solve(xp: Any, matrix: Array, rhs: Array) -> Array:
    """Solution by LU factorization."""
    return _solved(xp, "matrix_solve: Input matrix is not invertible.", xp.linalg.solve, matrix, rhs)


def _solved(xp: Any, failure: str, solver: Callable[..., Array], matrix: Array, *rest: Array) -> Array:
    """What a solver finds. Where one tells failures to those alone who wait, its factors are made twice: the sign of a
    determinant tells them too.
    """
    if xp in deferring:

        def look(is_singular: Any) -> None:
            if is_singular:
                raise InvalidArgumentError(failure)

        check(xp, look, (xp.linalg.slogdet(matrix.swapaxes(-1, -2))[0] == 0).any())
        return solver(matrix, *rest)
    try:
        with raising(xp):
            return solver(matrix, *rest)
    except LinAlgError as error:
        raise InvalidArgumentError(failure) from error


def matrix_triangular_solve(xp: Any, matrix: Array, rhs: Array, *, lower: bool) -> Array:
    """Solution by substitution."""
    check(xp, _look_at_diagonal, (xp.diagonal(matrix, axis1=-2, axis2=-1) != 0).all())
    if not rhs.size:
        return xp.empty(rhs.shape, rhs.dtype)
    solve = companion(xp, "linalg").solve_triangular
    pairs = zip(_flat(matrix), _flat(rhs), strict=True)  # not all versions of SciPy take batches
    return xp.stack([solve(a, b, lower=lower, check_finite=False) for a, b in pairs]).reshape(rhs.shape)


def _look_at_diagonal(is_nonzero: Any) -> None:
    if not is_nonzero:
        raise InvalidArgumentError("matrix_triangular_solve: Input matrix is not invertible.")


def _flat(x: Array) -> Array:
    return x.reshape(-1, *x.shape[-2:])


def matrix_inverse(xp: Any, x: Array) -> Array:
    """Inverse by LU factorization."""
    return _solved(xp, "matrix_inverse: Input is not invertible.", xp.linalg.inv, x)
