"""Matrices: functions of ``tf.keras.ops`` that factorize and solve, with Keras's arguments and orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike
from agog_core.ops.linalg.matmul import adjoint
from agog_keras.ops.dtypes import alike, floats

__all__ = ["qr", "solve", "solve_triangular", "svd"]


def svd(x: TensorLike, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Factorize matrices into ``u @ diag(s) @ vh``.

    Args:
        x: matrices, of shape (..., n, m).
        full_matrices: whether ``u`` and ``vh`` are square.
        compute_uv: whether to return these too.

    Returns:
        ``(u, s, vh)``, where TensorFlow has ``(s, u, v)``; ``s`` alone without ``compute_uv``.

    >>> [part.shape.as_list() for part in svd([[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]])]
    [[2, 2], [2], [3, 3]]
    """
    if not compute_uv:
        return ag.svd(floats(x), compute_uv=False)
    values, left, right = ag.svd(floats(x), full_matrices=full_matrices)
    return left, values, adjoint(right)


def qr(x: TensorLike, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Factorize matrices into an orthogonal and an upper triangular one.

    Args:
        x: matrices, of shape (..., n, m).
        mode: ``"reduced"``, or ``"complete"`` for a square first one.

    Returns:
        Both.

    Raises:
        ValueError: the mode is another.

    >>> [part.shape.as_list() for part in qr([[3.0], [4.0]], "complete")]
    [[2, 2], [2, 1]]
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode must be 'reduced' or 'complete'; got {mode!r}.")
    q, r = ag.qr(floats(x), full_matrices=mode == "complete")
    return q, r


def solve(a: TensorLike, b: TensorLike) -> Tensor:
    """Solve ``a @ x = b``.

    Args:
        a: a square matrix.
        b: the right side, a matrix or a vector.

    Returns:
        ``x``, of the shape of ``b``.

    >>> solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0]).numpy().tolist()
    [1.0, 0.5]
    """
    return _solved(ag.matrix_solve, a, b)


def solve_triangular(a: TensorLike, b: TensorLike, lower: bool = False) -> Tensor:
    """Solve ``a @ x = b`` for a triangular matrix.

    Args:
        a: the matrix.
        b: the right side, a matrix or a vector.
        lower: whether the matrix has its numbers below the diagonal.

    Returns:
        ``x``, of the shape of ``b``.

    >>> solve_triangular([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0]).numpy().tolist()
    [1.0, 0.5]
    """
    return _solved(ag.matrix_triangular_solve, a, b, lower=lower)


def _solved(function: Callable[..., Tensor], a: TensorLike, b: TensorLike, **options: Any) -> Tensor:
    """What a solver of matrices makes of a matrix or a vector; half precision in float32."""
    matrix, right = alike(a, b, least=float)
    kind = matrix.dtype
    if kind.name in ("float16", "bfloat16"):
        matrix, right = ag.cast(matrix, "float32"), ag.cast(right, "float32")
    if right.ndim == matrix.ndim:
        return ag.cast(function(matrix, right, **options), kind)
    return ag.cast(ag.squeeze(function(matrix, ag.expand_dims(right, -1), **options), [-1]), kind)
