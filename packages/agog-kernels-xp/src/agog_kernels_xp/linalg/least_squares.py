"""Least squares: solutions of linear systems with too many or too few equations."""

from __future__ import annotations

from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.deferral import check


def matrix_solve_ls(xp: Any, matrix: Array, rhs: Array) -> Array:
    """Solution of least norm, by the pseudoinverse; singular values that are but rounding count as zero."""
    smallest = max(matrix.shape[-2:]) * float(xp.finfo(matrix.dtype).eps)
    check(xp, _look, xp.isfinite(matrix).all())  # not every library's solver notices
    try:
        return xp.matmul(xp.linalg.pinv(matrix, smallest), rhs)
    except ValueError as error:
        raise _failure() from error


def _look(is_finite: Any) -> None:
    if not is_finite:
        raise _failure()


def _failure() -> InvalidArgumentError:
    return InvalidArgumentError("matrix_solve_ls: SVD did not converge. The input might not be valid.")
