"""Convolutions as cuDNN gets them: which array is which, how it lies in memory, and what is left to our own kernels."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import cudnn_on_numpy
import numpy as np
import pytest
from convolution_cases import CASES, TOLERANCES, agree, arrays, expected

from agog_core import set_matmul_precision
from agog_cuda_cupy import cudnn, presence


@pytest.fixture
def plans(modules: Any) -> cudnn.Plans:
    return cudnn.Plans(modules, cudnn_on_numpy, {})


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("case", CASES)
def test_a_convolution_and_its_gradients(plans: cudnn.Plans, case: str, dtype: str) -> None:
    x, f, g, attributes = arrays(case, dtype)
    y, to_x, to_f = expected(case, *[each.astype("f8") for each in (x, f, g)])
    agree(cudnn.convolution(plans, x, f, **attributes), y, dtype)
    agree(cudnn.convolution_input_grad(plans, g, f, input_shape=x.shape, **attributes), to_x, dtype)
    found = cudnn.convolution_filter_grad(plans, x, g, filter_shape=f.shape, **attributes)
    agree(found, to_f, dtype)
    assert found.flags.c_contiguous


def test_views_are_laid_out_before_their_address_is_given(plans: cudnn.Plans) -> None:
    x, f, _, attributes = arrays("same", "float32")
    wanted = cudnn.convolution(plans, x, f, **attributes)
    turned = np.ascontiguousarray(x.transpose(2, 3, 0, 1)).transpose(2, 3, 0, 1)
    np.testing.assert_array_equal(cudnn.convolution(plans, turned, f, **attributes), wanted, strict=True)


def test_views_that_begin_anywhere_are_copied_to_where_plans_may_read(plans: cudnn.Plans) -> None:
    x, f, _, attributes = arrays("same", "float32")
    wanted = cudnn.convolution(plans, x, f, **attributes)
    memory = np.empty(x.size + 1, x.dtype)
    shifted = memory[1:].reshape(x.shape)
    shifted[...] = x
    np.testing.assert_array_equal(cudnn.convolution(plans, shifted, f, **attributes), wanted, strict=True)


def test_the_plan_that_was_used_the_longest_ago_goes(plans: cudnn.Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cudnn, "_MOST_PLANS", 2)
    for case in ("same", "strides", "same", "dilated"):
        x, f, _, attributes = arrays(case, "float32")
        cudnn.convolution(plans, x, f, **attributes)
    assert [form.dilations for form in plans.plans] == [(1, 1), (3, 2)]
    assert next(iter(plans.plans)).strides == (1, 1)


def test_long_sums_of_small_windows_are_left_to_products(plans: cudnn.Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cudnn, "_MOST_TERMS", 16)
    sliding: dict[str, Any] = {"strides": (1,), "paddings": ((0, 0),), "dilations": (1,), "groups": 1}
    for length, channels, is_declined in ((18, 2, False), (19, 2, True), (19, 6, False)):
        x, g = np.ones((1, length, channels), "float32"), np.ones((1, length - 2, 4), "float32")
        found = cudnn.convolution_filter_grad(plans, x, g, filter_shape=(3, channels, 4), **sliding)
        assert (found is NotImplemented) == is_declined


def test_calls_of_one_form_share_a_plan_and_a_handle(plans: cudnn.Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[cudnn.Form] = []
    plan = plans.plan
    monkeypatch.setattr(plans, "plan", lambda form: made.append(form) or plan(form))
    before = len(cudnn_on_numpy.handles)
    for case in ("same", "same", "strides", "same"):
        x, f, _, attributes = arrays(case, "float32")
        cudnn.convolution(plans, x, f, **attributes)
    assert [form.paddings for form in made] == [((1, 1), (1, 1)), ((0, 1), (1, 0))]
    assert len(cudnn_on_numpy.handles) == before + 1


@pytest.fixture
def _precision() -> Iterator[None]:
    yield
    set_matmul_precision("float32")


@pytest.mark.usefixtures("_precision")
@pytest.mark.parametrize(
    ("dtype", "precision", "is_barred"),
    [("float32", "float32", True), ("float32", "tf32", False), ("float16", "float32", False)],
)
def test_tensor_cores_are_for_halves_and_where_tf32_is_allowed(
    plans: cudnn.Plans, dtype: str, precision: str, is_barred: bool
) -> None:
    set_matmul_precision(precision)
    x, f, _, attributes = arrays("same", dtype)
    cudnn.convolution(plans, x, f, **attributes)
    (plan,) = plans.plans.values()
    assert plan is not None
    assert ("TENSOR_CORE" in plan.graph.barred) is is_barred
    assert {"NONDETERMINISTIC", "REDUCED_PRECISION_REDUCTION", "DOWN_CONVERT_INPUTS"} <= set(plan.graph.barred)


def test_what_cudnn_has_no_plan_for_is_declined(plans: cudnn.Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cudnn_on_numpy.pygraph, "refused", True)
    x, f, g, attributes = arrays("same", "float32")
    for _ in range(2):  # the second time it is known
        assert cudnn.convolution(plans, x, f, **attributes) is NotImplemented
        assert cudnn.convolution_filter_grad(plans, x, g, filter_shape=f.shape, **attributes) is NotImplemented
    assert cudnn.convolution_input_grad(plans, g, f, input_shape=x.shape, **attributes) is NotImplemented


def test_empty_arrays_and_more_than_three_axes_are_declined(plans: cudnn.Plans) -> None:
    x, f, g, attributes = arrays("same", "float32")
    assert cudnn.convolution(plans, x[:0], f, **attributes) is NotImplemented
    assert cudnn.convolution(plans, x, f[..., :0], **attributes) is NotImplemented
    assert cudnn.convolution_input_grad(plans, g[:0], f, input_shape=(0, 6, 5, 3), **attributes) is NotImplemented
    found = cudnn.convolution_filter_grad(plans, x[:0], g[:0], filter_shape=f.shape, **attributes)
    assert found is NotImplemented
    four: dict[str, Any] = {"strides": (1,) * 4, "paddings": ((0, 0),) * 4, "dilations": (1,) * 4, "groups": 1}
    assert cudnn.convolution(plans, *np.ones((2, *[1] * 6), "f4"), **four) is NotImplemented


class TestUnavailable:
    """What is said where cuDNN is not there."""

    @pytest.fixture(autouse=True)
    def _asked_anew(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        cudnn.unavailable.cache_clear()
        monkeypatch.setattr(presence, "unavailable", lambda: None)
        yield
        cudnn.unavailable.cache_clear()

    def test_without_a_gpu_its_reason(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(presence, "unavailable", lambda: "CUDA finds no GPU")
        assert cudnn.unavailable() == "CUDA finds no GPU"

    def test_without_the_frontend(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cudnn, "find_spec", lambda name: None)
        assert cudnn.unavailable() == (
            "cuDNN's frontend is not installed: pip install agog-cuda-cupy[cudnn12], or [cudnn13] for CUDA 13"
        )

    @pytest.mark.parametrize("error", [RuntimeError("the driver is too old\nmore"), OSError("no such file")])
    def test_with_a_frontend_that_cannot_be_used(self, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
        frontend = ModuleType("cudnn")

        def create_handle() -> object:
            raise error

        frontend.create_handle, frontend.destroy_handle = create_handle, None  # type: ignore[attr-defined]
        monkeypatch.setattr(cudnn, "find_spec", lambda name: ModuleSpec(name, None))
        monkeypatch.setitem(sys.modules, "cudnn", frontend)
        assert cudnn.unavailable() == f"cuDNN cannot be used: {str(error).splitlines()[0]}"

    def test_nothing_where_a_handle_can_be_made(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cudnn, "find_spec", lambda name: ModuleSpec(name, None))
        monkeypatch.setitem(sys.modules, "cudnn", cudnn_on_numpy)
        assert cudnn.unavailable() is None
