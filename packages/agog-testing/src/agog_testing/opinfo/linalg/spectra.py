"""Spectra: facts about the ops of agog_core.ops.linalg.spectra."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import agog_core as ag
from agog_core import expand_dims, self_adjoint_eig, svd
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.linalg.checks import (
    RECTANGLES,
    SOLUTIONS,
    SQUARES,
    adjoint,
    distinct,
    hermitian,
    matrix_errors,
    square_errors,
)
from agog_testing.opinfo.values import Rng, constant, invalid

_NAN = constant("float32", [[np.nan, 1.0], [1.0, 1.0]])


def _self_adjoint(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in SQUARES:
        yield Sample(f"shape {shape}", (hermitian(dtype, rng, shape),))
    yield Sample("upper triangle not read", (np.tril(hermitian(dtype, rng, (3, 3))),))


def _whole(x: Array) -> Array:
    lower = np.tril(x, -1)
    return np.asarray(lower + adjoint(lower) + np.eye(x.shape[-1]) * x.real)


def _eigenvalues(x: Array) -> Array:
    """By the solver for matrices of any kind, which knows of no symmetry."""
    return np.sort(np.linalg.eigvals(_whole(x)).real, axis=-1)


def _unique_parts(x: ag.Tensor) -> tuple[ag.Tensor, ...]:
    """The parts of the eigenvectors that do not depend on phases."""
    eigenvalues, v = self_adjoint_eig(x)
    return eigenvalues, ag.abs(v), ag.matmul(v * expand_dims(ag.square(eigenvalues), -2), v, adjoint_b=True)


def _unique_parts_in_general(x: Array) -> tuple[Array, ...]:
    a = _whole(x)
    eigenvalues, vectors = np.linalg.eig(a)
    order = np.argsort(eigenvalues.real, axis=-1)
    return _eigenvalues(x), np.abs(np.take_along_axis(vectors, order[..., None, :], -1)), a @ a


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for full_matrices in (False, True):
        for shape in RECTANGLES:
            x = distinct(dtype, rng, shape)
            yield Sample(f"shape {shape}, {full_matrices=}", (x,), {"full_matrices": full_matrices})


def _values_only(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in RECTANGLES:
        yield Sample(f"shape {shape}", (distinct(dtype, rng, shape),))


def _unique_vectors(x: ag.Tensor, full_matrices: bool = False) -> tuple[ag.Tensor, ...]:
    """The parts of the singular vectors that do not depend on phases or on their completion."""
    s, u, v = svd(x, full_matrices)
    count = s._shape[-1]
    left, right, more_left, more_right = u[..., :count], v[..., :count], u[..., count:], v[..., count:]
    return (
        *(s, ag.abs(left), ag.abs(right), ag.matmul(left, right, adjoint_b=True)),
        *(ag.matmul(more_left, more_left, adjoint_b=True), ag.matmul(more_right, more_right, adjoint_b=True)),
    )


def _decompose(x: Array) -> tuple[Array, Array, Array]:
    """The eigenvectors of [[0, x], [adjoint(x), 0]] are pairs of singular vectors (Golub and Kahan)."""
    rows, columns = x.shape[-2:]
    count = min(rows, columns)
    whole = np.zeros((*x.shape[:-2], rows + columns, rows + columns), x.dtype)
    whole[..., :rows, rows:], whole[..., rows:, :rows] = x, adjoint(x)
    eigenvalues, vectors = np.linalg.eigh(whole)
    last = vectors[..., ::-1][..., :count] * np.sqrt(2)
    return eigenvalues[..., ::-1][..., :count], last[..., :rows, :], last[..., rows:, :]


def _unique_vectors_by_eigenvectors(x: Array, full_matrices: bool = False) -> tuple[Array, ...]:
    s, left, right = _decompose(x)
    outside = [np.eye(part.shape[-2]) * full_matrices - part @ adjoint(part) * full_matrices for part in (left, right)]
    return s, np.abs(left), np.abs(right), left @ adjoint(right), *outside


def _unsuccessful(op: str) -> ErrorSample:
    text = f"{op}: Self-adjoint eigen decomposition was not successful. The input might not be valid."
    return invalid((_NAN,), text)


def _diverged(op: str, **kwargs: Any) -> ErrorSample:
    text = f"{op}: SVD did not converge. The input might not be valid."
    return invalid((_NAN,), text, **kwargs)


INFOS = (
    OpInfo(
        name="self_adjoint_eig",
        function=_unique_parts,
        samples=_self_adjoint,
        reference=_unique_parts_in_general,
        errors=(*square_errors("self_adjoint_eig", "tensor"), _unsuccessful("self_adjoint_eig")),
        tolerances=SOLUTIONS | {"float32": (1e-4, 1e-4), "complex64": (1e-4, 1e-4)},  # squares of up to 18
    ),
    OpInfo(
        name="self_adjoint_eigvals",
        samples=_self_adjoint,
        reference=_eigenvalues,
        errors=(*square_errors("self_adjoint_eigvals", "tensor"), _unsuccessful("self_adjoint_eigvals")),
        tolerances=SOLUTIONS,
    ),
    OpInfo(
        name="svd",
        function=_unique_vectors,
        samples=_samples,
        reference=_unique_vectors_by_eigenvectors,
        errors=(*matrix_errors("svd", "tensor"), _diverged("svd")),
        tolerances=SOLUTIONS,
    ),
    OpInfo(
        name="singular_values",
        samples=_values_only,
        reference=lambda x: _decompose(x)[0],
        errors=(*matrix_errors("singular_values", "tensor"), _diverged("singular_values")),
        tolerances=SOLUTIONS,
    ),
)
