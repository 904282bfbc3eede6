"""Normalization: compiled rows and columns against long doubles, and by the kit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import Tensor
from agog_core.ops.nn.affine import standardize_affine
from agog_core.plugin import threads
from agog_cpu_llvm import presence
from agog_cpu_llvm.kernels import normalization
from agog_testing.conformance import collect

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

OPS = ("standardize_affine", "standardize_affine_grad", "standardize", "standardize_grad")
ULPS = {"float32": 2.0**-23, "float64": 2.0**-52}
EPSILON = 1e-3
CASES: tuple[Any, ...] = (
    ((5, 7), (1,)),
    ((5, 7), (0,)),
    ((4, 3, 100), (2,)),
    ((4, 3, 100), (1, 2)),
    ((8, 9, 9, 70), (0, 1, 2)),
    ((3000, 96), (0,)),  # several blocks of rows
    ((300, 768), (1,)),
    ((20_000, 3), (0,)),
)


@pytest.fixture(autouse=True)
def all_sizes(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "llvm"))
    monkeypatch.setattr(normalization, "LEAST", 1)


def given(shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> list[Any]:
    """x, a gradient, a scale and an offset."""
    random = np.random.default_rng(0)
    weights = shape[-len(axes) :] if axes[-1] == len(shape) - 1 else shape[len(axes) :]
    arrays = (
        random.standard_normal(shape) * 2 + 3,
        random.standard_normal(shape),
        *random.standard_normal((2, *weights)),
    )
    return [array.astype(dtype) for array in arrays]


@pytest.mark.parametrize("dtype", ULPS)
@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_values(shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> None:
    x, _, scale, offset = given(shape, axes, dtype)
    found = normalization.make(OPS[0], dtype, "cpu:0")(x, scale, offset, axes=axes, epsilon=EPSILON)
    wide = x.astype(np.longdouble)
    mean, variance = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
    expected = (wide - mean) / np.sqrt(variance + EPSILON) * scale + offset
    for result, wanted in zip(found, (expected, mean, variance), strict=True):
        assert result.dtype == np.dtype(dtype)
        np.testing.assert_allclose(result, wanted, rtol=0, atol=16 * ULPS[dtype] * max(1, np.abs(wanted).max()))


@pytest.mark.parametrize("dtype", ULPS)
@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_gradients(shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> None:
    x, g, scale, _ = given(shape, axes, dtype)
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    found = normalization.make(OPS[1], dtype, "cpu:0")(g, x, scale, mean, variance, axes=axes, epsilon=EPSILON)
    wide, h, root = (
        x.astype(np.longdouble),
        g.astype(np.longdouble) * scale,
        1 / np.sqrt(variance.astype(np.longdouble) + EPSILON),
    )
    s = (wide - mean) * root
    of_x = root * (h - h.mean(axes, keepdims=True) - s * (h * s).mean(axes, keepdims=True))
    kept = tuple(range(x.ndim - scale.ndim))
    sums = (g * s).sum(kept), g.sum(kept, np.longdouble)
    scales = np.abs(of_x).max() * 16, np.abs(g * s).sum(kept).max(), np.abs(g).sum(kept).max()
    for result, wanted, size in zip(found, (of_x, *sums), scales, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=0, atol=ULPS[dtype] * size)


def test_only_what_has_nan_is_nan() -> None:
    x, _, scale, offset = given((40, 30), (0,), "float32")
    x[3, 4] = np.nan
    by_columns = normalization.make(OPS[0], "float32", "cpu:0")(x, scale, offset, axes=(0,), epsilon=EPSILON)[0]
    assert np.array_equal(np.isnan(by_columns).all(0), np.arange(30) == 4)
    assert np.isnan(by_columns).sum() == 40
    by_rows = normalization.make(OPS[0], "float32", "cpu:0")(x, scale, offset, axes=(1,), epsilon=EPSILON)[0]
    assert np.isnan(by_rows).sum() == 30


def test_what_it_declines(monkeypatch: pytest.MonkeyPatch) -> None:
    function = normalization.make(OPS[0], "float32", "cpu:0")
    x, weight = np.ones((4, 6, 5), np.float32), np.ones(5, np.float32)
    assert function(x, weight, weight, axes=(1,), epsilon=0.1) is NotImplemented
    assert function(x, weight, weight, axes=(0, 1, 2), epsilon=0.1) is NotImplemented
    assert function(x.swapaxes(0, 1), weight, weight, axes=(0, 1), epsilon=0.1) is NotImplemented
    assert function(x, weight[:1], weight[:1], axes=(2,), epsilon=0.1) is NotImplemented
    monkeypatch.setattr(normalization, "LEAST", 121)
    assert function(x, weight, weight, axes=(2,), epsilon=0.1) is NotImplemented


@pytest.mark.parametrize("axes", [(0,), (1,)])
def test_bits_are_the_same_at_any_number_of_threads(axes: tuple[int, ...]) -> None:
    x, g, scale, offset = given((3000, 96), axes, "float32")

    def results() -> list[Any]:
        form: dict[str, Any] = {"axes": axes, "epsilon": EPSILON}
        out = normalization.make(OPS[0], "float32", "cpu:0")(x, scale, offset, **form)
        return [*out, *normalization.make(OPS[1], "float32", "cpu:0")(g, x, scale, *out[1:], **form)]

    try:
        threads.set_count(1)
        alone = results()
        threads.set_count(3)
        for mine, other in zip(alone, results(), strict=True):
            np.testing.assert_array_equal(mine, other)
    finally:
        threads.set_count(0)


@pytest.mark.parametrize("axes", [0, 1])
def test_traced_functions_and_second_derivatives_have_the_bits_of_eager_ones(axes: int) -> None:
    x, _, scale, offset = (ag.constant(array) for array in given((64, 64), (axes,), "float32"))

    def step(x: Tensor, scale: Tensor, offset: Tensor) -> tuple[Tensor, ...]:
        with ag.GradientTape() as outer:
            outer.watch([x, scale])
            with ag.GradientTape() as tape:
                tape.watch([x, scale])
                y = standardize_affine(x, scale, offset, axes)[0]
            first = tape.gradient(y, [x, scale], y * y)
        return y, *first, *outer.gradient(first, [x, scale])

    for eager, traced in zip(step(x, scale, offset), ag.function(step)(x, scale, offset), strict=True):
        assert eager.numpy().any()
        np.testing.assert_array_equal(eager.numpy(), traced.numpy())


@pytest.mark.parametrize("dtype", ULPS)
@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_without_weights(shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> None:
    x, g, *_ = given(shape, axes, dtype)
    found = normalization.make("standardize", dtype, "cpu:0")(x, axes=axes, epsilon=EPSILON)
    wide, h = x.astype(np.longdouble), g.astype(np.longdouble)
    mean, variance = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
    s, root = (wide - mean) / np.sqrt(variance + EPSILON), 1 / np.sqrt(variance + EPSILON)
    for result, wanted in zip(found, (s, mean, variance), strict=True):
        assert result.dtype == np.dtype(dtype)
        np.testing.assert_allclose(result, wanted, rtol=0, atol=16 * ULPS[dtype] * max(1, np.abs(wanted).max()))
    arrays = g, s.astype(dtype), variance.astype(dtype)
    of_x = normalization.make("standardize_grad", dtype, "cpu:0")(*arrays, axes=axes, epsilon=EPSILON)
    wanted = root * (h - h.mean(axes, keepdims=True) - s * (h * s).mean(axes, keepdims=True))
    np.testing.assert_allclose(of_x, wanted, rtol=0, atol=32 * ULPS[dtype] * max(1, np.abs(wanted).max()))


def test_without_weights_it_declines_axes_between_others() -> None:
    x, s = np.ones((2, 3, 4), np.float32), np.ones((2, 1, 4), np.float32)
    assert normalization.make("standardize", "float32", "cpu:0")(x, axes=(1,), epsilon=EPSILON) is NotImplemented
    gradient = normalization.make("standardize_grad", "float32", "cpu:0")
    assert gradient(x, x, s, axes=(1,), epsilon=EPSILON) is NotImplemented


@pytest.mark.parametrize("op", OPS)
def test_the_kit(op: str) -> None:
    ended = [(case.id, case.run()) for case in collect("cpu-llvm", [op], ["float32"])]
    assert len(ended) > 20
    assert not [(name, outcome) for name, outcome in ended if outcome.kind not in ("passed", "skipped")]
