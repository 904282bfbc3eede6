"""Convolutions and their gradients on the host, against sums that are written out, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from convolution_cases import CASES, TOLERANCES, agree, arrays, expected

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import convolution, patches

REFERENCE = agog_kernels_xp.bind(np, dtype=numpy_dtype)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("case", CASES)
def test_a_convolution_and_its_gradients(modules: Any, order: str, case: str, dtype: str) -> None:
    x, f, g, attributes = arrays(case, dtype)
    y, to_x, to_f = expected(case, *[each.astype("f8") for each in (x, f, g)])
    agree(convolution.convolution(modules, x, f, **attributes), y, dtype)
    found = convolution.convolution_input_grad(modules, g, f, input_shape=x.shape, **attributes)
    agree(found, to_x, dtype)
    found = convolution.convolution_filter_grad(modules, x, g, filter_shape=f.shape, **attributes)
    agree(found, to_f, dtype)


@pytest.mark.parametrize("case", ["strides", "groups"])
def test_images_that_are_taken_in_parts(either_modules: Any, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.setattr(convolution, "_MOST_BYTES", 1)
    test_a_convolution_and_its_gradients(either_modules, "", case, "float32")


def test_a_long_sum_of_a_depthwise_filter_is_taken_in_pieces(modules: Any) -> None:
    rng = np.random.default_rng(7)
    x, g = rng.standard_normal((5, 12, 13, 2)), rng.standard_normal((5, 12, 13, 2))
    attributes: dict[str, Any] = {"strides": (1, 1), "paddings": ((0, 0),) * 2, "dilations": (1, 1), "groups": 2}
    found = convolution.convolution_filter_grad(modules, x, g, filter_shape=(1, 1, 1, 2), **attributes)
    np.testing.assert_allclose(found[0, 0, 0], (x * g).sum((0, 1, 2)), rtol=1e-12)


def test_what_the_kernels_do_not_serve_is_declined(modules: Any) -> None:
    x, f, g, attributes = arrays("same", "float32")
    take = convolution
    assert take.convolution(modules, x, f.astype("f8"), **attributes) is NotImplemented
    assert take.convolution(modules, x.astype("i4"), f.astype("i4"), **attributes) is NotImplemented
    assert take.convolution(modules, x[:0], f, **attributes) is NotImplemented
    assert take.convolution(modules, x, f[..., :0], **attributes) is NotImplemented
    given = modules, g[:0], f
    assert take.convolution_input_grad(*given, input_shape=(0, 6, 5, 3), **attributes) is NotImplemented
    assert take.convolution_filter_grad(modules, x[:0], g[:0], filter_shape=f.shape, **attributes) is NotImplemented
    four: dict[str, Any] = {"strides": (1,) * 4, "paddings": ((0, 0),) * 4, "dilations": (1,) * 4, "groups": 1}
    assert take.convolution(modules, *np.ones((2, *[1] * 6), "f4"), **four) is NotImplemented


@pytest.mark.parametrize("dtype", [*TOLERANCES, "int32", "int64"])
def test_patches_are_those_of_the_cpu(modules: Any, order: str, dtype: str) -> None:
    rng = np.random.default_rng(7)
    form = {"window": (2, 3), "strides": (1, 2), "paddings": ((1, 0), (0, 2)), "dilations": (2, 1)}
    images = rng.integers(-9, 9, (3, 6, 5, 2)).astype(numpy_dtype(dtype))
    expected = REFERENCE("extract_image_patches")(images, **form)
    np.testing.assert_array_equal(patches.extract_image_patches(modules, images, **form), expected, strict=True)
    given = rng.integers(-9, 9, expected.shape).astype(numpy_dtype(dtype))
    expected = REFERENCE("add_image_patches")(given, images_shape=images.shape, **form)
    found = patches.add_image_patches(modules, given, images_shape=images.shape, **form)
    np.testing.assert_array_equal(found, expected, strict=True)


def test_patches_that_the_kernels_do_not_serve_are_declined(modules: Any) -> None:
    form: dict[str, Any] = {"window": (1, 1), "strides": (1, 1), "paddings": ((0, 0),) * 2, "dilations": (1, 1)}
    images = np.ones((2, 3, 3, 1), "u1")
    assert patches.extract_image_patches(modules, images, **form) is NotImplemented
    assert patches.add_image_patches(modules, images, images_shape=images.shape, **form) is NotImplemented
    assert patches.extract_image_patches(modules, images[:0].astype("f4"), **form) is NotImplemented


def test_more_than_an_i32_counts_is_declined(modules: Any) -> None:
    many = np.broadcast_to(np.ones((), "f4"), (1 << 11, 1 << 10, 1 << 10, 1))
    attributes: dict[str, Any] = {"strides": (1, 1), "paddings": ((0, 0),) * 2, "dilations": (1, 1)}
    assert convolution.convolution(modules, many, np.ones((1, 1, 1, 1), "f4"), groups=1, **attributes) is NotImplemented
    assert patches.extract_image_patches(modules, many[:600], window=(2, 2), **attributes) is NotImplemented
    wide = np.broadcast_to(np.ones((), "f4"), (1, 1, 2, 600)), np.broadcast_to(np.ones((), "f4"), (1, 1, 1, 600 << 21))
    assert convolution.convolution(modules, *wide, groups=600, **attributes) is NotImplemented


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("groups", [1, 2])
def test_half_precision_takes_no_memory_of_float32(
    modules: Any, dtype: str, groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    class Recording:
        def empty(self, shape: Any, dtype: Any) -> Any:
            made.append(np.dtype(dtype).name)
            return np.empty(shape, dtype)

        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

    monkeypatch.setattr(modules, "xp", Recording())
    x, f = np.ones((2, 5, 5, 4), numpy_dtype(dtype)), np.ones((3, 3, 4 // groups, 4), numpy_dtype(dtype))
    attributes = {"strides": (1, 2), "paddings": ((1, 1), (1, 1)), "dilations": (1, 1), "groups": groups}
    y = convolution.convolution(modules, x, f, **attributes)
    convolution.convolution_filter_grad(modules, x, y, filter_shape=f.shape, **attributes)
    convolution.convolution_input_grad(modules, y, f, input_shape=x.shape, **attributes)
    assert set(made) == {dtype}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("case", ["strides", "groups"])
def test_half_precision_that_is_taken_in_parts(
    modules: Any, monkeypatch: pytest.MonkeyPatch, case: str, dtype: str
) -> None:
    monkeypatch.setattr(convolution, "_MOST_BYTES", 1)
    test_a_convolution_and_its_gradients(modules, "", case, dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradients_with_too_many_zeros_between_them_are_added_up_in_float32(
    modules: Any, monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    monkeypatch.setattr(convolution, "_ZEROS", 0)
    test_a_convolution_and_its_gradients(modules, "", "dilated", dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("case", CASES)
def test_gradients_of_half_precision_are_rounded_once(modules: Any, case: str, dtype: str) -> None:
    x, f, g, attributes = arrays(case, dtype)
    _, exact, _ = expected(case, *[each.astype("f8") for each in (x, f, g)])
    found = convolution.convolution_input_grad(modules, g, f, input_shape=x.shape, **attributes)
    distance = np.abs(found.astype("f8") - exact)
    spacing = np.abs(np.spacing(np.abs(exact.astype(numpy_dtype(dtype))))).astype("f8")
    # Half a unit in the last place, and what sums in float32 are off, where terms cancel.
    assert (distance <= 0.5 * spacing + 4e-6).all()
