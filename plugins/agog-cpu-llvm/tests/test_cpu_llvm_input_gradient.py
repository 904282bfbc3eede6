"""Input gradient: values beside float64 by hand for all forms, dtypes and layouts, the same bits on all threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from convolution_forms import DENSE, DEPTHWISE, NONE, Form, name, same, scale

import agog_core as ag
from agog_core.ops.conv import conv2d_transpose
from agog_core.plugin import threads
from agog_cpu_llvm import presence
from agog_cpu_llvm.kernels import convolution, convolution_plan, depthwise, filter_transpose, input_gradient

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))


@pytest.fixture(autouse=True)
def _take_small_calls(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(convolution_plan, "LEAST", 0)
    monkeypatch.setattr(convolution_plan, "_LEAST_COLUMNS", 0)
    convolution_plan.plan.cache_clear()
    yield
    convolution_plan.plan.cache_clear()


def gradient(form: Form, g: Any, w: Any, dtype: str = "float32") -> Any:
    kernel = input_gradient.make("convolution_input_grad", dtype, "cpu:0")
    return kernel(g, w, input_shape=form.input, **form.attributes)


def bound(form: Form, dtype: str) -> float:
    """What one sum of as many products as an input has may be wrong by, as a part of the largest result."""
    terms = math.prod(form.filter[:-2]) * form.filter[-1] // form.groups
    return float(np.finfo(dtype).eps) * max(8.0, 2 * math.sqrt(terms))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", [*DENSE, *DEPTHWISE], ids=name)
def test_values(form: Form, dtype: str) -> None:
    _, w, g = form.arrays(dtype)
    got, exact = gradient(form, g, w, dtype), form.input_gradient(g, w)
    assert got.dtype == dtype
    np.testing.assert_allclose(got, exact, rtol=0, atol=bound(form, dtype) * scale(exact))


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 1e-3), ("bfloat16", 8e-3)])
@pytest.mark.parametrize("form", [DENSE[2], DENSE[14], DEPTHWISE[1], DEPTHWISE[4]], ids=name)
def test_half_precision_is_rounded_once(form: Form, dtype: str, tolerance: float) -> None:
    kind = ag.as_dtype(dtype).as_numpy_dtype
    _, w, g = form.arrays(kind)
    got, exact = gradient(form, g, w, dtype), form.input_gradient(g, w)
    assert got.dtype == kind
    np.testing.assert_allclose(got.astype(np.float64), exact, rtol=tolerance, atol=1e-5 * scale(exact))


def test_pixels_that_no_window_reaches_are_zeros() -> None:
    form = Form((2, 11, 11, 8), (2, 2, 8, 16), (3, 3), NONE, (1, 1))
    _, w, g = form.arrays()
    for out in (None, np.full(form.input, np.nan, np.float32)):
        kernel = input_gradient.make("convolution_input_grad", "float32", "cpu:0")
        got = kernel(g, w, input_shape=form.input, out=out, **form.attributes)
        got = out if got is None else got
        np.testing.assert_allclose(got, form.input_gradient(g, w), rtol=0, atol=1e-5)
        assert (got[:, 2::3] == 0).all()


@pytest.mark.parametrize("form", [DENSE[1], DENSE[3], DENSE[14], DEPTHWISE[0], DEPTHWISE[2]], ids=name)
def test_any_number_of_threads_gives_the_same_bits(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    _, w, g = form.arrays()
    results = []
    for count in (1, 2, 5):
        monkeypatch.setattr(threads, "count", lambda count=count: count)
        results.append(gradient(form, g, w).tobytes())
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("form", [DENSE[1], DENSE[3], DEPTHWISE[0], DEPTHWISE[2], DEPTHWISE[4]], ids=name)
def test_it_fills_what_it_is_given(form: Form) -> None:
    _, w, g = form.arrays()
    memory = np.full(math.prod(form.input) + 2, 7, np.float32)
    out = memory[1:-1].reshape(form.input)
    kernel = input_gradient.make("convolution_input_grad", "float32", "cpu:0")
    assert kernel(g, w, input_shape=form.input, out=out, **form.attributes) is None
    np.testing.assert_array_equal(out, gradient(form, g, w))
    assert memory[0] == memory[-1] == 7


@pytest.mark.parametrize("form", [DENSE[3], DENSE[7], DENSE[18], DENSE[19], DEPTHWISE[2], DEPTHWISE[9]], ids=name)
def test_phases_of_strides_are_written_to_their_places(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    targets = []
    for module, kernel in ((convolution, "convolve"), (depthwise, "convolution")):
        whole = getattr(module, kernel)

        def watched(dtype: str, *arrays: Any, whole: Any = whole, **form: Any) -> Any:
            targets.append(form["out"] if "out" in form else arrays[3])
            return whole(dtype, *arrays, **form)

        monkeypatch.setattr(module, kernel, watched)
    _, w, g = form.arrays()
    got = gradient(form, g, w)
    assert len(targets) > 1
    assert all(np.shares_memory(got, target) for target in targets)


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("shape", [(3, 2, 18, 33), (5, 32, 48), (1, 2, 2, 9, 3), (1, 1, 1, 60)], ids=str)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_filters_are_transposed(dtype: str, shape: Any, groups: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filter_transpose, "LEAST", 0)
    filter = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    places = (slice(None, None, -1), *(slice(1, None) if size > 1 else slice(None) for size in shape[1:-2]))
    inputs, outputs = shape[-2], shape[-1] // groups
    got, window = filter_transpose.transpose(filter, places, groups), filter[places]
    assert got.shape == (*window.shape[:-2], outputs, groups * inputs)
    assert got.flags.c_contiguous
    for group, n, m in np.ndindex(groups, inputs, outputs):
        np.testing.assert_array_equal(got[..., m, group * inputs + n], window[..., n, group * outputs + m])


def test_strided_arrays() -> None:
    form = DENSE[2]
    _, w, g = form.arrays()
    exact = gradient(form, g, w)
    turned = np.ascontiguousarray(g.transpose(3, 2, 1, 0)).transpose(3, 2, 1, 0)
    np.testing.assert_array_equal(gradient(form, turned, np.asfortranarray(w)), exact)


def test_empty_calls_are_left_to_the_reference() -> None:
    for form in (
        Form((0, 4, 4, 2), (2, 2, 2, 3), (1, 1), NONE, (1, 1)),
        Form((1, 4, 4, 2), (2, 2, 2, 0), (1, 1), NONE, (1, 1)),
        Form((1, 4, 4, 4, 4, 2), (2, 2, 2, 2, 2, 3), (1,) * 4, ((0, 0),) * 4, (1,) * 4),
    ):
        _, w, g = form.arrays()
        assert gradient(form, g, w) is NotImplemented


def test_transposed_convolutions_and_their_second_derivatives_go_through_the_kernel() -> None:
    form = Form((2, 12, 12, 5), (4, 4, 5, 7), (2, 2), ((1, 1), (1, 1)), (1, 1))
    x, w, g = form.arrays()
    with ag.GradientTape() as outer:
        weights = ag.constant(w)
        outer.watch(weights)
        with ag.GradientTape() as inner:
            source = ag.constant(g)
            inner.watch(source)
            out = conv2d_transpose(source, weights, form.input, [1, 2, 2, 1])
        first = inner.gradient(out, source, ag.constant(x))
    np.testing.assert_allclose(out.numpy(), form.input_gradient(g, w), rtol=0, atol=1e-5)
    np.testing.assert_allclose(first.numpy(), form.convolution(x, w), rtol=0, atol=1e-5)
    ones = np.ones_like(g)
    np.testing.assert_allclose(outer.gradient(first, weights).numpy(), form.filter_gradient(x, ones), rtol=0, atol=1e-5)


def test_traced_code_has_the_bits_of_eager_code() -> None:
    form = Form((2, 16, 16, 32), (3, 3, 32, 32), (1, 1), same(3), (1, 1))
    _, w, g = (ag.constant(array) for array in form.arrays())

    def step(g: ag.Tensor, w: ag.Tensor) -> ag.Tensor:
        return conv2d_transpose(g * 2.0, w, form.input, [1, 1, 1, 1]) + 1.0

    wanted, traced = step(g, w).numpy(), ag.function(step)
    for _ in range(3):
        np.testing.assert_array_equal(traced(g, w).numpy(), wanted)
