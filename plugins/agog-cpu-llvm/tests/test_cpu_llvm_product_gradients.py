"""Product gradients: float64 by hand, and the bits of the parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.nn.fused import matmul_bias
from agog_cpu_llvm import presence
from agog_cpu_llvm.kernels import product_gradients, products
from agog_cpu_numpy import kernels as reference

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

# Rows, columns and inputs: of few rows, of rows in groups with a rest and without, of part of a vector, and small ones.
SIZES = (
    (128, 256, 784),
    (300, 70, 30),
    (257, 65, 5),
    (1000, 80, 16),
    (289, 300, 2),
    (1, 5000, 3),
    (128, 10, 256),
    (5, 3, 2),
)
ALL = ("a", "b", "bias")


def arrays(size: tuple[int, int, int], dtype: str) -> tuple[np.ndarray, ...]:
    (rows, columns, inputs), random = size, np.random.default_rng(2)
    shapes = (rows, columns), (rows, inputs), (inputs, columns), (rows, columns)
    return tuple(random.normal(0, 3, shape).astype(dtype) for shape in shapes)


def by_hand(g: np.ndarray, a: np.ndarray, b: np.ndarray, out: np.ndarray, activation: str) -> list[np.ndarray]:
    g, a, b, out = (array.astype(np.float64) for array in (g, a, b, out))
    slopes = {"linear": 1.0, "relu": out > 0, "relu6": (out > 0) & (out < 6), "tanh": 1 - out**2}
    g = g * slopes[activation]
    return [g @ b.T, a.T @ g, g.sum(0)]


@pytest.mark.parametrize("activation", ["linear", "relu", "relu6", "tanh"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES)
def test_gradients_have_the_bits_of_their_parts(size: tuple[int, int, int], dtype: str, activation: str) -> None:
    g, a, b, out = arrays(size, dtype)
    got = product_gradients.make("matmul_bias_grad", dtype, "cpu:0")(g, a, b, out, activation=activation, sources=ALL)
    matmul = products.make("matmul", dtype, "cpu:0")
    slope = g if activation == "linear" else getattr(reference, f"{activation}_grad")(g, out)
    parts = (
        matmul(slope, b, transpose_a=False, transpose_b=True),
        matmul(a, slope, transpose_a=True, transpose_b=False),
        reference.sum_to(slope, shape=(size[1],)),
    )
    tolerance = 1e-3 if dtype == "float32" else 1e-10
    for array, part, exact in zip(got, parts, by_hand(g, a, b, out, activation), strict=True):
        np.testing.assert_array_equal(array, part)
        np.testing.assert_allclose(array, exact, rtol=tolerance, atol=tolerance)


def test_no_number_is_passed_where_the_activation_is_flat() -> None:
    g, a, b, out = arrays((128, 256, 4), "float32")
    out[0, :3], g[0, :3] = [-1.0, np.nan, 1.0], [np.nan, np.inf, np.nan]
    kernel = product_gradients.make("matmul_bias_grad", "float32", "cpu:0")
    (bias,) = kernel(g, a, b, out, activation="relu", sources=("bias",))
    np.testing.assert_array_equal(np.isnan(bias[:3]), [False, False, True])
    np.testing.assert_array_equal(bias, reference.sum_to(reference.relu_grad(g, out), shape=(256,)))


def test_what_lies_in_another_order_is_answered_by_the_reference() -> None:
    g, a, b, out = arrays((128, 256, 4), "float32")
    kernel = product_gradients.make("matmul_bias_grad", "float32", "cpu:0")
    turned = kernel(np.asfortranarray(g), a, b, out, activation="relu", sources=ALL)
    for array, same in zip(turned, kernel(g, a, b, out, activation="relu", sources=ALL), strict=True):
        np.testing.assert_allclose(array, same, rtol=1e-5, atol=1e-4)


def test_traced_gradients_and_those_of_second_order_have_the_bits_of_eager_ones() -> None:
    random = np.random.default_rng(3)
    x, w, bias = (ag.constant(random.normal(size=shape).astype("float32")) for shape in ((96, 300), (300, 80), (80,)))

    def step(x: ag.Tensor, w: ag.Tensor, bias: ag.Tensor) -> Any:
        with ag.GradientTape() as outer:
            outer.watch(w)
            with ag.GradientTape() as inner:
                inner.watch([w, bias])
                y = ag.reduce_sum(matmul_bias(x, w, bias, "relu") ** 2)
            first = inner.gradient(y, [w, bias])
            total = ag.reduce_sum(first[0] ** 2)
        return *first, outer.gradient(total, w)

    wanted, traced = step(x, w, bias), ag.function(step)
    for _ in range(4):
        for got, expected in zip(traced(x, w, bias), wanted, strict=True):
            np.testing.assert_array_equal(got.numpy(), expected.numpy())
