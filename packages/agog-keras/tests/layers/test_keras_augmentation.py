"""Layers that resize and change images, against loops over pixels in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_keras.layers import (
    CenterCrop,
    RandomBrightness,
    RandomContrast,
    RandomCrop,
    RandomFlip,
    RandomRotation,
    RandomTranslation,
    RandomZoom,
    Resizing,
    augmentation,
    resize,
    warped,
)
from agog_testing import says

rng = np.random.default_rng(41)
IMAGES = rng.uniform(size=(2, 5, 7, 3)).astype("f4")


def cubic(x: float) -> float:
    if x <= 1:
        return 1.5 * x**3 - 2.5 * x**2 + 1
    return -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2 if x < 2 else 0.0


def mitchell(x: float) -> float:
    if x < 1:
        return (21 * x**3 - 36 * x**2 + 16) / 18
    return (-7 * x**3 + 36 * x**2 - 60 * x + 32) / 18 if x < 2 else 0.0


def lanczos(x: float, a: int) -> float:
    return float(np.sinc(x) * np.sinc(x / a)) if x < a else 0.0


KERNELS: dict[str, Any] = {
    "bilinear": lambda x: max(0.0, 1 - x),
    "bicubic": cubic,
    "gaussian": lambda x: math.exp(-2 * x * x) if x < 1.5 else 0.0,
    "lanczos3": lambda x: lanczos(x, 3),
    "lanczos5": lambda x: lanczos(x, 5),
    "mitchellcubic": mitchell,
}


def line(values: Any, size: int, method: str, antialias: bool) -> Any:
    """One axis, the first, by the definition."""
    old, out = len(values), []
    for n in range(size):
        middle = (n + 0.5) * old / size
        if method == "nearest":
            out.append(values[min(old - 1, int(middle))])
            continue
        wide = max(1.0, old / size) if antialias else 1.0
        if method == "area":
            low, high = n * old / size, (n + 1) * old / size
            weights = [max(0.0, min(k + 1, high) - max(k, low)) for k in range(old)]
        else:
            weights = [KERNELS[method](abs(k + 0.5 - middle) / wide) for k in range(old)]
        out.append(sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights))
    return np.array(out)


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("size", [(3, 4), (8, 9), (5, 14), (1, 1)])
@pytest.mark.parametrize("method", [*KERNELS, "nearest", "area"])
def test_resize(method: str, size: tuple[int, int], antialias: bool) -> None:
    x = IMAGES.astype("f8")
    rows = np.stack([line(image, size[0], method, antialias) for image in x])
    expected = np.stack([np.stack([line(row, size[1], method, antialias) for row in image]) for image in rows])
    found = resize(IMAGES, size, method, antialias=antialias)
    np.testing.assert_allclose(found.numpy(), expected, rtol=2e-4, atol=2e-5, err_msg="seed 41")
    # BLAS libraries add up the products of one row in another order than those of several.
    alone = resize(IMAGES[0], size, method, antialias=antialias).numpy()
    np.testing.assert_allclose(alone, found[0].numpy(), rtol=1e-6, atol=1e-6, err_msg="seed 41")


def test_resize_of_integers() -> None:
    pixels = np.arange(12, dtype="u1").reshape(1, 3, 4, 1)
    assert resize(pixels, [6, 4], "nearest").dtype.name == "uint8"
    assert resize(pixels, [6, 4], ag.constant(1).numpy()).dtype.name == "uint8"
    assert resize(pixels, [6, 4]).dtype.name == "float32"


def test_resize_can_keep_the_shape() -> None:
    assert resize(IMAGES, [10, 10], preserve_aspect_ratio=True).shape.as_list() == [2, 7, 10, 3]


def test_gradients_flow_through_resize() -> None:
    (gradient,) = ag.gradients_function(lambda x: resize(x, [2, 2]))(ag.constant(IMAGES))
    np.testing.assert_allclose(gradient.numpy().sum(), 2 * 2 * 2 * 3, rtol=1e-5)


def test_what_resize_refuses() -> None:
    with says(
        ValueError,
        "resize: method must be 'bilinear' or 'bicubic' or 'gaussian' or 'lanczos3' or 'lanczos5' or "
        "'mitchellcubic' or 'nearest' or 'area'; got 'linear'.",
    ):
        resize(IMAGES, [2, 2], "linear")
    with says(
        InvalidArgumentError,
        "resize: images must be of shape (n, height, width, channels) or (height, width, channels); got shape (7, 3).",
    ):
        resize(IMAGES[0, 0], [2, 2])


def test_resizing_and_cropping() -> None:
    np.testing.assert_array_equal(Resizing(3, 4)(IMAGES).numpy(), resize(IMAGES, [3, 4]).numpy())
    square = Resizing(2, 2, crop_to_aspect_ratio=True)(IMAGES)
    np.testing.assert_allclose(square.numpy(), resize(IMAGES[:, :, 1:6], [2, 2]).numpy(), rtol=1e-6)
    np.testing.assert_array_equal(CenterCrop(3, 3)(IMAGES).numpy(), IMAGES[:, 1:4, 2:5])
    assert CenterCrop(6, 3)(IMAGES).shape.as_list() == [2, 6, 3, 3]


def at(image: Any, y: int, x: int, mode: str, value: float) -> Any:
    """A pixel, by numpy.pad's modes."""
    padding = {"constant": "constant", "nearest": "edge", "reflect": "symmetric", "wrap": "wrap"}[mode]
    options = {"constant_values": value} if mode == "constant" else {}
    return np.pad(image, ((9, 9), (9, 9), (0, 0)), padding, **options)[y + 9, x + 9]


@pytest.mark.parametrize("interpolation", ["bilinear", "nearest"])
@pytest.mark.parametrize("mode", ["constant", "nearest", "reflect", "wrap"])
def test_pixels_from_other_places(mode: str, interpolation: str) -> None:
    y, x = rng.uniform(-6, 9, (2, 3, 4)), rng.uniform(-6, 9, (2, 3, 4))
    found = warped(
        ag.constant(IMAGES), ag.constant(y, "float32"), ag.constant(x, "float32"), mode, 0.5, interpolation
    ).numpy()
    for index in np.ndindex(2, 3, 4):
        image, row, column = IMAGES[index[0]].astype("f8"), y[index], x[index]
        if interpolation == "nearest":
            expected = at(image, math.floor(row + 0.5), math.floor(column + 0.5), mode, 0.5)
        else:
            top, left = math.floor(row), math.floor(column)
            corners = [
                ((1 - abs(row - r)) * (1 - abs(column - c)), at(image, r, c, mode, 0.5))
                for r in (top, top + 1)
                for c in (left, left + 1)
            ]
            expected = sum(weight * pixel for weight, pixel in corners)
        np.testing.assert_allclose(found[index], expected, atol=1e-5, err_msg=f"seed 41, {index}")


def test_flips() -> None:
    ag.set_random_seed(1)
    many = np.repeat(IMAGES[:1], 40, 0)
    images = RandomFlip()(many).numpy()
    original = IMAGES[0]
    kinds = [original, original[:, ::-1], original[::-1], original[::-1, ::-1]]
    counts = [sum(np.array_equal(image, kind) for image in images) for kind in kinds]
    assert sum(counts) == 40
    assert min(counts) > 0
    sideways = RandomFlip("horizontal")(many).numpy()
    assert {np.array_equal(image, original[:, ::-1]) for image in sideways} == {True, False}
    assert not any(np.array_equal(image, original[::-1]) for image in sideways)


def test_crops_are_parts() -> None:
    ag.set_random_seed(2)
    pictures = RandomCrop(3, 4)(np.repeat(IMAGES[:1], 30, 0)).numpy()
    parts = [IMAGES[0, y : y + 3, x : x + 4] for y in range(3) for x in range(4)]
    found = [next(n for n, part in enumerate(parts) if np.array_equal(part, each)) for each in pictures]
    assert len(set(found)) > 5
    np.testing.assert_array_equal(RandomCrop(3, 3)(IMAGES, training=False).numpy(), IMAGES[:, 1:4, 2:5])
    assert RandomCrop(9, 9)(IMAGES).shape.as_list() == [2, 9, 9, 3]


def test_turns() -> None:
    square = IMAGES[:, :5, :5]
    quarter = RandomRotation((0.25, 0.25), interpolation="nearest")(square).numpy()
    np.testing.assert_allclose(quarter, np.rot90(square, 1, (1, 2)), atol=1e-6)
    whole = RandomRotation((1.0, 1.0))(square).numpy()
    np.testing.assert_allclose(whole, square, atol=1e-4)


def test_moves_and_zooms() -> None:
    moved = RandomTranslation((0.2, 0.2), (-1 / 7, -1 / 7), "constant", fill_value=9.0)(IMAGES).numpy()
    expected = np.full_like(IMAGES, 9.0)
    expected[:, 1:, :6] = IMAGES[:, :4, 1:]
    np.testing.assert_allclose(moved, expected, atol=1e-4)
    twice = RandomZoom((-0.5, -0.5), interpolation="nearest")(IMAGES[:, :5, :5]).numpy()
    places = [math.floor((n - 2) / 2 + 2 + 0.5) for n in range(5)]
    np.testing.assert_array_equal(twice, IMAGES[:, places][:, :, places])
    narrow = RandomZoom((0.0, 0.0), (1.0, 1.0), "constant", "nearest")(IMAGES[:, :5, :5]).numpy()
    np.testing.assert_array_equal(narrow[:, :, 2], IMAGES[:, :5, 2])
    np.testing.assert_array_equal(narrow[:, :, 0], 0.0)


def test_contrast_and_brightness() -> None:
    strong = RandomContrast((-0.5, 0.5))(IMAGES).numpy()
    mean = IMAGES.mean((1, 2), keepdims=True)
    np.testing.assert_allclose(strong, mean + (IMAGES - mean) * 1.5, rtol=1e-5, atol=1e-6)
    bright = RandomBrightness((0.25, 0.25), (0.0, 1.0))(IMAGES).numpy()
    np.testing.assert_allclose(bright, np.minimum(IMAGES + 0.25, 1.0), rtol=1e-6)


LAYERS: dict[str, Any] = {
    "flip": lambda: RandomFlip("vertical", seed=3),
    "rotation": lambda: RandomRotation((0.1, 0.2), "wrap", seed=3),
    "translation": lambda: RandomTranslation(0.1, (0.0, 0.3), "nearest", seed=3),
    "zoom": lambda: RandomZoom(0.2, 0.3, "constant", fill_value=0.5, seed=3),
    "contrast": lambda: RandomContrast(0.5, seed=3),
    "brightness": lambda: RandomBrightness(0.5, (0.0, 1.0), seed=3),
}


@pytest.mark.parametrize("kind", LAYERS)
def test_images_stay_as_they_are_without_training(kind: str) -> None:
    np.testing.assert_array_equal(LAYERS[kind]()(IMAGES, training=False).numpy(), IMAGES)
    ag.set_random_seed(8)
    assert LAYERS[kind]()(IMAGES[0]).shape.as_list() == [5, 7, 3]


def test_bounds() -> None:
    with pytest.raises(ValueError, match=r".") as error:
        augmentation.RandomZoom((0.5, 0.1))
    assert str(error.value) == (
        "RandomZoom: height_factor must be a number that is not negative, or (least, largest); got (0.5, 0.1)."
    )
