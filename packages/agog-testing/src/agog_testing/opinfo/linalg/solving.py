"""Solving: facts about the ops of agog_core.ops.linalg.solving."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.linalg.checks import SOLUTIONS, SOLVABLE, SQUARES, adjoint, distinct, eliminate, square_errors
from agog_testing.opinfo.values import Rng, invalid, rejected, uniform


def _systems(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in SQUARES:
        for columns in (1, 2):
            matrix, rhs = distinct(dtype, rng, shape), uniform(dtype, rng, (*shape[:-1], columns))
            yield Sample(f"shape {shape}, {columns} right", (matrix, rhs))
    yield Sample("no right-hand side", (distinct(dtype, rng, (2, 2)), uniform(dtype, rng, (2, 0))))
    pair = distinct(dtype, rng, (3, 3)), uniform(dtype, rng, (3, 2))
    yield Sample("adjoint", pair, {"adjoint": True})


def _triangular_systems(dtype: str, rng: Rng) -> Iterator[Sample]:
    yield from _systems(dtype, rng)
    for flags in ({"lower": False}, {"lower": False, "adjoint": True}):
        pair = distinct(dtype, rng, (2, 3, 3)), uniform(dtype, rng, (2, 3, 2))
        yield Sample(f"upper, {flags}", pair, flags)


def _solve(matrix: Array, rhs: Array, adjoint: bool = False) -> Array:
    return eliminate(_adjoint(matrix) if adjoint else matrix, rhs)


_adjoint = adjoint


def _triangular_solve(matrix: Array, rhs: Array, lower: bool = True, adjoint: bool = False) -> Array:
    return _solve(np.tril(matrix) if lower else np.triu(matrix), rhs, adjoint)


def _inverses(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in SQUARES:
        yield Sample(f"shape {shape}", (distinct(dtype, rng, shape),))
    yield Sample("adjoint", (distinct(dtype, rng, (3, 3)),), {"adjoint": True})


_SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]], np.float32)
_ZERO = np.array([[1.0, 2.0], [2.0, 0.0]], np.float32)
_RHS = np.ones((2, 1), np.float32)


def _system_errors(op: str) -> tuple[ErrorSample, ...]:
    return (
        invalid(
            (np.ones((2, 3), np.float32), _RHS),
            f"{op}: matrix must be a square matrix or a batch of them; got shape (2, 3).",
        ),
        invalid((np.ones(2, np.float32), _RHS), f"{op}: matrix must be a matrix or a batch of them; got shape (2,)."),
        invalid((_SINGULAR, np.ones(2, np.float32)), f"{op}: rhs must be a matrix or a batch of them; got shape (2,)."),
        invalid(
            (_SINGULAR, np.ones((3, 1), np.float32)),
            f"{op}: matrix and rhs must be of the same batch and have the same number of rows; got shapes (2, 2) and "
            "(3, 1).",
        ),
        invalid(
            (_SINGULAR, np.ones((2, 1))),
            f"{op}: matrix has dtype float32 and rhs has dtype float64 (shapes (2, 2) and (2, 1)), but they must be "
            "of one dtype; cast one of them, such as tf.cast(rhs, tf.float32).",
        ),
        rejected(op, "float16", SOLVABLE, (np.ones((2, 2), np.float16), np.ones((2, 1), np.float16))),
    )


INFOS = (
    OpInfo(
        name="matrix_solve",
        samples=_systems,
        reference=_solve,
        errors=(
            *_system_errors("matrix_solve"),
            invalid((_SINGULAR, _RHS), "matrix_solve: Input matrix is not invertible."),
        ),
        tolerances=SOLUTIONS,
    ),
    OpInfo(
        name="matrix_triangular_solve",
        samples=_triangular_systems,
        reference=_triangular_solve,
        errors=(
            *_system_errors("matrix_triangular_solve"),
            invalid((_ZERO, _RHS), "matrix_triangular_solve: Input matrix is not invertible."),
        ),
        tolerances=SOLUTIONS,
    ),
    OpInfo(
        name="matrix_inverse",
        samples=_inverses,
        reference=lambda x, adjoint=False: _solve(x, np.broadcast_to(np.eye(x.shape[-1]), x.shape), adjoint),
        errors=(
            *square_errors("matrix_inverse"),
            invalid((_SINGULAR,), "matrix_inverse: Input is not invertible."),
        ),
        tolerances=SOLUTIONS,
    ),
)
