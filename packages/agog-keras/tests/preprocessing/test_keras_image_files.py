"""Pictures, batches of images that are changed, and models that are drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import UnavailableError
from agog_keras import plotting
from agog_keras.preprocessing.image_generator import ImageDataGenerator
from agog_keras.preprocessing.images import array_to_img, img_to_array, load_img, save_img
from agog_keras.preprocessing.sequences import _remove_long_seq
from agog_layers import Add, Dense, Input
from agog_testing import says
from agog_training import Model, Sequential

rng = np.random.default_rng(47)
IMAGES = rng.uniform(0, 255, (10, 4, 6, 3)).astype("f4")


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="pictures are Pillow's, which is not installed")
    array = np.arange(24, dtype="u1").reshape(2, 4, 3) * 10
    array_to_img(array, scale=False).save(tmp_path / "p.png")
    np.testing.assert_array_equal(img_to_array(load_img(tmp_path / "p.png")), array)
    assert img_to_array(load_img(tmp_path / "p.png", "grayscale", (4, 8))).shape == (4, 8, 1)
    assert np.asarray(array_to_img(np.array([[[1.0], [3.0]]]))).tolist() == [[0, 255]]
    with says(
        ValueError,
        "load_img: color_mode must be one of rgb, rgba, grayscale, and interpolation one of nearest, bilinear, "
        "bicubic; got 'cmyk' and 'nearest'.",
    ):
        load_img(tmp_path / "p.png", "cmyk")


def test_batches_of_images() -> None:
    flow = ImageDataGenerator(rescale=0.5).flow(IMAGES, np.arange(10), batch_size=4, seed=1)
    assert len(flow) == 3
    seen = []
    for _ in range(6):
        x, y = next(flow)
        np.testing.assert_allclose(x, IMAGES[y] / 2, rtol=1e-6)
        seen.append(y.tolist())
    first, second = ([number for batch in part for number in batch] for part in (seen[:3], seen[3:]))
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second
    with says(
        ValueError,
        "ImageDataGenerator.flow: x must be of shape (n, height, width, channels), and y of n labels; got "
        "(10, 4, 6, 3) and (3,).",
    ):
        ImageDataGenerator().flow(IMAGES, np.arange(3))


def test_changes_of_images() -> None:
    ag.set_random_seed(4)
    many = np.repeat(IMAGES[:1], 30, 0)
    flipped = ImageDataGenerator(horizontal_flip=True, preprocessing_function=lambda x: x + 1).changed(many)
    kinds = [sum(np.array_equal(x, kind + 1) for x in flipped) for kind in (IMAGES[0], IMAGES[0][:, ::-1])]
    assert sum(kinds) == 30
    assert min(kinds) > 0
    moved = ImageDataGenerator(rotation_range=20, width_shift_range=0.2, height_shift_range=0.1, zoom_range=0.1)
    assert not np.array_equal(moved.changed(many)[0], moved.changed(many)[1])


def test_moments_of_images() -> None:
    generator = ImageDataGenerator(featurewise_center=True, featurewise_std_normalization=True)
    with says(RuntimeError, "ImageDataGenerator: call fit on images first, which finds their mean and deviation."):
        generator.changed(IMAGES)
    generator.fit(IMAGES)
    expected = (IMAGES - IMAGES.mean((0, 1, 2))) / IMAGES.std((0, 1, 2))
    np.testing.assert_allclose(generator.changed(IMAGES), expected, rtol=1e-3, atol=1e-4)
    generator.fit(IMAGES, augment=True, rounds=2, seed=3)
    np.testing.assert_allclose(generator.mean, IMAGES.mean((0, 1, 2)), rtol=1e-4)


def test_models_train_on_such_batches() -> None:
    from agog_layers import Flatten

    model = Sequential([Flatten(), Dense(1)])
    model.compile("sgd", "mse")
    flow = ImageDataGenerator(rescale=1 / 255).flow(IMAGES, np.ones(10), batch_size=5)
    assert len(model.fit(flow, steps_per_epoch=2, epochs=2, verbose=0).epoch) == 2


def test_drawings_of_models(tmp_path: Path) -> None:
    x = Input(shape=[3], name="x")
    left, right = Dense(2, name="left")(x), Dense(2, name="right")(x)
    model = Model(x, Add(name="sum")([left, right]), name="m")
    text = plotting.model_to_dot(model, show_shapes=True, rankdir="LR")
    assert '"left" [label="left|Dense|(?, 2)"];' in text
    assert [line.strip() for line in text.splitlines() if "->" in line][-2:] == [
        '"left" -> "sum";',
        '"right" -> "sum";',
    ]
    path = plotting.plot_model(model, tmp_path / "m.dot", show_layer_names=False)
    assert Path(path).read_text() == plotting.model_to_dot(model, show_layer_names=False) + "\n"


def test_drawings_need_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with says(
        UnavailableError,
        "plot_model: m.png is drawn by the program dot of Graphviz, which is not on the path; install Graphviz, or "
        "write the text with to_file='model.dot'. print(model) and model.summary() show the layers too.",
    ):
        plotting.plot_model(Sequential([Dense(1)]), "m.png")
    dot = tmp_path / "dot"
    dot.write_text('#!/bin/sh\nprintf \'%s \' "$@" > "$4"\n')
    dot.chmod(0o755)
    target = tmp_path / "m.svg"
    assert plotting.plot_model(Sequential([Dense(1)]), target) == str(target)
    assert target.read_text().split() == ["-Tsvg", "-Gdpi=200", "-o", str(target)]


@pytest.mark.parametrize(("name", "file_format", "magic"), [("p.png", None, b"\x89PNG"), ("p", "png", b"\x89PNG")])
def test_arrays_are_written_as_pictures(name: str, file_format: str | None, magic: bytes, tmp_path: Path) -> None:
    array = np.random.default_rng(2).integers(0, 256, (4, 5, 3)).astype("u1")
    save_img(tmp_path / name, array, file_format=file_format, scale=False)
    assert (tmp_path / name).read_bytes().startswith(magic)
    np.testing.assert_array_equal(img_to_array(load_img(tmp_path / name)), array)
    save_img(tmp_path / name, np.moveaxis(array, -1, 0), "channels_first", "png", scale=False)
    np.testing.assert_array_equal(img_to_array(load_img(tmp_path / name)), array)


def test_jpeg_files(tmp_path: Path) -> None:
    save_img(tmp_path / "p", np.full((8, 8, 1), 100.0), file_format="jpg", scale=False)
    assert (tmp_path / "p").read_bytes().startswith(b"\xff\xd8\xff")
    assert abs(img_to_array(load_img(tmp_path / "p", "grayscale")) - 100).max() <= 1
    with says(ValueError, "save_img: JPEG files have 1 or 3 channels; got 4. Leave the last one out: x[..., :3]."):
        save_img(tmp_path / "p.jpg", np.zeros((2, 2, 4)))


def test_long_sequences_are_left_out_with_their_labels() -> None:
    """As in Keras, those of the greatest length too."""
    sequences, labels = [[1], [1, 2, 3], [], [1, 2]], ["a", "b", "c", "d"]
    assert _remove_long_seq(3, sequences, labels) == ([[1], [], [1, 2]], ["a", "c", "d"])
    assert _remove_long_seq(2, sequences, labels) == ([[1], []], ["a", "c"])
    assert _remove_long_seq(0, sequences, labels) == ([], [])
