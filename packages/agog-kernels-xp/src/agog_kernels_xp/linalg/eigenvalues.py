"""Eigenvalues and eigenvectors of square matrices of any kind."""

from __future__ import annotations

from typing import Any, NoReturn

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.deferral import check, deferring


def eig(xp: Any, x: Array) -> tuple[Array, Array]:
    """Complex eigenvalues and eigenvectors."""
    try:
        values, vectors = xp.linalg.eig(_finite(xp, "eig", x))
    except ValueError as error:
        _refuse("eig", error)
    return values.astype(_complex(xp, x)), vectors.astype(_complex(xp, x))


def eigvals(xp: Any, x: Array) -> Array:
    """Complex eigenvalues."""
    try:
        return xp.linalg.eigvals(_finite(xp, "eigvals", x)).astype(_complex(xp, x))
    except ValueError as error:
        _refuse("eigvals", error)


def _finite(xp: Any, op: str, x: Array) -> Array:
    """The matrices, once they are known to be finite; zeros for what is not where that is known later.

    Not every library's solver notices; some end in an error of their own.
    """

    def look(is_finite: Any) -> None:
        if not is_finite:
            _refuse(op, ValueError("Array must not contain infs or NaNs"))

    is_finite = xp.isfinite(x)
    check(xp, look, is_finite.all())
    return xp.where(is_finite, x, x.dtype.type(0)) if xp in deferring else x


def _complex(xp: Any, x: Array) -> Any:
    return xp.result_type(x.dtype, xp.complex64)


def _refuse(op: str, error: ValueError) -> NoReturn:
    raise InvalidArgumentError(
        f"{op}: Eigen decomposition was not successful. The input might not be valid: {error}"
    ) from error
