"""Filter gradient: values beside float64 by hand for all forms, dtypes and layouts, the same bits on all threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from convolution_forms import DENSE, DEPTHWISE, NONE, Form, name, same, scale

import agog_core as ag
from agog_core.ops.conv import conv2d
from agog_core.plugin import threads
from agog_cpu_llvm import presence
from agog_cpu_llvm.kernels import filter_gradient

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))


def gradient(form: Form, x: Any, g: Any, dtype: str = "float32") -> Any:
    kernel = filter_gradient.make("convolution_filter_grad", dtype, "cpu:0")
    return kernel(x, g, filter_shape=form.filter, **form.attributes)


GROUPS = (
    Form((8, 10, 9, 24), (3, 3, 2, 24), (1, 1), same(3), (1, 1), 12),
    Form((2, 13, 70, 40), (3, 3, 4, 40), (1, 1), same(3), (1, 1), 10),
    Form((3, 14, 15, 36), (5, 4, 4, 36), (1, 2), ((2, 2), (0, 1)), (2, 1), 9),
    Form((3, 11, 9, 40), (3, 3, 8, 40), (2, 2), same(3), (1, 1), 5),
    Form((5, 9, 7, 8), (1, 1, 4, 8), (1, 1), NONE, (1, 1), 2),
    Form((3, 8, 8, 12), (3, 2, 3, 12), (1, 1), NONE, (1, 1), 4),
    Form((2, 6, 5, 8), (3, 3, 2, 16), (1, 1), same(3), (1, 1), 4),
    Form((2, 40, 32), (9, 2, 32), (2,), ((4, 0),), (1,), 16),
    Form((2, 5, 6, 7, 20), (3, 2, 3, 4, 20), (1, 2, 1), ((1, 1), (0, 1), (2, 2)), (1, 1, 2), 5),
)
"""Groups of a few channels, of which several share a vector where they have as many outputs and these fit into it."""

ONE_VECTOR = (
    Form((2, 9, 7, 90), (3, 3, 45, 32), (1, 1), same(3), (1, 1), 2),
    Form((2, 6, 7, 16), (2, 3, 8, 22), (2, 1), NONE, (1, 1), 2),
)
"""Groups whose outputs fit into one vector."""


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 5e-7), ("float64", 5e-15)])
@pytest.mark.parametrize("form", [*DENSE, *DEPTHWISE, *GROUPS, *ONE_VECTOR], ids=name)
def test_values(form: Form, dtype: str, tolerance: float) -> None:
    x, _, g = form.arrays(dtype)
    got, exact = gradient(form, x, g, dtype), form.filter_gradient(x, g)
    assert got.dtype == dtype
    assert got.shape == form.filter
    np.testing.assert_allclose(got, exact, rtol=0, atol=tolerance * scale(exact))


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 1e-3), ("bfloat16", 8e-3)])
def test_half_precision_is_rounded_once(dtype: str, tolerance: float) -> None:
    form, kind = DENSE[2], ag.as_dtype(dtype).as_numpy_dtype
    x, _, g = form.arrays(kind)
    got, exact = gradient(form, x, g, dtype), form.filter_gradient(x, g)
    assert got.dtype == kind
    np.testing.assert_allclose(got.astype(np.float64), exact, rtol=tolerance, atol=1e-5 * scale(exact))


@pytest.mark.parametrize("form", [*DENSE[1:8], *DEPTHWISE[:5], *GROUPS[:4]], ids=name)
def test_any_number_of_threads_gives_the_same_bits(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    x, _, g = form.arrays()
    results = []
    for count in (1, 2, 5):
        monkeypatch.setattr(threads, "count", lambda count=count: count)
        results.append(gradient(form, x, g).tobytes())
    assert results[0] == results[1] == results[2]


def test_strided_and_unaligned_arrays() -> None:
    form = DENSE[2]
    x, _, g = form.arrays()
    exact = gradient(form, x, g)
    moved = np.empty(x.size + 1, np.float32)[1:].reshape(x.shape)
    moved[...] = x
    np.testing.assert_array_equal(gradient(form, moved, g), exact)
    turned = np.ascontiguousarray(g.transpose(3, 2, 1, 0)).transpose(3, 2, 1, 0)
    np.testing.assert_array_equal(gradient(form, x[::-1][::-1], turned), exact)


def test_only_the_group_of_a_nan_has_it() -> None:
    form = Form((1, 8, 8, 40), (3, 3, 4, 40), (1, 1), NONE, (1, 1), 10)
    x, _, g = form.arrays()
    x[0, 4, 4, 13] = np.nan  # the second channel of the group of outputs 12 to 15
    got = gradient(form, x, g)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(form.filter_gradient(x, g)))
    assert np.isnan(got[:, :, 1, 12:16]).all()
    assert np.isnan(got).sum() == 9 * 4


def test_only_the_windows_of_a_nan_have_it() -> None:
    form = Form((1, 8, 8, 9), (3, 3, 9, 17), (1, 1), NONE, (1, 1))
    x, _, g = form.arrays()
    x[0, 0, 0, 4], g[0, 5, 5, 3] = np.nan, np.inf
    exact = form.filter_gradient(x, g)
    got = gradient(form, x, g)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(exact))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(exact))
    assert np.isnan(got[0, 0, 4]).all()
    assert not np.isnan(got[1]).any()


@pytest.mark.parametrize("form", [DENSE[1], DENSE[3], DENSE[12], DEPTHWISE[4]], ids=name)
def test_it_fills_what_it_is_given(form: Form) -> None:
    x, _, g = form.arrays()
    memory = np.full(math.prod(form.filter) + 2, 7, np.float32)
    kernel = filter_gradient.make("convolution_filter_grad", "float32", "cpu:0")
    out = memory[1:-1].reshape(form.filter)
    assert kernel(x, g, filter_shape=form.filter, out=out, **form.attributes) is None
    np.testing.assert_array_equal(out, gradient(form, x, g))
    assert memory[0] == memory[-1] == 7


def test_long_sums_are_sums_of_sums() -> None:
    form = Form((64, 56, 56, 1), (1, 1, 1, 16), (1, 1), NONE, (1, 1))
    x, _, g = form.arrays()
    x, g = abs(x), abs(g)
    exact = form.filter_gradient(x, g)
    assert abs(gradient(form, x, g) / exact - 1).max() < 2e-6  # 3e-5 where all pixels are added to one sum


def test_empty_calls_are_left_to_the_reference() -> None:
    for form in (
        Form((0, 4, 4, 2), (2, 2, 2, 3), (1, 1), NONE, (1, 1)),
        Form((1, 4, 4, 2), (2, 2, 2, 0), (1, 1), NONE, (1, 1)),
        Form((1, 4, 4, 4, 4, 2), (2, 2, 2, 2, 2, 3), (1,) * 4, ((0, 0),) * 4, (1,) * 4),
    ):
        x, _, g = form.arrays()
        assert gradient(form, x, g) is NotImplemented


def test_second_derivatives_go_through_the_kernel() -> None:
    form = Form((2, 6, 6, 3), (3, 3, 3, 5), (1, 1), same(3), (1, 1))
    x, w, g = form.arrays()
    with ag.GradientTape() as outer:
        variable = ag.constant(x)
        outer.watch(variable)
        with ag.GradientTape() as inner:
            weights = ag.constant(w)
            inner.watch(weights)
            out = conv2d(variable, weights, 1, "SAME")
        first = inner.gradient(out, weights, ag.constant(g))
    np.testing.assert_allclose(first.numpy(), form.filter_gradient(x, g), rtol=0, atol=1e-5)
    ones = np.ones_like(w)  # the sum of the filter's gradient is linear in the input
    np.testing.assert_allclose(outer.gradient(first, variable).numpy(), form.input_gradient(g, ones), rtol=0, atol=1e-5)


def test_traced_code_has_the_bits_of_eager_code() -> None:
    form = DENSE[1]
    x, w, g = (ag.constant(array) for array in form.arrays())

    def step(x: ag.Tensor, w: ag.Tensor, g: ag.Tensor) -> ag.Tensor:
        with ag.GradientTape() as tape:
            tape.watch(w)
            y = conv2d(x * 2.0, w, 1, "SAME")
        return tape.gradient(y, w, g)

    wanted, traced = step(x, w, g).numpy(), ag.function(step)
    for _ in range(3):
        np.testing.assert_array_equal(traced(x, w, g).numpy(), wanted)
