"""Depthwise: convolutions of one channel each beside float64 by hand, with the same bits on all threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from convolution_forms import DEPTHWISE, NONE, Form, name, scale

import agog_core as ag
from agog_core.plugin import threads
from agog_cpu_llvm import presence
from agog_cpu_llvm.kernels import depthwise

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))


def convolved(form: Form, x: Any, w: Any, dtype: str = "float32", out: Any = None) -> Any:
    return depthwise.convolution(dtype, x, w, out=out, **form.attributes)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float64", 2e-15)])
@pytest.mark.parametrize("form", DEPTHWISE, ids=name)
def test_values(form: Form, dtype: str, tolerance: float) -> None:
    x, w, _ = form.arrays(dtype)
    got, exact = convolved(form, x, w, dtype), form.convolution(x, w)
    assert got.dtype == dtype
    assert got.shape == form.output
    np.testing.assert_allclose(got, exact, rtol=0, atol=tolerance * scale(exact))


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 1e-3), ("bfloat16", 8e-3)])
def test_half_precision_is_rounded_once(dtype: str, tolerance: float) -> None:
    form, kind = DEPTHWISE[1], ag.as_dtype(dtype).as_numpy_dtype
    x, w, _ = form.arrays(kind)
    got, exact = convolved(form, x, w, dtype), form.convolution(x, w)
    assert got.dtype == kind
    np.testing.assert_allclose(got.astype(np.float64), exact, rtol=tolerance, atol=1e-6)


@pytest.mark.parametrize("form", DEPTHWISE[:5], ids=name)
def test_any_number_of_threads_gives_the_same_bits(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    x, w, _ = form.arrays()
    results = []
    for count in (1, 2, 5):
        monkeypatch.setattr(threads, "count", lambda count=count: count)
        results.append(convolved(form, x, w).tobytes())
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("form", DEPTHWISE, ids=name)
def test_it_fills_what_it_is_given_and_nothing_beside(form: Form) -> None:
    x, w, _ = form.arrays()
    memory = np.full(math.prod(form.output) + 2, 7, np.float32)
    out = memory[1:-1].reshape(form.output)
    assert convolved(form, x, w, out=out) is None
    np.testing.assert_array_equal(out, convolved(form, x, w))
    assert memory[0] == memory[-1] == 7


def test_only_the_windows_of_a_nan_have_it() -> None:
    form = Form((1, 8, 8, 9), (3, 3, 1, 9), (1, 1), NONE, (1, 1), 9)
    x, w, _ = form.arrays()
    x[0, 4, 4, 3], x[0, 0, 0, 5] = np.nan, np.inf
    exact = form.convolution(x, w)
    got = convolved(form, x, w)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(exact))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(exact))
    assert np.isnan(got[0, ..., 3]).sum() == 9


def test_strided_arrays() -> None:
    form = DEPTHWISE[2]
    x, w, _ = form.arrays()
    turned = np.ascontiguousarray(x.transpose(3, 2, 1, 0)).transpose(3, 2, 1, 0)
    np.testing.assert_array_equal(convolved(form, turned, np.asfortranarray(w)), convolved(form, x, w))


def test_empty_calls_are_left_to_the_reference() -> None:
    form = Form((0, 4, 4, 8), (2, 2, 1, 8), (1, 1), NONE, (1, 1), 8)
    x, w, _ = form.arrays()
    assert convolved(form, x, w) is NotImplemented
