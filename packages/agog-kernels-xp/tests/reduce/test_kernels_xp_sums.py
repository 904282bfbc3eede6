"""Sums of long columns: no digits are lost by adding one row after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agog_kernels_xp.reduce.reduction import reduce_mean, reduce_sum, sum_to

Array = np.ndarray[Any, Any]


@pytest.mark.parametrize("width", [1, 2, 70])
def test_tenths_add_up(width: int) -> None:
    tenths = np.full((70_001, width), 0.1, np.float32)
    exact = 70_001 * float(np.float32(0.1))
    for total in (
        reduce_sum(np, tenths, axes=(0,), keepdims=False),
        sum_to(np, tenths, shape=(width,)),
        reduce_mean(np, tenths, axes=(0,), keepdims=False) * 70_001.0,
    ):
        np.testing.assert_allclose(total, exact, rtol=5e-6)  # one after the other it is 6e-4


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "complex64", "int32"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [((257, 9), (0,)), ((1000, 3), (0,)), ((40, 30, 2), (0, 1)), ((40, 30, 2), (1,)), ((2500,), (0,))],
)
def test_long_sums_are_those_of_float64(shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> None:
    x = np.random.default_rng(3).integers(-3, 4, shape).astype(dtype)
    wide = x.astype(np.complex128 if dtype == "complex64" else np.float64)
    for keepdims in (False, True):
        total = reduce_sum(np, x, axes=axes, keepdims=keepdims)
        assert total.dtype == x.dtype
        np.testing.assert_array_equal(total, wide.sum(axes, keepdims=keepdims))


def test_transposed_and_reversed_columns_add_up() -> None:
    x = np.arange(6000, dtype=np.float32).reshape(3, 2000)
    np.testing.assert_array_equal(reduce_sum(np, x.T, axes=(0,), keepdims=False), x.sum(1))
    np.testing.assert_array_equal(reduce_sum(np, x.T[::-1], axes=(0,), keepdims=False), x.sum(1))
