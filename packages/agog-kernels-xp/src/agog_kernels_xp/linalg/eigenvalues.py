"""Eigenvalues and eigenvectors of square matrices of any kind."""

from __future__ import annotations

from typing import Any, NoReturn

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.parts.deferral import check

Array = Any


def eig(xp: Any, x: Array) -> tuple[Array, Array]:
    """Complex eigenvalues and eigenvectors."""
    _check_finite(xp, "eig", x)
    try:
        values, vectors = xp.linalg.eig(x)
    except ValueError as error:
        _refuse("eig", error)
    return values.astype(_complex(xp, x)), vectors.astype(_complex(xp, x))


def eigvals(xp: Any, x: Array) -> Array:
    """Complex eigenvalues."""
    _check_finite(xp, "eigvals", x)
    try:
        return xp.linalg.eigvals(x).astype(_complex(xp, x))
    except ValueError as error:
        _refuse("eigvals", error)


def _check_finite(xp: Any, op: str, x: Array) -> None:
    """Not every library's solver notices."""

    def look(is_finite: Any) -> None:
        if not is_finite:
            _refuse(op, ValueError("Array must not contain infs or NaNs"))

    check(xp, look, xp.isfinite(x).all())


def _complex(xp: Any, x: Array) -> Any:
    return xp.result_type(x.dtype, xp.complex64)


def _refuse(op: str, error: ValueError) -> NoReturn:
    raise InvalidArgumentError(
        f"{op}: Eigen decomposition was not successful. The input might not be valid: {error}"
    ) from error
