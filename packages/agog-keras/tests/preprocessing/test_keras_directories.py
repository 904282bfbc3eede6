"""Datasets and batches of folders, against their files; windows of series, against slices."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import NotFoundError
from agog_keras.preprocessing.directories import image_dataset_from_directory, text_dataset_from_directory
from agog_keras.preprocessing.image_generator import ImageDataGenerator
from agog_keras.preprocessing.windows import timeseries_dataset_from_array
from agog_layers import Dense, Flatten
from agog_testing import says
from agog_training import Sequential

SEED = 53
CLASSES = ["birds", "cats", "dogs"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four images a class, each of one value: ten times its class and its number; the last in a folder of its own."""
    image = pytest.importorskip("PIL.Image", reason="pictures are Pillow's, which is not installed")
    for label, name in enumerate(CLASSES):
        for number in range(4):
            place = tmp_path / name / ("more" if number == 3 else "")
            place.mkdir(parents=True, exist_ok=True)
            image.fromarray(np.full((4, 8, 3), 10 * label + number, "u1")).save(place / f"{number}.png")
        (tmp_path / name / "notes.TXT").write_text(f"about {name}")
    return tmp_path


def values(dataset: Any) -> list[float]:
    return [float(image[0, 0, 0]) for images, _ in dataset for image in images.numpy()]


ALL = [float(10 * label + number) for label in range(3) for number in range(4)]


def test_images_and_numbers(folder: Path, capsys: Any) -> None:
    dataset = image_dataset_from_directory(folder, image_size=(2, 4), batch_size=5, shuffle=False)
    assert capsys.readouterr().out == "Found 12 files belonging to 3 classes.\n"
    assert dataset.class_names == CLASSES
    assert [os.path.relpath(path, folder) for path in dataset.file_paths[:4]] == [
        os.path.join("birds", name) for name in ("0.png", "1.png", "2.png", os.path.join("more", "3.png"))
    ]
    found = list(dataset)
    assert [(tuple(x.shape), x.dtype.name, y.dtype.name) for x, y in found] == [
        ((5, 2, 4, 3), "float32", "int32"),
        ((5, 2, 4, 3), "float32", "int32"),
        ((2, 2, 4, 3), "float32", "int32"),
    ]
    assert values(dataset) == ALL
    assert np.concatenate([y.numpy() for _, y in found]).tolist() == [0] * 4 + [1] * 4 + [2] * 4


def test_every_epoch_has_an_order_of_its_own_with_labels_that_fit(folder: Path) -> None:
    dataset = image_dataset_from_directory(folder, image_size=(2, 2), seed=SEED, verbose=False)
    first, second = values(dataset), values(dataset)
    assert first != ALL
    assert first != second
    assert sorted(first) == sorted(second) == ALL
    assert values(image_dataset_from_directory(folder, image_size=(2, 2), seed=SEED, verbose=False)) == first
    pairs = [pair for images, labels in dataset for pair in zip(images, labels, strict=True)]
    assert [int(image[0, 0, 0]) // 10 for image, _ in pairs] == [int(label) for _, label in pairs]


@pytest.mark.parametrize("shuffle", [False, True])
def test_parts_to_train_and_to_validate_on(folder: Path, shuffle: bool) -> None:
    given: Any = {"image_size": (2, 2), "validation_split": 0.25, "seed": SEED, "shuffle": shuffle, "verbose": False}
    training, validation = image_dataset_from_directory(folder, subset="both", **given)
    assert len(values(training)) == 9
    assert sorted(values(training) + values(validation)) == ALL
    for name, part in {"training": training, "validation": validation}.items():
        again = image_dataset_from_directory(folder, subset=name, **given)
        assert sorted(values(again)) == sorted(values(part))


def test_kinds_of_labels_and_colors(folder: Path) -> None:
    given: Any = {"image_size": (2, 2), "shuffle": False, "verbose": False}
    _, one_hot = next(iter(image_dataset_from_directory(folder, label_mode="categorical", **given)))
    np.testing.assert_array_equal(one_hot, np.repeat(np.eye(3, dtype="f4"), 4, 0))
    two = image_dataset_from_directory(folder, label_mode="binary", class_names=["dogs", "cats"], **given)
    assert next(iter(two))[1].numpy().tolist() == [[0.0]] * 4 + [[1.0]] * 4
    assert two.class_names == ["dogs", "cats"]
    alone = image_dataset_from_directory(folder, labels=None, color_mode="grayscale", **given)
    assert next(iter(alone)).shape == (12, 2, 2, 1)
    own = image_dataset_from_directory(folder, labels=list(range(12)), batch_size=None, **given)
    assert [int(label) for _, label in own] == list(range(12))


def test_proportions_are_kept_where_asked_for(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="pictures are Pillow's, which is not installed")
    (tmp_path / "a").mkdir()
    picture = np.zeros((2, 6, 3), "u1")
    picture[:, 2:4] = 100
    image.fromarray(picture).save(tmp_path / "a" / "1.png")
    given: Any = {"image_size": (2, 2), "label_mode": None, "verbose": False, "batch_size": None}
    (cropped,) = image_dataset_from_directory(tmp_path, crop_to_aspect_ratio=True, **given)
    assert cropped.numpy()[..., 0].tolist() == [[100.0, 100.0], [100.0, 100.0]]
    given["image_size"] = (6, 6)
    (padded,) = image_dataset_from_directory(tmp_path, pad_to_aspect_ratio=True, **given)
    np.testing.assert_array_equal(padded[2:4, :, 0], picture[..., 0])
    assert float(ag.reduce_sum(padded)) == picture.sum()


def test_texts(folder: Path) -> None:
    dataset = text_dataset_from_directory(folder, shuffle=False, max_length=9, verbose=False)
    texts, labels = next(iter(dataset))
    assert texts.numpy().tolist() == [b"about bir", b"about cat", b"about dog"]
    assert labels.numpy().tolist() == [0, 1, 2]


def test_a_model_learns_from_a_folder(folder: Path) -> None:
    ag.set_random_seed(SEED)
    dataset = image_dataset_from_directory(folder, image_size=(2, 2), seed=SEED, verbose=False)
    model = Sequential([Flatten(), Dense(3)])
    model.compile("adam", lambda y, p: ag.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=p))
    losses = model.fit(dataset, epochs=20, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"validation_split": 0.5}, "validation_split and subset go together; got 0.5 and None."),
        ({"validation_split": 2.0, "subset": "both"}, "validation_split must be between 0 and 1; got 2.0."),
        (
            {"validation_split": 0.5, "subset": "training"},
            "validation_split with shuffle=True needs a seed, so that both parts have no file in common.",
        ),
        ({"label_mode": "binary"}, "label_mode='binary' goes with 2 classes; there are 3: ['birds', 'cats', 'dogs']."),
        ({"label_mode": "onehot"}, "label_mode must be 'int' or 'categorical' or 'binary'; got 'onehot'."),
        ({"labels": [1, 2]}, "there are 2 labels for 12 files in {folder!r}."),
        ({"class_names": ["cows"]}, "the classes ['cows'] have no folder in {folder!r}; there are {classes}."),
    ],
)
def test_arguments_that_do_not_go_together(folder: Path, arguments: Any, text: str) -> None:
    expected = text.format(folder=str(folder), classes=CLASSES)
    with says(ValueError, f"image_dataset_from_directory: {expected}"):
        image_dataset_from_directory(folder, verbose=False, **arguments)


def test_folders_without_files(tmp_path: Path) -> None:
    with says(NotFoundError, f"text_dataset_from_directory: there is no folder {str(tmp_path / 'none')!r}."):
        text_dataset_from_directory(tmp_path / "none")
    (tmp_path / "a").mkdir()
    with says(ValueError, f"text_dataset_from_directory: no file in {str(tmp_path)!r} ends with .txt."):
        text_dataset_from_directory(tmp_path)


def test_batches_that_are_changed(folder: Path, capsys: Any) -> None:
    flow = ImageDataGenerator(rescale=0.5).flow_from_directory(
        folder, (2, 4), batch_size=5, class_mode="sparse", seed=SEED
    )
    assert capsys.readouterr().out == "Found 12 images belonging to 3 classes.\n"
    assert (len(flow), flow.samples, flow.image_shape) == (3, 12, (2, 4, 3))
    assert flow.class_indices == {"birds": 0, "cats": 1, "dogs": 2}
    assert flow.filenames[:2] == [os.path.join("birds", "0.png"), os.path.join("birds", "1.png")]
    seen = [
        (2 * x[0, 0, 0], y)
        for images, labels in (next(flow) for _ in range(3))
        for x, y in zip(images, labels, strict=True)
    ]
    assert sorted(value for value, _ in seen) == ALL
    assert all(value // 10 == label for value, label in seen)


def test_batches_of_each_kind(folder: Path) -> None:
    generator = ImageDataGenerator(validation_split=0.25)
    given: Any = {"directory": folder, "target_size": (2, 2), "shuffle": False}
    x, y = generator.flow_from_directory(subset="validation", **given)[0]
    assert x[:, 0, 0, 0].tolist() == [0.0, 10.0, 20.0]
    assert y.tolist() == np.eye(3).tolist()
    assert len(generator.flow_from_directory(subset="training", class_mode=None, **given)[0]) == 9
    x, y = generator.flow_from_directory(
        classes=["dogs", "cats"], class_mode="binary", color_mode="grayscale", **given
    )[0]
    assert x.shape == (8, 2, 2, 1)
    assert y.tolist() == [0.0] * 4 + [1.0] * 4
    x, y = generator.flow_from_directory(class_mode="input", **given)[0]
    np.testing.assert_array_equal(x, y)
    with says(ValueError, "ImageDataGenerator: subset='training' goes with validation_split; pass that too."):
        ImageDataGenerator().flow_from_directory(subset="training", **given)


def test_more_changes_of_images() -> None:
    ag.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    images = rng.uniform(50, 100, (20, 5, 5, 2)).astype("f4")
    ratios = ImageDataGenerator(brightness_range=(0.5, 1.5)).changed(images) / images
    assert np.ptp(ratios, axis=(1, 2, 3)).max() < 1e-5
    assert 0.5 <= ratios.min() < 0.8 < 1.2 < ratios.max() <= 1.5
    alone = ImageDataGenerator(samplewise_center=True, samplewise_std_normalization=True).changed(images)
    expected = (images - images.mean((1, 2, 3), keepdims=True)) / images.std((1, 2, 3), keepdims=True)
    np.testing.assert_allclose(alone, expected, rtol=1e-3, atol=1e-3)
    shifted = ImageDataGenerator(channel_shift_range=30.0).changed(images)
    assert not np.array_equal(shifted, images)
    assert (shifted.max((1, 2, 3)) <= images.max((1, 2, 3))).all()
    sheared = ImageDataGenerator(shear_range=45, zoom_range=(1.0, 1.0)).changed(images)
    np.testing.assert_allclose(sheared[:, 2, 2], images[:, 2, 2], rtol=1e-5)  # the middle stays
    assert not np.allclose(sheared[:, 2, 0], images[:, 2, 0])
    with pytest.raises(TypeError) as caught:
        ImageDataGenerator(rotation=3)
    assert str(caught.value).startswith("ImageDataGenerator has no argument 'rotation'; did you mean 'rotation_range'?")


@pytest.mark.parametrize("batch_size", [None, 1, 4, 100])
@pytest.mark.parametrize(("length", "stride", "rate"), [(3, 1, 1), (2, 3, 2), (4, 2, 1)])
def test_windows(length: int, stride: int, rate: int, batch_size: int | None) -> None:
    series = np.random.default_rng(SEED).normal(size=(13, 2)).astype("f4")
    targets = np.arange(13)
    dataset = timeseries_dataset_from_array(series, targets, length, stride, rate, batch_size, start_index=1)
    found = [(x.numpy(), y.numpy()) for x, y in dataset]
    if batch_size is not None:
        found = [(x, y) for xs, ys in found for x, y in zip(xs, ys, strict=True)]
    starts = [start for start in range(1, 13, stride) if start + (length - 1) * rate < 13]
    assert [int(y) for _, y in found] == starts
    for (x, _), start in zip(found, starts, strict=True):
        np.testing.assert_array_equal(x, series[start : start + (length - 1) * rate + 1 : rate])


def test_windows_alone_and_shuffled() -> None:
    dataset = timeseries_dataset_from_array(np.arange(40), None, 2, shuffle=True, seed=SEED, batch_size=64)
    (batch,) = [each.numpy() for each in dataset]
    assert sorted(batch.tolist()) == [[n, n + 1] for n in range(39)]
    assert batch[:, 0].tolist() != list(range(39))


def test_series_that_are_too_short() -> None:
    with says(ValueError, "timeseries_dataset_from_array: 4 steps hold no window of 3 steps at a distance of 2."):
        timeseries_dataset_from_array(np.arange(4), None, 3, sampling_rate=2)
    with says(ValueError, "timeseries_dataset_from_array: sequence_stride must be at least 1; got 0."):
        timeseries_dataset_from_array(np.arange(4), None, 3, sequence_stride=0)
