"""Products: beside float64 by hand, whatever the sizes, the orders of the operands, the dtype and the threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.nn.fused import matmul_bias
from agog_core.plugin import threads
from agog_cpu_llvm import presence, registers
from agog_cpu_llvm.kernels import products

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

# Sizes around those of a tile, a panel, a block, and of the depth that is summed at once.
SIZES = [(128, 128, 128), (511, 513, 24), (24, 6000, 65), (1025, 31, 70), (129, 257, 1031), (700, 3, 1000)]
TOLERANCES = {"float64": 1e-14, "float32": 5e-6, "float16": 5e-3, "bfloat16": 4e-2}
ORDERS = [(False, False), (True, False), (False, True), (True, True)]


@pytest.fixture(autouse=True)
def number() -> Iterator[None]:
    yield
    threads.set_count(0)


def normal(dtype: str, *shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(ag.as_dtype(dtype).as_numpy_dtype)


def pair(dtype: str, size: tuple[int, int, int], order: tuple[bool, bool], *batch: int) -> tuple[Any, Any]:
    rows, depth, columns = size
    left, right = normal(dtype, *batch, rows, depth), normal(dtype, *batch, depth, columns, seed=1)
    turned = [
        np.ascontiguousarray(x.swapaxes(-1, -2)) if turn else x for x, turn in zip((left, right), order, strict=True)
    ]
    return turned[0], turned[1]


def exact(a: np.ndarray, b: np.ndarray, order: tuple[bool, bool] = (False, False)) -> np.ndarray:
    left, right = a.astype(np.float64), b.astype(np.float64)
    return (left.swapaxes(-1, -2) if order[0] else left) @ (right.swapaxes(-1, -2) if order[1] else right)


def product(a: np.ndarray, b: np.ndarray, order: tuple[bool, bool] = (False, False)) -> Any:
    kernel = products.make("matmul", ag.as_dtype(a.dtype).name, "cpu:0")
    return kernel(a, b, transpose_a=order[0], transpose_b=order[1])


def assert_near(got: np.ndarray, wanted: np.ndarray, depth: int) -> None:
    tolerance = TOLERANCES[ag.as_dtype(got.dtype).name] * max(depth, 1) ** 0.5
    np.testing.assert_allclose(got.astype(np.float64), wanted, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", SIZES)
def test_values(size: tuple[int, int, int], order: tuple[bool, bool], dtype: str) -> None:
    a, b = pair(dtype, size, order)
    got = product(a, b, order)
    assert (got.shape, got.dtype) == ((size[0], size[2]), a.dtype)
    assert_near(got, exact(a, b, order), size[1])


@pytest.mark.parametrize("bytes_", [16, 32])
@pytest.mark.parametrize("order", ORDERS)
def test_values_on_processors_with_narrower_registers(
    order: tuple[bool, bool], bytes_: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if bytes_ > registers.register_bytes():
        pytest.skip("This processor has no such registers.")
    products._plan.cache_clear()
    monkeypatch.setattr(registers, "register_bytes", lambda: bytes_)
    try:
        a, b = pair("float32", (129, 257, 131), order)
        assert_near(product(a, b, order), exact(a, b, order), 257)
    finally:
        products._plan.cache_clear()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", SIZES)
def test_bits_are_the_same_at_any_number_of_threads(size: tuple[int, int, int], order: tuple[bool, bool]) -> None:
    a, b = pair("float32", size, order)
    results = []
    for count in (1, 2, 3, 8):
        threads.set_count(count)
        results.append(product(a, b, order).tobytes())
    assert len(set(results)) == 1


def test_bits_of_a_row_do_not_depend_on_the_others() -> None:
    a, b = pair("float32", (512, 300, 200), (False, False))
    np.testing.assert_array_equal(product(a, b)[37:137], product(a[37:137].copy(), b))


@pytest.mark.parametrize("order", ORDERS)
def test_batches(order: tuple[bool, bool]) -> None:
    a, b = pair("float32", (70, 80, 90), order, 2, 3, 4)
    wanted = exact(a, b, order)
    assert_near(product(a, b, order), wanted, 80)
    assert_near(product(a, b[1, 2, 3], order), exact(a, b[1, 2, 3], order), 80)
    assert_near(product(a[0], b[0, :, :1], order), exact(a[0], b[0, :, :1], order), 80)
    heads = np.ascontiguousarray(a[0].transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)  # lie as those of attention
    assert_near(product(heads, b[0], order), wanted[0], 80)


def test_a_batch_times_a_matrix_has_the_bits_of_one_product() -> None:
    a, b = normal("float32", 2, 3, 70, 80), normal("float32", 80, 90, seed=1)
    np.testing.assert_array_equal(product(a, b).reshape(-1, 90), product(a.reshape(-1, 80), b))
    wide = np.ascontiguousarray(a.transpose(1, 0, 2, 3)).transpose(1, 0, 2, 3)
    np.testing.assert_array_equal(product(wide, b), product(a, b))


def test_batches_of_more_axes_than_are_walked_are_those_of_the_reference() -> None:
    a, b = normal("float32", 3, 4, 5, 70, 80), normal("float32", 80, 90)
    askew = a.transpose(2, 1, 0, 3, 4)
    np.testing.assert_array_equal(product(askew, b), np.matmul(askew, b))


def test_views() -> None:
    base, right = normal("float32", 400, 500), normal("float32", 300, 150)
    for left in (base[7:207, 11:311], base[::2][:150, :300], base[::-1][:200, 1:301], base.T[:300, :200].T):
        assert_near(product(left, right[: left.shape[1]]), exact(left, right[: left.shape[1]]), 300)
    askew, other = base[:, ::2], normal("float32", 250, 100)
    np.testing.assert_array_equal(product(askew, other), askew.dot(other))
    bytes_ = np.zeros(300 * 150 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(300, 150)
    bytes_[...] = right
    assert_near(product(base[:, :300], bytes_), exact(base[:, :300], right), 300)


@pytest.mark.parametrize("count", [1, 2])
def test_every_element_is_written_and_none_beside(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    threads.set_count(count)
    for size in SIZES:
        a, b = pair("float32", size, (False, False))
        memory = np.full(size[0] * size[2] + 32, np.nan, np.float32)
        inner = memory[16:-16].reshape(size[0], size[2])
        monkeypatch.setattr(products, "_empty", lambda shape, dtype, inner=inner: inner)
        assert product(a, b) is inner
        assert np.isnan(memory[:16]).all()
        assert np.isnan(memory[-16:]).all()
        assert_near(inner, exact(a, b), size[1])


def test_odd_numbers_stay_in_their_rows_and_columns() -> None:
    a, b = pair("float32", (130, 300, 140), (False, False))
    a[3, 5], a[9, 0], b[299, 139] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.isfinite(product(a, b)), np.isfinite(exact(a, b)))


@pytest.mark.parametrize(("rows", "columns"), [(23, 4096), (4096, 23), (64, 64)])
def test_small_and_narrow_products_are_those_of_the_reference(rows: int, columns: int) -> None:
    a, b = normal("float32", rows, 100), normal("float32", 100, columns)
    np.testing.assert_array_equal(product(a, b), a.dot(b))


@pytest.mark.parametrize("activation", ["linear", "relu", "relu6", "sigmoid", "tanh"])
def test_a_bias_and_an_activation(activation: str) -> None:
    a, b = pair("float32", (200, 300, 150), (False, False))
    bias = normal("float32", 150, seed=2)
    sums = exact(a, b) + bias
    wanted = {
        "linear": sums,
        "relu": np.maximum(sums, 0),
        "relu6": np.clip(sums, 0, 6),
        "sigmoid": 1 / (1 + np.exp(-sums)),
        "tanh": np.tanh(sums),
    }[activation]
    kernel = products.make("matmul_bias", "float32", "cpu:0")
    got = kernel(a, b, bias, activation=activation)
    assert_near(got, wanted, 300)
    assert_near(kernel(a, b, np.repeat(bias, 2)[::2], activation=activation), wanted, 300)


def test_a_bias_has_the_bits_of_an_addition() -> None:
    a, b = pair("float32", (200, 700, 150), (False, False))
    bias = normal("float32", 150, seed=2)
    fused = products.make("matmul_bias", "float32", "cpu:0")(a, b, bias, activation="relu")
    np.testing.assert_array_equal(fused, np.maximum(product(a, b) + bias, 0))


@pytest.mark.parametrize("size", [(200, 700, 150), (20, 30, 40)])
def test_traced_functions_have_the_bits_of_eager_calls(size: tuple[int, int, int]) -> None:
    a, b = pair("float32", size, (False, False))
    bias = ag.constant(normal("float32", size[2], seed=2))

    def step(a: ag.Tensor, b: ag.Tensor) -> Any:
        with ag.GradientTape() as tape:
            tape.watch([a, b])
            loss = ag.reduce_sum(matmul_bias(a, b, bias, "relu") * ag.matmul(a, b))
        return loss, tape.gradient(loss, [a, b])

    traced, x, y = ag.function(step), ag.constant(a), ag.constant(b)
    for _ in range(3):
        for one, other in zip(ag.nest.flatten(traced(x, y)), ag.nest.flatten(step(x, y)), strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_gradients() -> None:
    a, b = pair("float64", (150, 160, 170), (False, False))
    x, y = ag.constant(a), ag.constant(b)
    g = normal("float64", 150, 170, seed=3)
    with ag.GradientTape() as tape:
        tape.watch([x, y])
        loss = ag.reduce_sum(ag.matmul(x, y) * g)
    da, db = tape.gradient(loss, [x, y])
    np.testing.assert_allclose(da.numpy(), g @ b.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(db.numpy(), a.T @ g, rtol=0, atol=1e-12)
