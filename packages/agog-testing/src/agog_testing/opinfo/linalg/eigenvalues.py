"""Eigenvalues: facts about the ops of agog_core.ops.linalg.eigenvalues."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import agog_core as ag
from agog_core.ops.linalg.eigenvalues import eig, eigvals
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.linalg.checks import SOLUTIONS, SQUARES, distinct, square_errors
from agog_testing.opinfo.values import Rng, constant, invalid

_NAN = constant("float32", [[np.nan, 1.0], [1.0, 1.0]])


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in SQUARES:
        yield Sample(f"shape {shape}", (distinct(dtype, rng, shape),))
    yield Sample("complex eigenvalues", (constant(dtype, [[0.0, 1.0], [-1.0, 0.0]]),))


def _powers(values: ag.Tensor) -> tuple[ag.Tensor, ...]:
    """Sums of powers of eigenvalues, which do not depend on their order."""
    return tuple(ag.reduce_sum(ag.pow(values, power), -1) for power in (1, 2, 3))


def _traces(x: Array) -> tuple[Array, ...]:
    """The same as traces of powers of the matrices."""
    matrix = x.astype(np.complex128)
    return tuple(np.trace(power, axis1=-2, axis2=-1) for power in (matrix, matrix @ matrix, matrix @ matrix @ matrix))


def _decomposition(x: ag.Tensor) -> tuple[ag.Tensor, ...]:
    """The parts of the eigenvectors that do not depend on their order and phases: the rebuilt matrix, and their
    lengths.
    """
    values, vectors = eig(x)
    rebuilt = ag.matmul(ag.multiply(vectors, ag.expand_dims(values, -2)), ag.matrix_inverse(vectors))
    return rebuilt, ag.reduce_sum(ag.square(ag.abs(vectors)), -2)


def _rebuilt(x: Array) -> tuple[Array, ...]:
    return x.astype(np.complex128), np.ones(x.shape[:-1])


def _unsuccessful(op: str) -> ErrorSample:
    what = "Eigen decomposition was not successful. The input might not be valid"
    text = f"{op}: {what}: Array must not contain infs or NaNs"
    return invalid((_NAN,), text)


INFOS = (
    OpInfo(
        name="eig",
        function=_decomposition,
        samples=_samples,
        reference=_rebuilt,
        differentiable=False,
        errors=(*square_errors("eig", "tensor"), _unsuccessful("eig")),
        tolerances=SOLUTIONS,
    ),
    OpInfo(
        name="eigvals",
        function=lambda x: _powers(eigvals(x)),
        samples=_samples,
        reference=_traces,
        differentiable=False,
        errors=(*square_errors("eigvals", "tensor"), _unsuccessful("eigvals")),
        tolerances=SOLUTIONS | {"float32": (2e-4, 2e-4), "complex64": (2e-4, 2e-4)},  # cubes of up to 18
    ),
)
