"""Softmax and the cross entropies on the host, against formulas in float64, or the kernels of the device "cpu"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import softmax

REFERENCE = agog_kernels_xp.bind(np, dtype=numpy_dtype)
TOLERANCES = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 1e-14}
SHAPES = [(1, 1), (3, 7), (2, 5, 32), (9, 100), (3, 1000)]


def _arrays(shape: tuple[int, ...], dtype: str, count: int) -> list[Any]:
    rng = np.random.default_rng(7)
    return [(3 * rng.standard_normal(shape)).astype(numpy_dtype(dtype)) for _ in range(count)]


def _exact(array: Any) -> Any:
    return array.astype("float64")


def _softmax(x: Any) -> Any:
    e = np.exp(_exact(x) - _exact(x).max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _agree(found: Any, expected: Any, dtype: str) -> None:
    assert found.dtype == numpy_dtype(dtype)
    assert found.shape == expected.shape
    tolerance = TOLERANCES[dtype]
    np.testing.assert_allclose(_exact(found), expected, rtol=tolerance, atol=4 * tolerance)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("shape", SHAPES)
def test_softmax_and_its_logarithm(modules: Any, order: str, shape: tuple[int, ...], dtype: str) -> None:
    (x,) = _arrays(shape, dtype, 1)
    expected = _softmax(x)
    _agree(softmax.softmax(modules, x, axis=len(shape) - 1), expected, dtype)
    _agree(softmax.log_softmax(modules, x, axis=len(shape) - 1), np.log(expected), dtype)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_of_softmax_and_its_logarithm(modules: Any, order: str, shape: tuple[int, ...], dtype: str) -> None:
    x, g = _arrays(shape, dtype, 2)
    p = _softmax(x).astype(numpy_dtype(dtype))
    mean = (_exact(g) * _exact(p)).sum(-1, keepdims=True)
    expected = (_exact(g) - mean) * _exact(p)
    _agree(softmax.softmax_grad(modules, g, p, axis=len(shape) - 1), expected, dtype)
    logarithms = np.log(_softmax(x)).astype(numpy_dtype(dtype))
    expected = _exact(g) - np.exp(_exact(logarithms)) * _exact(g).sum(-1, keepdims=True)
    scale = max(1.0, float(np.abs(expected).max()))
    found = softmax.log_softmax_grad(modules, g, logarithms, axis=len(shape) - 1)
    _agree((_exact(found) / scale).astype(found.dtype), expected / scale, dtype)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("shape", SHAPES)
def test_cross_entropy_with_distributions(modules: Any, order: str, shape: tuple[int, ...], dtype: str) -> None:
    x, y, g = _arrays(shape, dtype, 3)
    labels, g = _softmax(y).astype(x.dtype), g.reshape(-1, shape[-1])[:, 0].reshape(shape[:-1])
    expected = -(_exact(labels) * np.log(_softmax(x))).sum(-1)
    scale = max(1.0, float(np.abs(expected).max()))
    found = softmax.softmax_cross_entropy(modules, labels, x, axis=len(shape) - 1)
    _agree((_exact(found) / scale).astype(found.dtype), expected / scale, dtype)
    expected = (_softmax(x) * _exact(labels).sum(-1, keepdims=True) - _exact(labels)) * _exact(g)[..., None]
    _agree(softmax.softmax_cross_entropy_grad(modules, g, labels, x, axis=len(shape) - 1), expected, dtype)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_cross_entropy_with_class_numbers(modules: Any, shape: tuple[int, ...], dtype: str, index: str) -> None:
    x, g = _arrays(shape, dtype, 2)
    g = g.reshape(-1, shape[-1])[:, 0].reshape(shape[:-1])
    labels = np.random.default_rng(8).integers(0, shape[-1], shape[:-1]).astype(index)
    is_label = np.arange(shape[-1]) == labels[..., None]
    expected = -np.log(_softmax(x))[is_label].reshape(labels.shape)
    scale = max(1.0, float(np.abs(expected).max()))
    found = softmax.sparse_softmax_cross_entropy(modules, labels, x)
    _agree((_exact(found) / scale).astype(found.dtype), expected / scale, dtype)
    assert modules.errors() == []
    expected = (_softmax(x) - is_label) * _exact(g)[..., None]
    _agree(softmax.sparse_softmax_cross_entropy_grad(modules, g, labels, x), expected, dtype)


def test_the_first_wrong_label_is_told(modules: Any, order: str) -> None:
    (x,) = _arrays((70, 5), "float32", 1)
    labels = np.zeros(70, "int32")
    labels[[60, 17, 33]] = 99, -3, 5
    losses = softmax.sparse_softmax_cross_entropy(modules, labels, x)
    assert np.flatnonzero(np.isnan(losses)).tolist() == [17, 33, 60]
    (found,) = modules.errors()
    assert found == (
        "sparse_softmax_cross_entropy: Received a label value of -3 which is outside the valid range of [0, 5)."
    )


@pytest.mark.parametrize(("label", "told"), [(2**40, 2**31 - 1), (-(2**40), -(2**31)), (2**31 - 1, 2**31 - 1)])
def test_a_wrong_label_beyond_32_bits_is_told_as_the_nearest(modules: Any, label: int, told: int) -> None:
    (x,) = _arrays((2, 5), "float32", 1)
    softmax.sparse_softmax_cross_entropy(modules, np.array([0, label]), x)
    (found,) = modules.errors()
    assert f"a label value of {told} which" in found


def test_what_is_not_finite_is_as_on_the_cpu(modules: Any, order: str) -> None:
    inf, nan = np.inf, np.nan
    x = np.array([[1, inf, 2], [-inf, 1, 2], [nan, 1, 2], [-inf, -inf, -inf], [1e4, -1e4, 0]], "f4")
    labels = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0]], "f4")
    with np.errstate(invalid="ignore", divide="ignore"):
        for op in ("softmax", "log_softmax"):
            expected = REFERENCE(op)(x, axis=1)
            np.testing.assert_allclose(getattr(softmax, op)(modules, x, axis=1), expected, rtol=1e-6)
        expected = REFERENCE("softmax_cross_entropy")(labels, x, axis=1)
    np.testing.assert_allclose(softmax.softmax_cross_entropy(modules, labels, x, axis=1), expected, rtol=1e-6)


def test_what_the_kernels_do_not_serve_is_declined(modules: Any) -> None:
    x = np.ones((3, 4), "f4")
    labels = np.zeros(3, "i4")
    assert softmax.softmax(modules, x, axis=0) is NotImplemented
    assert softmax.softmax(modules, np.ones((3, 0), "f4"), axis=1) is NotImplemented
    assert softmax.softmax(modules, np.ones((3, 4), "i4"), axis=1) is NotImplemented
    assert softmax.softmax_cross_entropy(modules, x[:1], x, axis=1) is NotImplemented
    assert softmax.sparse_softmax_cross_entropy(modules, labels.astype("u8"), x) is NotImplemented
    assert softmax.softmax(modules, np.ones((0, 4), "f4"), axis=1).shape == (0, 4)
