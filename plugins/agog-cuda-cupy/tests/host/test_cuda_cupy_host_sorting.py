"""The largest elements and searches on the host, against the device "cpu" and plain counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import sorting

REFERENCE = agog_kernels_xp.bind(np, dtype=numpy_dtype)
DTYPES = ["float16", "bfloat16", "float32", "float64", "int32", "int64"]


def _numbers(shape: tuple[int, ...], dtype: str, seed: int = 7) -> Any:
    """Numbers of which many are there several times."""
    return np.random.default_rng(seed).integers(-40, 40, shape).astype(numpy_dtype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "k"), [((4, 7), 7), ((3, 2, 50), 5), ((2, 300), 64), ((1,), 1)])
def test_the_largest_elements(modules: Any, order: str, shape: tuple[int, ...], k: int, dtype: str) -> None:
    x = _numbers(shape, dtype)
    found = sorting.top_k(modules, x, k=k)
    for one, other in zip(found, REFERENCE("top_k")(x, k=k), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_the_largest_of_what_is_not_finite(modules: Any, order: str) -> None:
    x = _numbers((5, 200), "float32")
    x[0, [3, 150]], x[1, 7:9], x[2], x[3], x[4, 60:] = np.nan, np.inf, -np.inf, np.nan, -np.inf
    for one, other in zip(sorting.top_k(modules, x, k=20), REFERENCE("top_k")(x, k=20), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "count"), [((6,), 20), ((2, 3, 70), 9), ((2, 0), 3), ((3, 5), 0), ((1, 1), 4)])
def test_positions_in_sorted_rows(
    modules: Any, order: str, shape: tuple[int, ...], count: int, dtype: str, side: str
) -> None:
    sequence, values = np.sort(_numbers(shape, dtype)), _numbers((*shape[:-1], count), dtype, 8)
    exact, wanted = sequence.astype("f8")[..., None, :], values.astype("f8")[..., None]
    for index in ("int32", "int64"):
        expected = (exact < wanted if side == "left" else exact <= wanted).sum(-1).astype(index)
        found = sorting.searchsorted(modules, sequence, values, side=side, dtype=index)
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("side", ["left", "right"])
def test_nan_is_behind_all_numbers(modules: Any, side: str) -> None:
    sequence = np.array([[-np.inf, 1, 1, np.inf, np.nan, np.nan]], "f4")
    values = np.array([[np.nan, np.inf, -np.inf, 1, 7]], "f4")
    found = sorting.searchsorted(modules, sequence, values, side=side, dtype="int64")
    np.testing.assert_array_equal(found[0], np.searchsorted(sequence[0], values[0], side), strict=True)


def test_what_the_kernels_do_not_serve_is_declined(modules: Any) -> None:
    x = np.ones((2, 100), "f4")
    assert sorting.top_k(modules, x, k=65) is NotImplemented
    assert sorting.top_k(modules, x, k=0) is NotImplemented
    assert sorting.top_k(modules, np.ones((1, 65537), "f4"), k=1) is NotImplemented
    assert sorting.top_k(modules, x[:0], k=1) is NotImplemented
    assert sorting.top_k(modules, x.astype("u1"), k=1) is NotImplemented
    assert sorting.searchsorted(modules, x, x.astype("f8"), side="left", dtype="int32") is NotImplemented
    assert sorting.searchsorted(modules, x, x, side="left", dtype="int8") is NotImplemented
