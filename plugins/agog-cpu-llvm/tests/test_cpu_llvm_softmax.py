"""Softmax: compiled rows against float64, and by the kit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import agog_core as ag
from agog_core import Tensor
from agog_core.plugin import threads
from agog_cpu_llvm import presence
from agog_cpu_llvm.kernels import softmax
from agog_cpu_numpy import kernels
from agog_testing.conformance import collect

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

OPS = ("softmax", "log_softmax", "softmax_grad", "log_softmax_grad")
ULPS = {"float32": 2.0**-23, "float64": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7}
SHAPES = ((3, 1), (5, 7), (2, 3, 16), (4, 65), (2, 1000), (300, 10), (1, 64))


@pytest.fixture(autouse=True)
def all_sizes(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "llvm"))
    monkeypatch.setattr(softmax, "LEAST", 1)


def kernel(op: str, *arrays: Any) -> Any:
    return softmax.make(op, arrays[0].dtype.name, "cpu:0")(*arrays, axis=arrays[0].ndim - 1)


def of_rows(x: Any) -> tuple[Any, Any]:
    """The softmax and its logarithm, in float64."""
    x = x.astype(np.float64)
    differences = x - x.max(-1, keepdims=True, initial=-np.inf)
    total = np.exp(differences).sum(-1, keepdims=True)
    return np.exp(differences) / total, differences - np.log(total)


@pytest.mark.parametrize("dtype", ULPS)
@pytest.mark.parametrize("spread", [1, 100])
@pytest.mark.parametrize("shape", SHAPES)
def test_values(shape: tuple[int, ...], spread: int, dtype: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    x = (np.random.default_rng(0).standard_normal(shape) * spread).astype(kind)
    shares, logarithms = of_rows(x)
    tolerance = 4 * ULPS[dtype]
    for op, expected in (("softmax", shares), ("log_softmax", logarithms)):
        result = kernel(op, x)
        assert result.dtype == kind
        scale = 1 if op == "softmax" else max(1, np.abs(expected).max(initial=0))
        np.testing.assert_allclose(result.astype(float), expected, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("dtype", ULPS)
@pytest.mark.parametrize("shape", SHAPES)
def test_gradients(shape: tuple[int, ...], dtype: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    random = np.random.default_rng(1)
    g = random.standard_normal(shape).astype(kind)
    shares, logarithms = [each.astype(kind) for each in of_rows(random.standard_normal(shape))]
    wide, s, log = [each.astype(float) for each in (g, shares, logarithms)]
    tolerance = 8 * ULPS[dtype]
    expected = s * (wide - (wide * s).sum(-1, keepdims=True))
    np.testing.assert_allclose(
        kernel("softmax_grad", g, shares).astype(float), expected, rtol=tolerance, atol=tolerance
    )
    total = wide.sum(-1, keepdims=True)
    expected, size = wide - np.exp(log) * total, max(1, np.abs(total).max(initial=0))
    result = kernel("log_softmax_grad", g, logarithms).astype(float)
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance * size)


def test_rows_with_nan_or_an_infinite_maximum_are_nan_and_no_others() -> None:
    x = np.random.default_rng(0).standard_normal((5, 100)).astype(np.float32)
    x[0, 3], x[1, 70], x[2], x[3, 5] = np.nan, np.inf, -np.inf, -np.inf
    for op, zero in (("softmax", 0.0), ("log_softmax", -np.inf)):
        result = kernel(op, x)
        assert np.isnan(result[:3]).all()
        assert result[3, 5] == zero
        assert not np.isnan(result[3:]).any()


@pytest.mark.parametrize("op", OPS)
def test_the_reference_runs_small_calls_other_axes_and_strides(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = softmax.make(op, "float32", "cpu:0")
    random = np.random.default_rng(0)
    arrays = [random.standard_normal((4, 6)).astype(np.float32) for _ in range(2 if op.endswith("grad") else 1)]
    reference = getattr(kernels, op)
    np.testing.assert_array_equal(function(*arrays, axis=0), reference(*arrays, axis=0))
    turned = [array.T for array in arrays]
    np.testing.assert_array_equal(function(*turned, axis=1), reference(*turned, axis=1))
    monkeypatch.setattr(softmax, "LEAST", 25)
    np.testing.assert_array_equal(function(*arrays, axis=1), reference(*arrays, axis=1))


def test_bits_are_the_same_at_any_number_of_threads() -> None:
    x = np.random.default_rng(0).standard_normal((301, 203)).astype(np.float32)
    try:
        threads.set_count(1)
        alone = kernel("softmax", x)
        threads.set_count(3)
        np.testing.assert_array_equal(alone, kernel("softmax", x))
    finally:
        threads.set_count(0)


@pytest.mark.parametrize("function", [ag.nn.softmax, ag.nn.log_softmax])
def test_traced_functions_and_second_derivatives_have_the_bits_of_eager_ones(function: Any) -> None:
    x = ag.constant(np.random.default_rng(0).standard_normal((64, 256)).astype(np.float32))

    def step(x: Tensor) -> tuple[Tensor, ...]:
        with ag.GradientTape() as outer:
            outer.watch(x)
            with ag.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            first = tape.gradient(y, x, y * y)
        return y, first, outer.gradient(first, x)

    for eager, traced in zip(step(x), ag.function(step)(x), strict=True):
        assert eager.numpy().any()
        np.testing.assert_array_equal(eager.numpy(), traced.numpy())


@pytest.mark.parametrize("op", OPS)
def test_traced_functions_take_small_calls_apart(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax, "LEAST", 25)
    lower = getattr(softmax, f"lower_{op}")
    x = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    arrays = (x, x) if op.endswith("grad") else (x,)
    np.testing.assert_array_equal(lower(*arrays, axis=1), getattr(kernels, op)(*arrays, axis=1))
    with pytest.raises(NotImplementedError):
        lower(*[np.ones((5, 6), np.float32)] * len(arrays), axis=1)


@pytest.mark.parametrize("op", OPS)
def test_the_kit(op: str) -> None:
    ended = [(case.id, case.run()) for case in collect("cpu-llvm", [op], ["float32", "float16"])]
    assert len(ended) > 20
    assert not [(name, outcome) for name, outcome in ended if outcome.kind not in ("passed", "skipped")]
