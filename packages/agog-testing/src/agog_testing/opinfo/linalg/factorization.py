"""Factorization: facts about the ops of agog_core.ops.linalg.factorization."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import agog_core as ag
from agog_core.ops.linalg.factorization import cholesky, qr
from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.linalg.checks import (
    RECTANGLES,
    SOLUTIONS,
    SQUARES,
    adjoint,
    as_hermitian,
    distinct,
    hermitian,
    matrix_errors,
    orthonormal,
    square_errors,
)
from agog_testing.opinfo.values import Rng, constant, invalid


def _positive(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in SQUARES:
        yield Sample(f"shape {shape}", (hermitian(dtype, rng, shape),))


def _cholesky(x: Array) -> Array:
    """Row by row, as in school."""
    out = np.zeros_like(x)
    for row in range(x.shape[-1]):
        for column in range(row + 1):
            rest = x[..., row, column] - (out[..., row, :column] * np.conj(out[..., column, :column])).sum(-1)
            out[..., row, column] = np.sqrt(rest) if row == column else rest / out[..., column, column]
    return out


def _cholesky_of_hermitian_part(x: Array) -> Array:
    return _cholesky((x + np.conj(np.swapaxes(x, -1, -2))) / 2)


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for full_matrices in (False, True):
        for shape in RECTANGLES:
            x = distinct(dtype, rng, shape)
            yield Sample(f"shape {shape}, {full_matrices=}", (x,), {"full_matrices": full_matrices})


def _unique_parts(x: ag.Tensor, full_matrices: bool = False) -> tuple[ag.Tensor, ...]:
    """The parts of q and r that do not depend on phases or on the completion of q."""
    q, r = qr(x, full_matrices)
    count = min(q._shape[-2], r._shape[-1])
    first, rest = q[..., :count], q[..., count:]
    return ag.abs(first), ag.abs(r), ag.matmul(first, r[..., :count, :]), ag.matmul(rest, rest, adjoint_b=True)


def _unique_parts_by_gram_schmidt(x: Array, full_matrices: bool = False) -> tuple[Array, ...]:
    rows, columns = x.shape[-2:]
    q, _ = orthonormal(x[..., : min(rows, columns)])
    r = adjoint(q) @ x
    below = np.zeros((*x.shape[:-2], rows - q.shape[-1] if full_matrices else 0, columns))
    outside = np.eye(rows) - q @ adjoint(q) if full_matrices and rows > columns else np.zeros((*x.shape[:-1], rows))
    r = np.where(np.arange(r.shape[-2])[:, None] <= np.arange(columns), r, 0)
    return np.abs(q), np.abs(np.concatenate([r, below], -2)), x, outside


INFOS = (
    OpInfo(
        name="cholesky",
        function=lambda x: cholesky(as_hermitian(x)),  # the gradient is that of triangles which change together
        samples=_positive,
        reference=_cholesky_of_hermitian_part,
        errors=(
            *square_errors("cholesky"),
            invalid(
                (constant("float32", [[1.0, 2.0], [2.0, 1.0]]),),
                "cholesky: Cholesky decomposition was not successful. The input might not be valid.",
            ),
        ),
        tolerances=SOLUTIONS,
    ),
    OpInfo(
        name="qr",
        function=_unique_parts,
        samples=_samples,
        reference=_unique_parts_by_gram_schmidt,
        errors=matrix_errors("qr"),
        tolerances=SOLUTIONS,
    ),
)
