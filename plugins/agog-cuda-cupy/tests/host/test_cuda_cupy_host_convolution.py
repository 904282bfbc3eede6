"""Convolutions and their gradients on the host, against sums that are written out, in float64."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import convolution, patches

REFERENCE = agog_kernels_xp.bind(np, dtype=numpy_dtype)
TOLERANCES = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6, "float64": 1e-14}
# Shapes of input and filter, strides, paddings, dilations, groups.
CASES: dict[str, tuple[Any, ...]] = {
    "one_axis": ((2, 9, 3), (3, 3, 4), (1,), ((1, 1),), (1,), 1),
    "same": ((2, 6, 5, 3), (3, 3, 3, 4), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "strides": ((3, 7, 8, 2), (3, 2, 2, 3), (2, 3), ((0, 1), (1, 0)), (1, 1), 1),
    "dilated": ((1, 9, 9, 2), (2, 3, 2, 2), (1, 2), ((2, 0), (0, 3)), (3, 2), 1),
    "pointwise": ((2, 4, 3, 5), (1, 1, 5, 2), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    "pointwise_strides": ((2, 4, 3, 5), (1, 1, 5, 2), (2, 1), ((0, 0), (0, 0)), (1, 1), 1),
    "three_axes": ((2, 4, 3, 5, 2), (2, 2, 3, 2, 3), (1, 2, 1), ((0, 0), (1, 0), (1, 1)), (1, 1, 2), 1),
    "groups": ((2, 5, 6, 6), (3, 2, 2, 9), (1, 2), ((1, 1), (0, 0)), (1, 1), 3),
    "depthwise": ((2, 6, 5, 4), (3, 3, 1, 4), (1, 1), ((1, 1), (1, 1)), (1, 1), 4),
    "depthwise_multiplied": ((3, 7, 6, 3), (2, 3, 1, 6), (2, 1), ((1, 0), (0, 2)), (1, 2), 3),
}


class Taps:
    """For each tap of a filter the input's elements under it, as a slice of the padded input."""

    def __init__(self, shape: Any, filter_shape: Any, strides: Any, paddings: Any, dilations: Any, groups: int) -> None:
        self.shape, self.paddings, self.groups = shape, ((0, 0), *paddings, (0, 0)), groups
        window = filter_shape[:-2]
        padded = [size + sum(pair) for size, pair in zip(shape[1:-1], paddings, strict=True)]
        axes = list(zip(padded, window, strides, dilations, strict=True))
        self.places = [(size - (n - 1) * d - 1) // stride + 1 for size, n, stride, d in axes]
        self.slices = {
            tap: (slice(None), *[slice(t * d, t * d + stride * count, stride) for t, (_, _, stride, d), count in parts])
            for tap in product(*map(range, window))
            for parts in [list(zip(tap, axes, self.places, strict=True))]
        }

    def padded(self, x: Any) -> Any:
        """The input between zeros, with more of them behind each axis, so that slices may end with a whole stride."""
        behind = [9 if 0 < axis < x.ndim - 1 else 0 for axis in range(x.ndim)]
        return np.pad(x, [(low, high + more) for (low, high), more in zip(self.paddings, behind, strict=True)])

    def inside(self, whole: Any) -> Any:
        """What is not padding."""
        slices = [slice(low, low + size) for (low, _), size in zip(self.paddings, self.shape, strict=True)]
        return whole[tuple(slices)]


def _expected(case: str, x: Any, f: Any, g: Any) -> tuple[Any, Any, Any]:
    """The convolution and the gradients of its input and filter."""
    taps = Taps(x.shape, f.shape, *CASES[case][2:])
    groups, (inner, outer) = taps.groups, f.shape[-2:]
    whole = taps.padded(x)
    y, to_whole, to_f = np.zeros(g.shape), np.zeros(whole.shape), np.zeros(f.shape)
    for tap, part in taps.slices.items():
        for group in range(groups):
            ins, outs = (slice(group * size, (group + 1) * size) for size in (inner, outer // groups))
            source, gradient, weights = whole[part][..., ins], g[..., outs], f[tap][:, outs]
            y[..., outs] += source @ weights
            to_whole[part][..., ins] += gradient @ weights.T
            to_f[tap][:, outs] += source.reshape(-1, inner).T @ gradient.reshape(-1, gradient.shape[-1])
    return y, taps.inside(to_whole), to_f


def _arrays(case: str, dtype: str) -> tuple[Any, Any, Any, dict[str, Any]]:
    """An input, a filter, a gradient of the output, and the attributes."""
    shape, filter_shape, strides, paddings, dilations, groups = CASES[case]
    places = Taps(shape, filter_shape, strides, paddings, dilations, groups).places
    rng = np.random.default_rng(7)
    shapes = shape, filter_shape, (shape[0], *places, filter_shape[-1])
    x, f, g = (rng.standard_normal(each).astype(numpy_dtype(dtype)) for each in shapes)
    return x, f, g, {"strides": strides, "paddings": paddings, "dilations": dilations, "groups": groups}


def _agree(found: Any, expected: Any, dtype: str) -> None:
    assert (found.shape, found.dtype) == (expected.shape, numpy_dtype(dtype))
    tolerance = TOLERANCES[dtype]
    np.testing.assert_allclose(found.astype("f8"), expected, rtol=tolerance, atol=20 * tolerance)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("case", CASES)
def test_a_convolution_and_its_gradients(modules: Any, order: str, case: str, dtype: str) -> None:
    x, f, g, attributes = _arrays(case, dtype)
    y, to_x, to_f = _expected(case, *[array.astype("f8") for array in (x, f, g)])
    _agree(convolution.convolution(modules, x, f, **attributes), y, dtype)
    found = convolution.convolution_input_grad(modules, g, f, input_shape=x.shape, **attributes)
    _agree(found, to_x, dtype)
    found = convolution.convolution_filter_grad(modules, x, g, filter_shape=f.shape, **attributes)
    _agree(found, to_f, dtype)


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
    x, f, g, attributes = _arrays("same", "float32")
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
def test_half_precision_takes_no_memory_of_float32(modules: Any, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    class Recording:
        def empty(self, shape: Any, dtype: Any) -> Any:
            made.append(np.dtype(dtype).name)
            return np.empty(shape, dtype)

        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

    monkeypatch.setattr(modules, "xp", Recording())
    x, f = np.ones((2, 5, 5, 3), numpy_dtype(dtype)), np.ones((3, 3, 3, 4), numpy_dtype(dtype))
    attributes = {"strides": (1, 1), "paddings": ((1, 1), (1, 1)), "dilations": (1, 1), "groups": 1}
    y = convolution.convolution(modules, x, f, **attributes)
    convolution.convolution_filter_grad(modules, x, y, filter_shape=f.shape, **attributes)
    assert set(made) == {dtype}
