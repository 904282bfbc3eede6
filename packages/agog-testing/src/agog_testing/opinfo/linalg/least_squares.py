"""Least squares: facts about the op of agog_core.ops.linalg.least_squares."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from agog_core.ops.linalg.least_squares import matrix_solve_ls
from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.linalg.checks import RECTANGLES, SOLUTIONS, SOLVABLE, adjoint, distinct, eliminate
from agog_testing.opinfo.values import Rng, constant, invalid, rejected, uniform


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in RECTANGLES:
        matrix, rhs = distinct(dtype, rng, shape), uniform(dtype, rng, (*shape[:-1], 2))
        yield Sample(f"shape {shape}", (matrix, rhs))


def _sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    if size < 200:
        yield Sample(f"batch of {size}", (distinct(dtype, rng, (size, 3, 2)), uniform(dtype, rng, (size, 3, 1))))


def _least_squares(matrix: Array, rhs: Array) -> Array:
    """The normal equations, of the first or the second kind."""
    if matrix.shape[-2] >= matrix.shape[-1]:
        return eliminate(adjoint(matrix) @ matrix, adjoint(matrix) @ rhs)
    return np.asarray(adjoint(matrix) @ eliminate(matrix @ adjoint(matrix), rhs))


_TWO = constant("float32", [[1.0, 2.0], [2.0, 4.0]])

INFOS = (
    OpInfo(
        name="matrix_solve_ls",
        function=partial(matrix_solve_ls, fast=False),  # what is fast is composed of other ops
        samples=_samples,
        sized=_sized,
        reference=_least_squares,
        errors=(
            invalid(
                (_TWO, np.ones((3, 1), np.float32)),
                "matrix_solve_ls: matrix and rhs must be of the same batch and have the same number of rows; got "
                "shapes (2, 2) and (3, 1).",
            ),
            invalid(
                (np.ones(2, np.float32), _TWO),
                "matrix_solve_ls: matrix must be a matrix or a batch of them; got shape (2,).",
            ),
            invalid(
                (constant("float32", [[np.nan, 1.0], [1.0, 1.0]]), _TWO),
                "matrix_solve_ls: SVD did not converge. The input might not be valid.",
            ),
            rejected("matrix_solve_ls", "float16", SOLVABLE, (_TWO.astype(np.float16), _TWO.astype(np.float16))),
        ),
        tolerances=SOLUTIONS,
    ),
)
