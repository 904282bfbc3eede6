"""Attention: beside float64 by hand, whatever the sizes, the layouts, the dtype, the mask and the threads."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.nn.attention import dot_product_attention
from agog_core.plugin import threads
from agog_cpu_llvm import presence
from agog_cpu_llvm.kernels import attention

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

Array = np.ndarray[Any, Any]
# The batch, queries, keys, depth and the size of values, around those of tiles and blocks.
SIZES = [
    ((2, 3), 64, 64, 32, 32),
    ((3,), 128, 130, 64, 64),
    ((2, 2), 100, 77, 20, 33),
    ((), 300, 513, 1, 16),
    ((1, 2), 513, 300, 80, 1),
    ((), 1, 8300, 3, 300),
    ((1, 1), 8300, 1, 300, 3),
]
TOLERANCES = {"float64": 1e-13, "float32": 2e-5, "float16": 1e-2, "bfloat16": 8e-2}
NAMES = ("query", "key", "value")


@pytest.fixture(autouse=True)
def number() -> Iterator[None]:
    yield
    threads.set_count(0)


def normal(dtype: str, *shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(ag.as_dtype(dtype).as_numpy_dtype)


def case(dtype: str, batch: Any, queries: int, keys: int, depth: int, width: int) -> list[Array]:
    """The gradients, queries, keys and values."""
    shapes = ((queries, width), (queries, depth), (keys, depth), (keys, width))
    return [normal(dtype, *batch, *shape, seed=seed) for seed, shape in enumerate(shapes)]


def exact(given: list[Array], mask: Array | None, factor: float, is_causal: bool) -> list[Array]:
    """The result and the gradients, in float64."""
    g, q, k, v = (array.astype(np.float64) for array in given)
    scores = np.einsum("...qd,...kd->...qk", q, k) * factor
    scores = scores if mask is None else scores + mask.astype(np.float64)
    if is_causal:
        scores[..., np.triu(np.ones(scores.shape[-2:], bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    slopes = np.einsum("...qv,...kv->...qk", g, v)
    slopes = weights * (slopes - (weights * slopes).sum(-1, keepdims=True)) * factor
    of_key, of_value = (np.einsum("...qk,...qd->...kd", *pair) for pair in ((slopes, q), (weights, g)))
    return [np.einsum("...qk,...kv->...qv", weights, v), np.einsum("...qk,...kd->...qd", slopes, k), of_key, of_value]


def computed(given: list[Array], mask: Array | None, factor: float, is_causal: bool) -> list[Array]:
    """The same by the kernels."""
    dtype = ag.as_dtype(given[0].dtype).name
    bias = np.empty(0, given[0].dtype) if mask is None else mask
    forward, backward = (
        attention.make(op, dtype, "cpu:0") for op in ("dot_product_attention", "dot_product_attention_grad")
    )
    form = {"factor": factor, "is_causal": is_causal}
    return [forward(*given[1:], bias, **form), *backward(*given, bias, **form, sources=NAMES)]


def assert_near(got: list[Array], wanted: list[Array], dtype: str) -> None:
    for one, other in zip(got, wanted, strict=True):
        size = max(1.0, float(np.abs(other).max(initial=0)))
        np.testing.assert_allclose(one.astype(np.float64), other, rtol=0, atol=TOLERANCES[dtype] * size)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_against_float64(sizes: Any, is_causal: bool, dtype: str) -> None:
    given = case(dtype, *sizes)
    assert_near(computed(given, None, 0.2, is_causal), exact(given, None, 0.2, is_causal), dtype)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("shape", [(77,), (100, 77), (2, 1, 1, 77), (1, 2, 100, 1), (2, 2, 100, 77), (1,)])
def test_masks_that_broadcast(shape: tuple[int, ...], is_causal: bool) -> None:
    given, mask = case("float32", *SIZES[2]), normal("float32", *shape, seed=9)
    assert_near(computed(given, mask, 0.2, is_causal), exact(given, mask, 0.2, is_causal), "float32")


def test_heads_that_lie_side_by_side_are_read_and_written_as_they_lie() -> None:
    given = [normal("float32", 2, 64, 3, 32, seed=n).transpose(0, 2, 1, 3) for n in range(4)]
    got = computed(given, None, 0.2, False)
    assert_near(got, exact(given, None, 0.2, False), "float32")
    assert all(array.transpose(0, 2, 1, 3).flags.c_contiguous for array in got)
    dense = computed([np.ascontiguousarray(array) for array in given], None, 0.2, False)
    for one, other in zip(got, dense, strict=True):
        np.testing.assert_array_equal(one, other)


def test_views_and_arrays_that_begin_anywhere() -> None:
    wide = normal("float32", 2, 70, 3 * 40)
    parts = [wide[..., start : start + 33] for start in (0, 40, 80)]
    bytes_ = np.zeros(2 * 70 * 33 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(2, 70, 33)
    bytes_[...] = normal("float32", 2, 70, 33, seed=8)
    askew = normal("float32", 2, 70, 66)[..., ::2]
    turned = normal("float32", 33, 70, 2).T
    for value in (parts[2], bytes_, askew, turned, parts[2][:, ::-1], np.broadcast_to(parts[2][:1], (2, 70, 33))):
        given = [value, parts[0], parts[1], value]
        assert_near(computed(given, None, 0.2, False), exact(given, None, 0.2, False), "float32")


@pytest.mark.parametrize("is_causal", [False, True])
def test_bits_do_not_depend_on_threads(is_causal: bool) -> None:
    given = case("float32", (2,), 1100, 300, 20, 24)
    results = []
    for count in (1, 2, 3, 8):
        threads.set_count(count)
        results.append([array.tobytes() for array in computed(given, None, 0.2, is_causal)])
    assert all(result == results[0] for result in results)


def test_nan_and_infinity_stay_in_their_rows() -> None:
    given = case("float32", *SIZES[2])
    given[1][0, 0, 3, 2] = np.nan
    mask = np.zeros((100, 77), np.float32)
    mask[5], mask[6, 1:] = -np.inf, -np.inf
    out, of_query, of_key, _ = computed(given, mask, 0.2, False)
    bad = np.zeros((2, 2, 100), bool)
    bad[0, 0, 3] = bad[:, :, 5] = True
    np.testing.assert_array_equal(np.isnan(out).all(-1), bad)
    np.testing.assert_array_equal(np.isnan(out).any(-1), bad)
    np.testing.assert_array_equal(np.isnan(of_query).any(-1), bad)
    np.testing.assert_allclose(out[:, :, 6], given[3][:, :, 0], rtol=1e-6)
    assert np.isnan(of_key).any()


def test_large_scores_do_not_overflow() -> None:
    given = [array * 30 for array in case("float32", *SIZES[0])]
    assert_near(computed(given, None, 0.2, False)[:1], exact(given, None, 0.2, False)[:1], "float32")


@pytest.mark.parametrize("sources", [("query",), ("key",), ("value",), ("query", "value")])
def test_some_gradients(sources: tuple[str, ...]) -> None:
    given = case("float32", *SIZES[2])
    every = dict(zip(NAMES, computed(given, None, 0.2, True)[1:], strict=True))
    kernel = attention.make("dot_product_attention_grad", "float32", "cpu:0")
    some = kernel(*given, np.empty(0, np.float32), factor=0.2, is_causal=True, sources=sources)
    for name, gradient in zip(sources, some, strict=True):
        np.testing.assert_array_equal(gradient, every[name])


def test_more_axes_than_are_walked_are_those_of_the_reference() -> None:
    given = case("float32", (2, 2, 2), 40, 50, 8, 8)
    assert_near(computed(given, None, 0.2, False), exact(given, None, 0.2, False), "float32")


def test_memory_does_not_grow_with_the_matrix_of_weights() -> None:
    given = case("float32", (), 4096, 4096, 8, 8)
    computed(given, None, 0.2, False)
    tracemalloc.start()
    computed(given, None, 0.2, False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4096 * 4096 * 4 / 8


def test_traced_and_eager_have_the_same_bits() -> None:
    _, q, k, v = (ag.constant(array) for array in case("float32", *SIZES[0]))

    def gradients(*tensors: Any) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(tensors)
            out = dot_product_attention(*tensors, is_causal=True)
            loss = ag.reduce_sum(out * out)
        return out, tape.gradient(loss, tensors)

    traced = ag.function(gradients)
    for _ in range(3):
        got = traced(q, k, v)
    for one, other in zip(ag.nest.flatten(got), ag.nest.flatten(gradients(q, k, v)), strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_second_order_is_that_of_the_composition() -> None:
    _, q, k, v = (ag.constant(array) for array in case("float64", (2,), 80, 60, 4, 3))

    def composed(*tensors: Any) -> Any:
        query, key, value = tensors
        return ag.matmul(ag.nn.softmax(ag.matmul(query, key, transpose_b=True) * 0.5), value)

    def twice(function: Any) -> Any:
        tensors = q, k, v
        with ag.GradientTape() as outer:
            outer.watch(tensors)
            with ag.GradientTape() as inner:
                inner.watch(tensors)
                loss = ag.reduce_sum(ag.square(function(*tensors)))
            first = inner.gradient(loss, tensors)
            total = ag.add_n([ag.reduce_sum(ag.square(each)) for each in first])
        return outer.gradient(total, tensors)

    for one, other in zip(twice(dot_product_attention), twice(composed), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-12)
