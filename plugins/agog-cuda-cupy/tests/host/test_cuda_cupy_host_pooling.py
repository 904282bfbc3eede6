"""Pools and their gradients on the host, against the device "cpu", and means against those in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import pooling

REFERENCE = agog_kernels_xp.bind(np, dtype=numpy_dtype)
TOLERANCES = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6, "float64": 1e-14}
# Shapes, windows, strides, paddings, dilations.
CASES: dict[str, tuple[Any, ...]] = {
    "one_axis": ((2, 9, 3), (3,), (2,), ((1, 1),), (1,)),
    "usual": ((3, 6, 8, 2), (2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    "overlapping": ((2, 6, 5, 3), (3, 3), (1, 2), ((1, 1), (1, 0)), (1, 1)),
    "dilated": ((2, 8, 7, 2), (2, 3), (1, 1), ((1, 0), (2, 2)), (3, 2)),
    "gaps": ((1, 9, 8, 1), (2, 1), (3, 2), ((0, 0), (0, 0)), (1, 1)),
    "three_axes": ((2, 4, 3, 5, 2), (2, 2, 3), (1, 2, 1), ((0, 0), (1, 0), (1, 1)), (1, 1, 1)),
    "mostly_padding": ((1, 2, 2, 1), (2, 2), (1, 1), ((2, 2), (2, 2)), (1, 1)),
}


def _attributes(case: str) -> dict[str, Any]:
    return dict(zip(("window", "strides", "paddings", "dilations"), CASES[case][1:], strict=True))


def _input(case: str, dtype: str) -> Any:
    """Few different numbers, so that many maxima are there twice."""
    return np.random.default_rng(7).integers(-2, 3, CASES[case][0]).astype(numpy_dtype(dtype))


def _gradient(shape: tuple[int, ...], dtype: str) -> Any:
    return np.random.default_rng(8).standard_normal(shape).astype(numpy_dtype(dtype))


def _near(found: Any, expected: Any, dtype: str) -> None:
    assert (found.shape, found.dtype) == (expected.shape, numpy_dtype(dtype))
    tolerance = TOLERANCES[dtype]
    np.testing.assert_allclose(found.astype("f8"), expected.astype("f8"), rtol=tolerance, atol=4 * tolerance)


@pytest.mark.parametrize("dtype", [*TOLERANCES, "int32", "int64"])
@pytest.mark.parametrize("case", CASES)
def test_maxima_are_those_of_the_cpu(modules: Any, order: str, case: str, dtype: str) -> None:
    x, attributes = _input(case, dtype), _attributes(case)
    expected = REFERENCE("max_pool")(x, **attributes)
    np.testing.assert_array_equal(pooling.max_pool(modules, x, **attributes), expected, strict=True)
    index = "int64" if dtype.endswith("64") else "int32"
    found = pooling.max_pool_with_argmax(modules, x, dtype=index, **attributes)
    both = REFERENCE("max_pool_with_argmax")(x, dtype=index, **attributes)
    for one, other in zip(found, both, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("case", CASES)
def test_gradients_go_to_the_first_maxima(modules: Any, order: str, case: str, dtype: str) -> None:
    x, attributes = _input(case, dtype), _attributes(case)
    maxima = REFERENCE("max_pool")(x, **attributes)
    g = _gradient(maxima.shape, dtype)
    expected = REFERENCE("max_pool_grad")(g, x, maxima, **attributes)
    found = pooling.max_pool_grad(modules, g, x, maxima, **attributes)
    np.testing.assert_array_equal(found, expected, strict=True)
    g = _gradient(x.shape, dtype)
    expected = REFERENCE("max_pool_grad_grad")(g, x, maxima, **attributes)
    found = pooling.max_pool_grad_grad(modules, g, x, maxima, **attributes)
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("case", CASES)
def test_means_and_their_gradients(modules: Any, order: str, case: str, dtype: str) -> None:
    x, attributes = _gradient(CASES[case][0], dtype), _attributes(case)
    expected = REFERENCE("avg_pool")(x.astype("f8"), **attributes)
    _near(pooling.avg_pool(modules, x, **attributes), expected, dtype)
    g = _gradient(expected.shape, dtype)
    expected = REFERENCE("avg_pool_grad")(g.astype("f8"), input_shape=x.shape, **attributes)
    _near(pooling.avg_pool_grad(modules, g, input_shape=x.shape, **attributes), expected, dtype)


def test_a_window_over_nan_or_infinities_is_as_on_the_cpu(either_modules: Any) -> None:
    x, attributes = _input("overlapping", "float32"), _attributes("overlapping")
    x[0, 2, 2], x[1], x[0, 5, :, 1] = np.nan, -np.inf, np.inf
    maxima = REFERENCE("max_pool")(x, **attributes)
    np.testing.assert_array_equal(pooling.max_pool(either_modules, x, **attributes), maxima)
    found = pooling.max_pool_with_argmax(either_modules, x, dtype="int64", **attributes)[1]
    np.testing.assert_array_equal(found, REFERENCE("max_pool_with_argmax")(x, dtype="int64", **attributes)[1])
    g = _gradient(maxima.shape, "float32")
    expected = REFERENCE("max_pool_grad")(g, x, maxima, **attributes)
    np.testing.assert_array_equal(pooling.max_pool_grad(either_modules, g, x, maxima, **attributes), expected)


def test_what_the_kernels_do_not_serve_is_declined(modules: Any) -> None:
    x, attributes = _input("usual", "float32"), _attributes("usual")
    integers, bytes_ = x.astype("i4"), x.astype("u1")
    assert pooling.max_pool(modules, bytes_, **attributes) is NotImplemented
    assert pooling.max_pool(modules, x[:0], **attributes) is NotImplemented
    assert pooling.max_pool_with_argmax(modules, x, dtype="uint8", **attributes) is NotImplemented
    assert pooling.avg_pool(modules, integers, **attributes) is NotImplemented
    assert pooling.avg_pool_grad(modules, integers, input_shape=x.shape, **attributes) is NotImplemented
    half = x[:, ::2, ::2]
    assert pooling.max_pool_grad(modules, half.astype("f8"), x, half, **attributes) is NotImplemented
    assert pooling.max_pool_grad_grad(modules, x.astype("f8"), x, half, **attributes) is NotImplemented
