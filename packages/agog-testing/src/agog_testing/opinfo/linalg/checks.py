"""Checks: matrices and errors for samples of linear algebra, and shared parts of references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import agog_core as ag
from agog_testing.opinfo.info import Array, ErrorSample
from agog_testing.opinfo.values import Rng, invalid, rejected, uniform

SOLVABLE = "complex128, complex64, float32, float64"
"""The dtypes for which matrices are factorized and systems solved, as errors name them."""

SQUARES = ((1, 1), (2, 2), (3, 3), (2, 3, 3), (2, 1, 2, 2), (9, 9), (0, 0), (0, 2, 2), (2, 0, 0))
"""Shapes of square matrices: of one element, batches, longer than any vector register by a rest, and empty."""

RECTANGLES = ((1, 1), (3, 3), (4, 2), (2, 4), (2, 3, 2), (2, 2, 3), (9, 8), (0, 2), (2, 0), (0, 2, 3))
"""Shapes of tall, wide and empty matrices."""

SOLUTIONS = {
    "float32": (2e-5, 2e-5),
    "float64": (1e-12, 1e-12),
    "complex64": (2e-5, 2e-5),
    "complex128": (1e-12, 1e-12),
}
"""(rtol, atol) of what is computed with some dozens of roundings, from well-conditioned matrices."""


def distinct(dtype: str, rng: Rng, shape: tuple[int, ...]) -> Array:
    """Random matrices whose singular values, and the eigenvalues of their hermitian part, lie apart: 2, 4, 6 and so on,
    on the main diagonals, and a little of everything everywhere.
    """
    rows, columns = shape[-2:]
    scale = 0.5 / max(rows, columns, 1)
    noise = uniform(dtype, rng, shape, -scale, scale)
    return (noise + 2 * np.eye(rows, columns) * np.arange(1, columns + 1)).astype(noise.dtype)


def hermitian(dtype: str, rng: Rng, shape: tuple[int, ...]) -> Array:
    """Random positive definite matrices whose eigenvalues lie apart."""
    values = distinct(dtype, rng, shape)
    return np.asarray((values + np.conj(np.swapaxes(values, -1, -2))) / 2).astype(values.dtype)


def as_hermitian(x: ag.Tensor) -> ag.Tensor:
    """The part of square matrices that is its own adjoint; other tensors as they are, for the op to reject."""
    if len(x.shape) < 2 or x.shape[-1] != x.shape[-2]:
        return x
    return (x + ag.matrix_transpose(x, conjugate=True)) / 2


def adjoint(x: Array) -> Array:
    """The transposed and conjugated matrices."""
    return np.asarray(np.conj(np.swapaxes(x, -1, -2)))


def eliminate(matrix: Array, rhs: Array) -> Array:
    """Solve ``matrix @ x = rhs`` by Gauss-Jordan elimination with pivoting."""
    out = np.array(rhs, np.result_type(matrix, rhs))
    for index in np.ndindex(*matrix.shape[:-2]):
        a, b = np.array(matrix[index]), out[index]
        for column in range(len(a)):
            pivot = column + int(np.argmax(np.abs(a[column:, column])))
            a[[column, pivot]], b[[column, pivot]] = a[[pivot, column]], b[[pivot, column]]
            a[column], b[column] = a[column] / a[column, column], b[column] / a[column, column]
            for row in range(len(a)):
                if row != column:
                    a[row], b[row] = a[row] - a[row, column] * a[column], b[row] - a[row, column] * b[column]
    return out


def orthonormal(x: Array) -> tuple[Array, Array]:
    """Orthonormalize columns of full rank by Gram-Schmidt, twice over: those columns, and the upper triangular matrices
    with a positive diagonal that give back ``x``.
    """
    q = np.array(x)
    r = np.zeros((*x.shape[:-2], x.shape[-1], x.shape[-1]), x.dtype)
    for column in range(x.shape[-1]):
        vector = np.array(q[..., column])
        for before in (*range(column), *range(column)):
            overlap = (np.conj(q[..., before]) * vector).sum(-1)
            r[..., before, column] += overlap
            vector = vector - overlap[..., None] * q[..., before]
        length = np.sqrt((np.abs(vector) ** 2).sum(-1))
        r[..., column, column] = length
        q[..., column] = vector / length[..., None]
    return q, r


def square_errors(
    op: str, name: str = "input", dtype: str = "float32", allowed: str = SOLVABLE
) -> tuple[ErrorSample, ...]:
    """The errors of an op of square matrices."""
    text = f"{op}: {name} must be a square matrix or a batch of them; got shape (2, 3)."
    return (
        invalid((np.ones((2, 3), dtype),), text, dtype),
        *matrix_errors(op, name, dtype, allowed),
    )


def matrix_errors(
    op: str, name: str = "input", dtype: str = "float32", allowed: str = SOLVABLE
) -> tuple[ErrorSample, ...]:
    """The errors of an op of matrices."""
    text = f"{op}: {name} must be a matrix or a batch of them; got shape (3,)."
    return (
        invalid((np.ones(3, dtype),), text, dtype),
        rejected(op, "float16", allowed, (np.ones((2, 2), np.float16),), dtype),
    )


def each(function: Callable[[Array], Any], x: Array, shape: tuple[int, ...]) -> Array:
    """Apply a function, whose results have the given shape, to each matrix of a batch."""
    out = np.empty((*x.shape[:-2], *shape), x.dtype)
    for index in np.ndindex(*x.shape[:-2]):
        out[index] = function(x[index])
    return out
