"""Gradients of products of batches with one matrix, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import agog_core as ag

rng = np.random.default_rng(18)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("batch", [(5,), (2, 3), (0,), (2, 0)])
def test_gradient_by_a_matrix_that_multiplies_a_batch(
    batch: tuple[int, ...], transpose_a: bool, transpose_b: bool
) -> None:
    rows, columns = rng.normal(size=(*batch, 4, 6)), rng.normal(size=(6, 7))
    a = ag.constant(rows.swapaxes(-1, -2) if transpose_a else rows)
    b = ag.constant(columns.T if transpose_b else columns)
    g = rng.normal(size=(*batch, 4, 7))
    with ag.GradientTape() as tape:
        tape.watch(b)
        out = ag.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    found = tape.gradient(out, b, output_gradients=ag.constant(g)).numpy()
    wanted = np.einsum("nrk,nrc->kc", rows.reshape(-1, 4, 6), g.reshape(-1, 4, 7))
    np.testing.assert_allclose(found.T if transpose_b else found, wanted, rtol=1e-12, atol=1e-12)


def test_gradient_by_a_matrix_that_multiplies_a_batch_is_one_product() -> None:
    a, b = ag.ones([3, 4, 6]), ag.ones([6, 7])
    with ag.GradientTape() as tape:
        tape.watch(b)
        out = ag.matmul(a, b)
    with ag.profile() as seen:
        tape.gradient(out, b, output_gradients=ag.ones([3, 4, 7]))
    counts = {row.op: row.count for row in seen.ops}
    assert counts["matmul"] == 1
    assert "sum_to" not in counts
