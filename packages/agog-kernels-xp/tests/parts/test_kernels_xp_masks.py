"""Masks, and the slopes of gates that are made of them: nothing comes through where they are 0."""

from __future__ import annotations

import numpy as np
import pytest

from agog_kernels_xp.parts.gates import multiply_by_slope
from agog_kernels_xp.parts.masks import masked

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "int64"])
@pytest.mark.parametrize("stride", [1, 2, -1])
def test_elements_are_kept_or_zero(dtype: str, stride: int) -> None:
    x = np.arange(-6, 6).astype(dtype)[::stride]
    mask = np.arange(len(x)) % 3 == 0
    before = x.copy()
    found = masked(np, x, mask)
    assert found.tolist() == [each if kept else 0 for each, kept in zip(x.tolist(), mask.tolist(), strict=True)]
    assert found.dtype == x.dtype
    assert not np.shares_memory(found, x)
    np.testing.assert_array_equal(x, before)


def test_shapes_broadcast_and_scalars_stay_scalars() -> None:
    x, mask = np.array([[INF], [NAN]]), np.array([True, False, True])
    np.testing.assert_array_equal(masked(np, x, mask), [[INF, 0, INF], [NAN, 0, NAN]])
    assert masked(np, np.array(INF), np.array(False)) == 0
    assert masked(np, np.zeros((0, 3)), mask).shape == (0, 3)


@pytest.mark.parametrize(
    ("activation", "expected"),
    [("relu", [0.0, INF, INF, NAN, 0.0]), ("hard_sigmoid", [0.0, INF, 0.0, NAN, 0.0])],
)
def test_no_infinite_gradient_passes_a_flat_gate(activation: str, expected: list[float]) -> None:
    gradient = np.array([INF, INF, INF, NAN, NAN])
    multiply_by_slope(np, activation, np.array([0.0, 0.5, 1.0, 0.5, 0.0]), gradient)
    np.testing.assert_array_equal(gradient, expected)
