"""Gelu: values and gradients beside float64 by hand, whatever the size, the dtype and the number of threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import agog_core as ag
from agog_core.plugin import threads
from agog_cpu_llvm import presence
from agog_cpu_llvm.kernels import gelu

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

SPREAD = np.concatenate([np.linspace(-16, 16, 40_001), np.logspace(-30, 1.2, 4_001), -np.logspace(-30, 1.2, 4_001)])
SPECIAL = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-42, 3e38, -3e38, 13.19, -13.2, -1e5])


def exact(x: np.ndarray, is_approximate: bool) -> tuple[np.ndarray, np.ndarray]:
    """The function and its derivative, in float64."""
    if not is_approximate:
        return x * ndtr(x), ndtr(x) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    root = math.sqrt(2 / math.pi)
    tanh = np.tanh(root * (x + 0.044715 * x**3))
    return 0.5 * x * (1 + tanh), 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh**2) * root * (1 + 3 * 0.044715 * x**2)


def kernel(op: str, dtype: str = "float32") -> Any:
    return gelu.make(op, dtype, "cpu")


@pytest.mark.parametrize("is_approximate", [False, True])
def test_float32_is_within_a_few_ulps(is_approximate: bool) -> None:
    x = SPREAD.astype(np.float32)
    value, slope = exact(x.astype(np.float64), is_approximate)
    got = kernel("gelu")(x, approximate=is_approximate)
    # Where the probability of a negative number is small, tanh in float64 has lost its digits, not the kernel.
    sure = (x > -5) if is_approximate else abs(value) > 2e-37
    np.testing.assert_allclose(got[sure], value[sure], rtol=2e-6, atol=0)
    np.testing.assert_allclose(got, value, rtol=0, atol=2e-6)
    ones = np.ones_like(x)
    np.testing.assert_allclose(kernel("gelu_grad")(ones, x, x, approximate=is_approximate), slope, rtol=0, atol=3e-6)
    tripled = kernel("gelu_grad")(3 * ones, x, x, approximate=is_approximate)
    np.testing.assert_allclose(tripled, 3 * slope, rtol=0, atol=9e-6)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 1e-3), ("bfloat16", 8e-3)])
@pytest.mark.parametrize("is_approximate", [False, True])
def test_half_precision_is_rounded_once(dtype: str, tolerance: float, is_approximate: bool) -> None:
    kind = ag.as_dtype(dtype).as_numpy_dtype
    x = np.linspace(-8, 8, 5_001).astype(kind)
    value, slope = exact(x.astype(np.float64), is_approximate)
    got = kernel("gelu", dtype)(x, approximate=is_approximate)
    assert got.dtype == kind
    np.testing.assert_allclose(got.astype(np.float64), value, rtol=tolerance, atol=1e-6)
    gradient = kernel("gelu_grad", dtype)(np.ones_like(x), x, x, approximate=is_approximate)
    np.testing.assert_allclose(gradient.astype(np.float64), slope, rtol=tolerance, atol=1e-5)


@pytest.mark.parametrize("is_approximate", [False, True])
@pytest.mark.parametrize("op", ["gelu", "gelu_grad"])
def test_odd_numbers_are_answered_as_by_the_reference(op: str, is_approximate: bool) -> None:
    from agog_cpu_numpy import kernels

    x = np.resize(SPECIAL, 4_096 + 7)
    arrays = [x] if op == "gelu" else [np.ones_like(x), x, kernels.gelu(x, approximate=is_approximate)]
    with np.errstate(all="ignore"):
        wanted = getattr(kernels, op)(*arrays, approximate=is_approximate)
    np.testing.assert_allclose(kernel(op)(*arrays, approximate=is_approximate), wanted, rtol=1e-6, atol=1e-30)


@pytest.mark.parametrize("size", [4_096, 4_097, 16_384, 16_399, 100_003])
def test_every_element_is_written_and_none_beside(size: int) -> None:
    memory = np.full(size + 2, 7, np.float32)
    x = np.linspace(-4, 4, size, dtype=np.float32)
    assert kernel("gelu")(x, memory[1:-1], approximate=False) is None
    np.testing.assert_allclose(memory[1:-1], exact(x.astype(np.float64), False)[0], rtol=0, atol=1e-6)
    assert memory[0] == memory[-1] == 7


def test_any_number_of_threads_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).normal(size=200_003).astype(np.float32)
    results = []
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "count", lambda count=count: count)
        results.append(kernel("gelu_grad")(x, x, x, approximate=False))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_small_and_strided_calls_are_left_to_the_reference() -> None:
    x = np.zeros((128, 128), np.float32)
    assert kernel("gelu")(x[:8], approximate=False) is NotImplemented
    assert kernel("gelu")(x.T[:, :100], approximate=False) is NotImplemented
    assert kernel("gelu_grad")(x.T[:, :100], x[:, :100], x[:, :100], approximate=False) is NotImplemented


def test_second_derivatives_go_through_the_kernel() -> None:
    x = ag.constant(np.linspace(-3, 3, 5_000))
    x = ag.cast(x, ag.float32)
    with ag.GradientTape() as outer:
        outer.watch(x)
        with ag.GradientTape() as inner:
            inner.watch(x)
            y = ag.nn.gelu(x)
        first = inner.gradient(y, x)
    given = x.numpy().astype(np.float64)
    density = np.exp(-given * given / 2) / math.sqrt(2 * math.pi)
    np.testing.assert_allclose(first.numpy(), exact(given, False)[1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(outer.gradient(first, x).numpy(), density * (2 - given * given), rtol=0, atol=1e-6)


def test_traced_code_has_the_bits_of_eager_code() -> None:
    x = ag.constant(np.random.default_rng(1).normal(size=(70, 130)).astype(np.float32))

    def step(x: ag.Tensor) -> ag.Tensor:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = ag.nn.gelu(x * 2.0) + 1.0
        return tape.gradient(y, x)

    wanted, traced = step(x).numpy(), ag.function(step)
    for _ in range(4):
        np.testing.assert_array_equal(traced(x).numpy(), wanted)
