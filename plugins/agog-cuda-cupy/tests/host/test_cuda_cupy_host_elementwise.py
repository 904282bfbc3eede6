"""Functions of elements on the host, against formulas in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import elementwise, fused

REFERENCE = agog_kernels_xp.bind(np, dtype=numpy_dtype)
TOLERANCES = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6, "float64": 1e-15}
SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772


def _logistic(x: Any) -> Any:
    return np.exp(-np.logaddexp(0, -x))


def _below(x: Any) -> Any:
    return np.vectorize(math.erfc, otypes=["f8"])(-x / math.sqrt(2)) / 2


def _inner(x: Any) -> Any:
    return math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)


def _gelu_slope(x: Any) -> Any:
    return _below(x) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _approximate_slope(x: Any) -> Any:
    steep = 2 * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
    return _logistic(2 * _inner(x)) * (1 + x * steep * _logistic(-2 * _inner(x)))


UNARY: dict[str, Callable[..., Any]] = {
    "relu6": lambda x: np.clip(x, 0, 6),
    "elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "selu": lambda x: SCALE * np.where(x < 0, ALPHA * np.expm1(x), x),
    "leaky_relu": lambda x, alpha: np.maximum(alpha * x, x),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "swish": lambda x: x * _logistic(x),
    "sigmoid": _logistic,
    "softplus": lambda x: np.logaddexp(0, x),
    "rsqrt": lambda x: np.abs(x) ** -0.5,
    "gelu": lambda x, approximate: x * (_below(x) if not approximate else _logistic(2 * _inner(x))),
}
BINARY: dict[str, Callable[..., Any]] = {
    "relu_grad": lambda g, x: np.where(x > 0, g, 0),
    "relu6_grad": lambda g, x: np.where((x > 0) & (x < 6), g, 0),
    "elu_grad": lambda g, y: np.where(y < 0, g * (y + 1), g),
    "selu_grad": lambda g, y: g * np.where(y < 0, y + SCALE * ALPHA, SCALE),
    "leaky_relu_grad": lambda g, x, alpha: g * np.where(x > 0, max(alpha, 1), min(alpha, 1)),
    "sigmoid_grad": lambda g, y: g * y * (1 - y),
    "tanh_grad": lambda g, y: g * (1 - y * y),
    "gelu_grad": lambda g, x, approximate: g * (_gelu_slope(x) if not approximate else _approximate_slope(x)),
    "squared_difference": lambda x, y: (x - y) ** 2,
    "div_no_nan": lambda x, y: np.divide(x, y, out=np.zeros_like(x), where=y != 0),
    "sigmoid_cross_entropy": lambda p, x: np.logaddexp(0, x) - x * p,
}
ALPHAS = tuple({"alpha": alpha} for alpha in (0.25, 0.0, 3.0, -0.5))
FORMS = tuple({"approximate": approximate} for approximate in (False, True))
ATTRIBUTES = {"leaky_relu": ALPHAS, "leaky_relu_grad": ALPHAS, "gelu": FORMS, "gelu_grad": FORMS}


def _calls(name: str) -> tuple[dict[str, Any], ...]:
    return ATTRIBUTES.get(name, ({},))


def _given(name: str, x: Any, y: Any, attributes: dict[str, Any]) -> tuple[Any, ...]:
    """What a function of two arrays is called with: the gradient of gelu has what gelu gave too."""
    return (x, y, REFERENCE("gelu")(y, **attributes)) if name == "gelu_grad" else (x, y)


def _numbers(name: str, seed: int, dtype: str) -> Any:
    x = 3 * np.random.default_rng(seed).standard_normal((13, 31))
    x[::5, ::3] = 0 if name != "rsqrt" else 1
    return (np.abs(x) if name == "rsqrt" else x).astype(numpy_dtype(dtype))


def _agree(found: Any, expected: Any, dtype: str) -> None:
    assert (found.shape, found.dtype) == (expected.shape, numpy_dtype(dtype))
    tolerance = TOLERANCES[dtype]
    np.testing.assert_allclose(found.astype("f8"), expected, rtol=4 * tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_one_array(modules: Any, order: str, name: str, dtype: str) -> None:
    x = _numbers(name, 7, dtype)
    for attributes in _calls(name):
        found = getattr(elementwise, name)(modules, x, **attributes)
        _agree(found, UNARY[name](x.astype("f8"), **attributes), dtype)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("name", BINARY)
def test_a_function_of_two_arrays(modules: Any, order: str, name: str, dtype: str) -> None:
    x, y = _numbers(name, 7, dtype), _numbers(name, 8, dtype)
    for attributes in _calls(name):
        found = getattr(elementwise, name)(modules, *_given(name, x, y, attributes), **attributes)
        _agree(found, BINARY[name](x.astype("f8"), y.astype("f8"), **attributes), dtype)


SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, -1e-30, 200.0, -200.0, 6.0, 1.0], "f4")


@pytest.mark.parametrize("name", UNARY)
def test_what_is_not_finite_is_as_on_the_cpu(either_modules: Any, name: str) -> None:
    for attributes in _calls(name):
        with np.errstate(all="ignore"):
            expected = REFERENCE(name)(SPECIAL, **attributes)
        np.testing.assert_allclose(
            getattr(elementwise, name)(either_modules, SPECIAL, **attributes), expected, rtol=1e-6
        )


@pytest.mark.parametrize("name", BINARY)
def test_pairs_that_are_not_finite_are_as_on_the_cpu(either_modules: Any, name: str) -> None:
    x, y = (np.ascontiguousarray(part) for part in np.broadcast_arrays(SPECIAL[:, None], SPECIAL))
    for attributes in _calls(name):
        with np.errstate(all="ignore"):
            given = _given(name, x, y, attributes)
            expected = REFERENCE(name)(*given, **attributes)
        found = getattr(elementwise, name)(either_modules, *given, **attributes)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_arrays_with_gaps_of_rank_0_and_without_elements(modules: Any) -> None:
    x = np.arange(20, dtype="f4").reshape(4, 5)
    np.testing.assert_array_equal(elementwise.relu_grad(modules, x.T, x.T - 7), np.where(x.T > 7, x.T, 0))
    assert elementwise.relu6(modules, np.array(9, "f4")).tolist() == 6
    assert elementwise.relu6(modules, np.ones((3, 0), "f4")).shape == (3, 0)


def test_what_the_kernels_do_not_serve_is_declined(modules: Any) -> None:
    x = np.ones((2, 3), "f4")
    assert elementwise.relu6(modules, x.astype("i4")) is NotImplemented
    assert elementwise.relu_grad(modules, x, x[:1]) is NotImplemented
    assert elementwise.relu_grad(modules, x, x.astype("f8")) is NotImplemented


ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "linear": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": UNARY["relu6"],
    "sigmoid": _logistic,
    "tanh": np.tanh,
}


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_product_with_bias_and_activation(modules: Any, order: str, activation: str, dtype: str) -> None:
    rng = np.random.default_rng(7)
    a, b, bias = (rng.integers(-3, 4, shape).astype(numpy_dtype(dtype)) for shape in ((70, 5), (5, 9), (9,)))
    found = fused.matmul_bias(modules, a, b, bias, activation=activation)
    exact = a.astype("f8") @ b.astype("f8") + bias.astype("f8")
    assert found.dtype == a.dtype
    rtol = TOLERANCES[dtype]
    np.testing.assert_allclose(found.astype("f8"), ACTIVATIONS[activation](exact), rtol=rtol, atol=rtol)


def test_products_that_are_not_served_are_declined(modules: Any) -> None:
    a = np.ones((2, 2), "f4")
    assert fused.matmul_bias(modules, a, a, np.ones(4, "f4")[::2], activation="relu") is NotImplemented
    assert fused.matmul_bias(modules, a, a, a[0], activation="elu") is NotImplemented
    assert fused.matmul_bias(modules, a.astype("c8"), a, a[0], activation="relu") is NotImplemented
