"""Pseudoinverses, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from agog_core.ops.linalg.pseudoinverse import pinv

rng = np.random.default_rng(17)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 5), (2, 3, 2)])
def test_pseudoinverses(shape: tuple[int, ...]) -> None:
    x = rng.normal(size=shape)
    np.testing.assert_allclose(pinv(x).numpy(), np.linalg.pinv(x), rtol=1e-8, atol=1e-10)
    x[..., 0, :] = x[..., 1, :]
    np.testing.assert_allclose(pinv(x).numpy(), np.linalg.pinv(x), rtol=1e-8, atol=1e-10)
