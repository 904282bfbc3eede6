"""Batches of images: whitened, with the channels first, and pictures of both formats."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agog_keras.preprocessing.image_generator import ImageDataGenerator
from agog_keras.preprocessing.images import array_to_img, img_to_array, load_img

SEED = 7


def test_whitened_pixels_do_not_depend_on_one_another() -> None:
    rng = np.random.default_rng(SEED)
    images = rng.normal(size=(200, 2, 2, 1)) @ np.ones((1, 1)) + rng.normal(size=(200, 1, 1, 1)) * 3
    generator = ImageDataGenerator(featurewise_center=True, zca_whitening=True)
    generator.fit(images)
    batch = generator.flow(images, batch_size=200, shuffle=False)[0].reshape(200, 4)
    np.testing.assert_allclose(batch.T @ batch / 200, np.eye(4), atol=1e-3, err_msg=f"seed {SEED}")
    centered = (images - images.mean()).reshape(200, 4)
    values, vectors = np.linalg.eigh(centered.T @ centered / 200)
    expected = centered @ (vectors / np.sqrt(values)) @ vectors.T
    np.testing.assert_allclose(batch, expected, rtol=1e-3, atol=1e-3, err_msg=f"seed {SEED}")


def test_images_with_their_channels_first() -> None:
    images = np.random.default_rng(SEED).normal(size=(6, 4, 5, 3)).astype("float32")
    options = {"featurewise_center": True, "featurewise_std_normalization": True}
    last, first = ImageDataGenerator(**options), ImageDataGenerator(data_format="channels_first", **options)
    last.fit(images)
    first.fit(np.moveaxis(images, -1, 1))
    np.testing.assert_array_equal(first.mean, last.mean)
    found = first.flow(np.moveaxis(images, -1, 1), shuffle=False)[0]
    np.testing.assert_allclose(found, np.moveaxis(last.flow(images, shuffle=False)[0], -1, 1), rtol=1e-6)


def test_pictures_with_their_channels_first(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="Pillow makes the pictures")
    array = np.random.default_rng(SEED).integers(0, 256, (3, 4, 5))
    picture = array_to_img(array, "channels_first", scale=False)
    assert picture.size == (5, 4)
    np.testing.assert_array_equal(img_to_array(picture, "channels_first"), array)
    picture.save(tmp_path / "p.png")
    for gray in (load_img(tmp_path / "p.png", grayscale=True), load_img(tmp_path / "p.png", True)):
        assert gray.mode == "L"
    (tmp_path / "images" / "a").mkdir(parents=True)
    picture.save(tmp_path / "images" / "a" / "p.png")
    generator = ImageDataGenerator(data_format="channels_first")
    batches = generator.flow_from_directory(tmp_path / "images", target_size=(4, 5), class_mode=None)
    assert batches.image_shape == (3, 4, 5)
    np.testing.assert_array_equal(batches[0][0], array)


def test_single_images() -> None:
    images = np.random.default_rng(SEED).normal(size=(6, 4, 5, 3)).astype("float32")
    generator = ImageDataGenerator(featurewise_center=True, horizontal_flip=True, data_format="channels_first")
    first = np.moveaxis(images, -1, 1)
    generator.fit(first)
    np.testing.assert_allclose(generator.standardize(first[0]), first[0] - images.mean((0, 1, 2))[:, None, None], 1e-5)
    np.testing.assert_array_equal(generator.standardize(first)[0], generator.standardize(first[0]))
    flips = {generator.random_transform(first[0], seed).tobytes() for seed in range(20)}
    assert flips == {first[0].tobytes(), first[0, :, :, ::-1].tobytes()}
    again = [generator.random_transform(first[0], 3) for _ in range(2)]
    np.testing.assert_array_equal(*again)


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (
            lambda: ImageDataGenerator(data_format="unknown"),
            "ImageDataGenerator: data_format must be 'channels_first' or 'channels_last'; got 'unknown'.",
        ),
        (
            lambda: ImageDataGenerator().fit(np.zeros((3, 10, 10))),
            "ImageDataGenerator.fit: x must be of shape (n, height, width, channels); got (3, 10, 10).",
        ),
        (
            lambda: array_to_img(np.zeros((3, 3))),
            "array_to_img: x must be of shape (height, width, channels); got (3, 3).",
        ),
        (lambda: array_to_img(np.zeros((3, 3, 5))), "array_to_img: x must have 1, 3 or 4 channels; got 5."),
    ],
)
def test_errors(act: Callable[[], Any], text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        act()
