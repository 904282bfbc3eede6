"""Pools, paddings, croppings and repetitions, against NumPy and numerical differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_layers
from agog_layers import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    Cropping1D,
    Cropping2D,
    Cropping3D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    GlobalMaxPooling3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
    UpSampling1D,
    UpSampling2D,
    UpSampling3D,
    ZeroPadding1D,
    ZeroPadding2D,
    ZeroPadding3D,
)
from agog_testing import says

SEED = 17
SHAPES = {1: (2, 7, 3), 2: (2, 7, 5, 3), 3: (2, 4, 5, 3, 2)}
MAX = {1: MaxPooling1D, 2: MaxPooling2D, 3: MaxPooling3D}
AVERAGE = {1: AveragePooling1D, 2: AveragePooling2D, 3: AveragePooling3D}


def first(x: Any) -> Any:
    return np.moveaxis(x, -1, 1)


def pooled(x: Any, layer: Any, reduce: Callable[..., Any]) -> Any:
    sizes, counts, lows = x.shape[1:-1], [], []
    for size, n, stride in zip(sizes, layer.pool_size, layer.strides, strict=True):
        same = layer.padding == "same"
        counts.append(-(-size // stride) if same else (size - n) // stride + 1)
        lows.append(max(0, (counts[-1] - 1) * stride + n - size) // 2 if same else 0)
    out = np.zeros((len(x), *counts, x.shape[-1]))
    for place in np.ndindex(*counts):
        at = zip(place, layer.pool_size, layer.strides, lows, strict=True)
        seen = [slice(max(0, p * s - low), p * s - low + n) for p, n, s, low in at]
        out[(slice(None), *place)] = reduce(x[(slice(None), *seen)], axis=tuple(range(1, x.ndim - 1)))
    return out


def check(kind: Any, arguments: dict[str, Any], x: Any, expected: Any) -> None:
    layer = kind(**arguments)
    got = layer(ag.constant(x))
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, atol=1e-12, err_msg=f"seed {SEED}")
    assert layer.compute_output_shape(x.shape) == got.shape == expected.shape
    unknown = layer.compute_output_shape((None,) * (x.ndim - 1) + x.shape[-1:])
    assert unknown.as_list() == [None] * (expected.ndim - 1) + [x.shape[-1]]
    assert layer.variables == []


def check_both_formats(kind: Any, arguments: dict[str, Any], x: Any, expected: Any) -> None:
    check(kind, arguments, x, expected)
    turned = kind(**arguments, data_format="channels_first")
    np.testing.assert_allclose(turned(ag.constant(first(x))).numpy(), first(expected), rtol=1e-12, atol=1e-12)
    assert turned.compute_output_shape(first(x).shape) == first(expected).shape


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("padding", ["valid", "same", "SAME"])
@pytest.mark.parametrize(
    "form", [{}, {"pool_size": 3, "strides": 1}, {"pool_size": 1, "strides": 2}, {"pool_size": (2, 3, 1)}]
)
def test_pools(axes: int, padding: str, form: dict[str, Any]) -> None:
    x = np.random.default_rng(SEED).normal(size=SHAPES[axes])
    form = {key: value[:axes] if isinstance(value, tuple) else value for key, value in form.items()}
    arguments = {**form, "padding": padding}
    check_both_formats(MAX[axes], arguments, x, pooled(x, MAX[axes](**arguments), np.max))
    check_both_formats(AVERAGE[axes], arguments, x, pooled(x, AVERAGE[axes](**arguments), np.mean))


def test_strides_follow_the_window() -> None:
    layer = MaxPooling2D((2, 3))
    assert (layer.pool_size, layer.strides) == ((2, 3), (2, 3))
    assert MaxPooling2D((2, 3), 1).strides == (1, 1)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_global_pools(axes: int) -> None:
    x = np.random.default_rng(SEED).normal(size=SHAPES[axes])
    over = tuple(range(1, axes + 1))
    largest = {1: GlobalMaxPooling1D, 2: GlobalMaxPooling2D, 3: GlobalMaxPooling3D}[axes]
    mean = {1: GlobalAveragePooling1D, 2: GlobalAveragePooling2D, 3: GlobalAveragePooling3D}[axes]
    check_both_formats(largest, {}, x, x.max(over))
    check_both_formats(mean, {}, x, x.mean(over))


@pytest.mark.parametrize(
    "layer",
    [
        MaxPooling2D(2, 1),
        AveragePooling2D(2, padding="same"),
        GlobalAveragePooling2D(),
        GlobalMaxPooling2D("channels_first"),
        UpSampling2D((2, 1)),
        UpSampling2D(2, interpolation="bilinear"),
        ZeroPadding2D(),
        Cropping2D(((0, 1), (1, 0))),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_gradients(layer: Any, check_gradients: Callable[..., None]) -> None:
    check_gradients(layer, [np.random.default_rng(SEED).normal(size=(1, 3, 3, 2))])


@pytest.mark.parametrize(
    ("axes", "kind", "padding", "widths"),
    [
        (1, ZeroPadding1D, 1, [(1, 1)]),
        (1, ZeroPadding1D, (0, 2), [(0, 2)]),
        (1, ZeroPadding1D, [[2, 0]], [(2, 0)]),
        (2, ZeroPadding2D, 2, [(2, 2), (2, 2)]),
        (2, ZeroPadding2D, (1, 2), [(1, 1), (2, 2)]),
        (2, ZeroPadding2D, ((1, 0), (0, 3)), [(1, 0), (0, 3)]),
        (3, ZeroPadding3D, (1, 0, 2), [(1, 1), (0, 0), (2, 2)]),
        (3, ZeroPadding3D, ((1, 0), (0, 3), (0, 0)), [(1, 0), (0, 3), (0, 0)]),
    ],
)
def test_zero_padding(axes: int, kind: Any, padding: Any, widths: list[tuple[int, int]]) -> None:
    x = np.random.default_rng(SEED).normal(size=SHAPES[axes])
    both = check if axes == 1 else check_both_formats
    both(kind, {"padding": padding}, x, np.pad(x, [(0, 0), *widths, (0, 0)]))


@pytest.mark.parametrize(
    ("axes", "kind", "cropping", "parts"),
    [
        (1, Cropping1D, 1, np.s_[1:6]),
        (1, Cropping1D, (0, 2), np.s_[:5]),
        (2, Cropping2D, 2, np.s_[2:5, 2:3]),
        (2, Cropping2D, ((7, 0), (0, 3)), np.s_[7:, :2]),
        (2, Cropping2D, 0, np.s_[:, :]),
        (3, Cropping3D, (1, 0, 1), np.s_[1:3, :, 1:2]),
    ],
)
def test_cropping(axes: int, kind: Any, cropping: Any, parts: Any) -> None:
    x = np.random.default_rng(SEED).normal(size=SHAPES[axes])
    both = check if axes == 1 else check_both_formats
    parts = parts if isinstance(parts, tuple) else (parts,)
    both(kind, {"cropping": cropping}, x, x[(slice(None), *parts)])


@pytest.mark.parametrize(
    ("axes", "kind", "size"), [(1, UpSampling1D, 3), (2, UpSampling2D, (2, 3)), (3, UpSampling3D, (1, 2, 3))]
)
def test_up_sampling(axes: int, kind: Any, size: Any) -> None:
    x = expected = np.random.default_rng(SEED).normal(size=SHAPES[axes])
    for axis in range(axes):
        expected = expected.repeat(size if isinstance(size, int) else size[axis], axis + 1)
    both = check if axes == 1 else check_both_formats
    both(kind, {"size": size}, x, expected)


def test_bilinear_up_sampling() -> None:
    """Between neighbours the values are straight lines, and after the last one they stay."""
    x = np.array([[0.0, 4.0], [8.0, 12.0]])[None, :, :, None]
    expected = np.array([[0, 2, 4, 4], [4, 6, 8, 8], [8, 10, 12, 12], [8, 10, 12, 12]], float)[None, :, :, None]
    np.testing.assert_array_equal(UpSampling2D(interpolation="bilinear")(ag.constant(x)).numpy(), expected)


def test_integers_are_pooled_and_padded() -> None:
    x = np.arange(16).reshape(1, 4, 4, 1)
    assert MaxPooling2D()(x).numpy().ravel().tolist() == [5, 7, 13, 15]
    assert ZeroPadding2D()(x).dtype == ag.int64


def test_short_names() -> None:
    for axes in "123":
        for short, long in (("MaxPool", "MaxPooling"), ("AvgPool", "AveragePooling")):
            for where in ("", "Global"):
                assert getattr(agog_layers, f"{where}{short}{axes}D") is getattr(agog_layers, f"{where}{long}{axes}D")


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_functions(axes: int) -> None:
    x = np.random.default_rng(SEED).normal(size=SHAPES[axes])
    for name, kinds in (("max", MAX), ("average", AVERAGE)):
        function = getattr(agog_layers, f"{name}_pooling{axes}d")
        expected = kinds[axes](2, 1, "same")(ag.constant(x)).numpy()
        np.testing.assert_array_equal(function(ag.constant(x), 2, 1, "same", name="p").numpy(), expected)
    with says(
        TypeError,
        "max_pooling2d has no argument 'no_such'; its arguments are inputs, pool_size, strides, padding, "
        "data_format, name.",
    ):
        agog_layers.max_pooling2d(x, 2, no_such=1)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: MaxPooling2D(0), "MaxPooling2D: pool_size must be an integer of at least 1, or 2 of them; got 0."),
        (
            lambda: AveragePooling3D(2, (1, 2)),
            "AveragePooling3D: strides must be an integer of at least 1, or 3 of them; got (1, 2).",
        ),
        (lambda: MaxPooling1D(padding="causal"), "MaxPooling1D: padding must be 'valid' or 'same'; got 'causal'."),
        (
            lambda: ZeroPadding1D((1, 2, 3)),
            "ZeroPadding1D: padding must be an integer that is not negative, a pair of them; got (1, 2, 3).",
        ),
        (
            lambda: Cropping2D(-1),
            "Cropping2D: cropping must be an integer that is not negative, 2 of them, or 2 pairs of them; got -1.",
        ),
        (lambda: UpSampling1D(0), "UpSampling1D: size must be an integer of at least 1; got 0."),
        (
            lambda: UpSampling2D(interpolation="cubic"),
            "UpSampling2D: interpolation must be 'nearest' or 'bilinear'; got 'cubic'.",
        ),
        (
            lambda: MaxPooling2D(name="p")(ag.zeros([3, 3])),
            "MaxPooling2D layer 'p' takes inputs of shape (batch, height, width, channels) (channels_last); got shape "
            "(3, 3).",
        ),
        (
            lambda: GlobalMaxPooling3D("channels_first", name="p")(ag.zeros([3, 3])),
            "GlobalMaxPooling3D layer 'p' takes inputs of shape (batch, channels, depth, height, width) "
            "(channels_first); got shape (3, 3).",
        ),
        (
            lambda: Cropping2D(2, name="p")(ag.zeros([1, 3, 5, 1])),
            "Cropping2D layer 'p' cannot remove ((2, 2), (2, 2)) from axes of sizes (3, 5).",
        ),
    ],
)
def test_errors(make: Callable[[], Any], text: str) -> None:
    with says(ValueError, text):
        make()
