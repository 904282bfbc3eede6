"""Standardization and its gradient on the host, against formulas in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import normalization

TOLERANCES = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 4e-6, "float64": 1e-13}
# Shapes with axes: rows, columns, columns of several pieces, and both at once.
CASES = [
    ((1, 1), (1,)),
    ((4, 5), (1,)),
    ((3, 2, 300), (2,)),
    ((3, 4, 5), (1, 2)),
    ((7, 40), (0,)),
    ((150, 3), (0,)),
    ((3, 5, 6, 35), (0, 1, 2)),
    ((2, 70, 3), (1,)),
]


def _numbers(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    return (np.random.default_rng(seed).standard_normal(shape) + 3).astype(numpy_dtype(dtype))


def _agree(found: Any, expected: Any, dtype: str) -> None:
    assert found.dtype == numpy_dtype(dtype)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.astype("f8"), expected, rtol=TOLERANCES[dtype], atol=2 * TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_standardize(modules: Any, order: str, shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> None:
    x = _numbers(shape, dtype, 7)
    y, mean, variance = normalization.standardize(modules, x, axes=axes, epsilon=1e-3)
    exact = x.astype("f8")
    _agree(mean, exact.mean(axes, keepdims=True), dtype)
    _agree(variance, exact.var(axes, keepdims=True), dtype)
    _agree(y, (exact - exact.mean(axes, keepdims=True)) / np.sqrt(exact.var(axes, keepdims=True) + 1e-3), dtype)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_gradient(modules: Any, order: str, shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> None:
    g, s = _numbers(shape, dtype, 7), _numbers(shape, dtype, 8) - numpy_dtype(dtype).type(3)
    variance = np.abs(_numbers(s.mean(axes, keepdims=True).shape, dtype, 9)) + numpy_dtype(dtype).type(1)
    found = normalization.standardize_grad(modules, g, s, variance, axes=axes, epsilon=1e-3)
    exact_g, exact_s = g.astype("f8"), s.astype("f8")
    slope = (exact_g * exact_s).mean(axes, keepdims=True)
    expected = exact_g - exact_g.mean(axes, keepdims=True) - exact_s * slope
    _agree(found, expected / np.sqrt(variance.astype("f8") + 1e-3), dtype)


def test_a_large_mean_cancels_nothing(modules: Any, order: str) -> None:
    for shape, axes in (((3, 200), (1,)), ((200, 3), (0,))):
        x = (np.random.default_rng(7).standard_normal(shape) + 1e4).astype("f4")
        _, _, variance = normalization.standardize(modules, x, axes=axes, epsilon=0.0)
        np.testing.assert_allclose(variance, x.astype("f8").var(axes, keepdims=True), rtol=1e-3)


def test_what_the_kernels_do_not_serve_is_declined(modules: Any) -> None:
    x = np.ones((2, 3, 4), "f4")
    assert normalization.standardize(modules, x, axes=(0, 2), epsilon=0.0) is NotImplemented
    assert normalization.standardize(modules, x, axes=(), epsilon=0.0) is NotImplemented
    assert normalization.standardize(modules, x[:0], axes=(1,), epsilon=0.0) is NotImplemented
    assert normalization.standardize(modules, x.astype("i4"), axes=(1,), epsilon=0.0) is NotImplemented
    mixed = x, x.astype("f8"), x[:, :1]
    assert normalization.standardize_grad(modules, *mixed, axes=(1,), epsilon=0.0) is NotImplemented
