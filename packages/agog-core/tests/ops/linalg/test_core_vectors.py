"""Products with vectors and norms, against NumPy."""

from __future__ import annotations

import numpy as np

from agog_core.ops.linalg.vectors import matvec, normalize

rng = np.random.default_rng(17)


def test_products_with_vectors() -> None:
    a, b = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 4))
    np.testing.assert_allclose(matvec(a, b).numpy(), np.einsum("bij,bj->bi", a, b), rtol=1e-12)
    transposed = matvec(a, b[:, :3], transpose_a=True)
    np.testing.assert_allclose(transposed.numpy(), np.einsum("bij,bi->bj", a, b[:, :3]), rtol=1e-12)


def test_norms_are_taken_off() -> None:
    x = rng.normal(size=(3, 4))
    quotient, length = normalize(x, axis=1)
    np.testing.assert_allclose(length.numpy(), np.linalg.norm(x, axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(quotient.numpy(), x / np.linalg.norm(x, axis=1, keepdims=True), rtol=1e-12)
