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


# Shapes with axes, and with the shape of the scale: layers and batches.
AFFINE = [
    ((4, 5), (1,), (5,)),
    ((70, 300), (1,), (300,)),
    ((3, 2, 4, 5), (2, 3), (4, 5)),
    ((7, 40), (0,), (40,)),
    ((150, 3), (0,), (1, 3)),
    ((3, 5, 6, 35), (0, 1, 2), (35,)),
]


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize(("shape", "axes", "of_scale"), AFFINE)
def test_affine(
    modules: Any, order: str, shape: tuple[int, ...], axes: tuple[int, ...], of_scale: tuple[int, ...], dtype: str
) -> None:
    x, scale, offset = (_numbers(each, dtype, seed) for seed, each in enumerate((shape, of_scale, of_scale)))
    y, mean, variance = normalization.standardize_affine(modules, x, scale, offset, axes=axes, epsilon=1e-3)
    exact, by, to = (each.astype("f8") for each in (x, scale, offset))
    _agree(mean, exact.mean(axes, keepdims=True), dtype)
    _agree(variance, exact.var(axes, keepdims=True), dtype)
    standardized = (exact - exact.mean(axes, keepdims=True)) / np.sqrt(exact.var(axes, keepdims=True) + 1e-3)
    np.testing.assert_allclose(
        y.astype("f8"), standardized * by + to, rtol=TOLERANCES[dtype], atol=9 * TOLERANCES[dtype]
    )


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize(("shape", "axes", "of_scale"), AFFINE)
def test_gradients_of_affine(
    modules: Any, order: str, shape: tuple[int, ...], axes: tuple[int, ...], of_scale: tuple[int, ...], dtype: str
) -> None:
    g, x, scale = (_numbers(each, dtype, seed) for seed, each in enumerate((shape, shape, of_scale)))
    mean, variance = (each.astype(x.dtype) for each in _statistics(x, axes))
    found = normalization.standardize_affine_grad(modules, g, x, scale, mean, variance, axes=axes, epsilon=1e-3)
    of_out, exact, by, center, spread = (each.astype("f8") for each in (g, x, scale, mean, variance))
    s, scaled = (exact - center) / np.sqrt(spread + 1e-3), of_out * by
    slope = (scaled * s).mean(axes, keepdims=True)
    of_x = (scaled - scaled.mean(axes, keepdims=True) - s * slope) / np.sqrt(spread + 1e-3)
    summed = tuple(n for n, size in enumerate((1,) * (len(shape) - len(of_scale)) + of_scale) if size == 1)
    wanted = of_x, (of_out * s).sum(summed).reshape(of_scale), of_out.sum(summed).reshape(of_scale)
    for each, right in zip(found, wanted, strict=True):
        assert each.dtype == x.dtype
        assert each.shape == right.shape
        size = np.abs(right).max()
        np.testing.assert_allclose(each.astype("f8"), right, rtol=TOLERANCES[dtype], atol=4 * size * TOLERANCES[dtype])


def _statistics(x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    exact = x.astype("f8")
    return exact.mean(axes, keepdims=True), exact.var(axes, keepdims=True)


def test_other_scales_are_declined(modules: Any) -> None:
    x = np.ones((2, 3, 4), "f4")
    for axes, shape in (((0,), (4,)), ((1,), (4,)), ((2,), (3, 4)), ((0, 1), (3, 1)), ((0, 1), ())):
        scale = np.ones(shape, "f4")
        assert normalization.standardize_affine(modules, x, scale, scale, axes=axes, epsilon=0.0) is NotImplemented


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
