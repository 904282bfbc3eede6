"""MNIST in batches: small files made here, and the real ones in AGOG_DATA_DIR."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import errors
from agog_data.datasets import DataSet, load_data, mnist_batches, mnist_download, read_data_sets
from agog_testing import says

IMAGES = np.arange(7 * 2 * 3, dtype=np.uint8).reshape(7, 2, 3)
LABELS = np.array([7, 2, 1, 0, 4, 1, 9], np.uint8)


def write_files(folder: Path) -> Path:
    """Write a database of seven training images and two others."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, count in (("train", 7), ("t10k", 2)):
        images, labels = IMAGES[:count], LABELS[:count]
        header = struct.pack(">4I", 2051, *images.shape)
        (folder / f"{name}-images-idx3-ubyte").write_bytes(header + images.tobytes())
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 2049, count) + labels.tobytes())
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "files")


def test_images_are_rows_from_0_to_1(folder: Path) -> None:
    data = read_data_sets(folder, validation_size=3)
    assert data._fields == ("train", "validation", "test")
    assert [part.num_examples for part in data] == [4, 3, 2]
    assert np.array_equal(data.train.images, np.float32(IMAGES[3:].reshape(4, 6)) * np.float32(1 / 255))
    assert data.train.images.dtype == np.float32
    assert data.validation.images[-1].tolist() == (np.float32(IMAGES[2].ravel()) * np.float32(1 / 255)).tolist()
    assert [part.labels.tolist() for part in data] == [[0, 4, 1, 9], [7, 2, 1], [7, 2]]
    assert {part.labels.dtype.name for part in data} == {"uint8"}


def test_images_as_they_are_and_one_hot_labels(folder: Path) -> None:
    data = read_data_sets(str(folder), one_hot=True, dtype=ag.uint8, reshape=False, validation_size=0)
    assert np.array_equal(data.train.images, IMAGES[..., np.newaxis])
    assert data.train.images.dtype == np.uint8
    assert data.train.labels.dtype == np.float64
    assert data.train.labels.shape == (7, 10)
    assert np.array_equal(data.train.labels.argmax(1), LABELS)
    assert np.array_equal(data.train.labels.sum(1), np.ones(7))
    assert data.validation.images.shape == (0, 2, 3, 1)


def test_batches_without_shuffling_wrap_around(folder: Path) -> None:
    train = read_data_sets(folder, validation_size=0).train
    labels, completed = [], []
    for _ in range(4):
        images, batch = train.next_batch(3, shuffle=False)
        assert images.shape == (3, 6)
        labels += batch.tolist()
        completed.append(train.epochs_completed)
    assert labels == (LABELS.tolist() * 2)[:12]
    assert completed == [0, 0, 1, 1]


def test_a_batch_that_ends_with_the_epoch_begins_no_other(folder: Path) -> None:
    train = read_data_sets(folder, validation_size=0).train
    train.next_batch(7)
    assert train.epochs_completed == 0
    train.next_batch(1)
    assert train.epochs_completed == 1


def test_a_batch_of_several_epochs(folder: Path) -> None:
    train = read_data_sets(folder, validation_size=0).train
    images, labels = train.next_batch(17, shuffle=False)
    assert images.shape == (17, 6)
    assert labels.tolist() == (LABELS.tolist() * 3)[:17]
    assert train.epochs_completed == 2
    assert train.next_batch(1, shuffle=False)[1].tolist() == [LABELS[3]]


def test_shuffled_epochs_have_each_image_once_with_its_label(folder: Path) -> None:
    train = read_data_sets(folder, validation_size=0, dtype="uint8", seed=3).train
    batches = [train.next_batch(3) for _ in range(7)]  # three epochs
    images = np.concatenate([images for images, _ in batches])
    labels = np.concatenate([labels for _, labels in batches])
    orders = (images[:, 0] // 6).reshape(3, 7)
    assert np.array_equal(LABELS[orders.ravel()], labels)
    assert all(sorted(order) == list(range(7)) for order in orders.tolist())
    # NumPy's documented algorithm for a seed, applied again to each epoch's order.
    numbers, state = np.arange(7), np.random.RandomState(3)
    for order in orders:
        permutation = np.arange(7)
        state.shuffle(permutation)
        numbers = numbers[permutation]
        assert np.array_equal(order, numbers)


def test_the_graph_seed_determines_the_order() -> None:
    def order(graph_seed: int | None) -> list[int]:
        ag.set_random_seed(graph_seed)
        labels: list[int] = DataSet(np.zeros([20, 1, 1, 1]), np.arange(20)).next_batch(20)[1].tolist()
        return labels

    try:
        assert order(5) == order(5)
        assert order(5) != order(6)
        assert order(2**40) == order(2**40)
        assert order(None) != order(None)  # one in 20! runs would have it otherwise
    finally:
        ag.set_random_seed(None)


def test_fake_data() -> None:
    data = read_data_sets("", fake_data=True, one_hot=True)
    assert data.test.num_examples == 10000
    images, labels = data.train.next_batch(2, fake_data=True)
    assert images == [[1] * 784] * 2
    assert labels == [[1, 0, 0, 0, 0, 0, 0, 0, 0, 0]] * 2
    assert read_data_sets("", True).train.next_batch(3, True)[1] == [0, 0, 0]


def test_arguments_that_fit_nothing(folder: Path) -> None:
    with says(ValueError, "read_data_sets: a validation_size from 0 to 7 is expected; it is 5000."):
        read_data_sets(folder)
    with says(TypeError, "DataSet: images are float32 or uint8, not float64."):
        read_data_sets(folder, validation_size=0, dtype=ag.float64)
    with says(
        errors.InvalidArgumentError,
        "DataSet: as many labels as images are expected; the images have shape (2, 3, 3, 1), the labels (3,).",
    ):
        DataSet(np.zeros([2, 3, 3, 1]), np.zeros([3]))
    with says(
        errors.InvalidArgumentError,
        "DataSet: images of shape (n, rows, columns, 1) are expected; they have shape (2, 3, 3, 4). "
        "With reshape=False they stay as they are.",
    ):
        DataSet(np.zeros([2, 3, 3, 4]), np.zeros([2]))
    data = read_data_sets(folder, validation_size=0)
    for part, size in ((data.train, -1), (data.validation, 1)):
        with says(
            errors.InvalidArgumentError,
            f"next_batch: a batch_size of 0 or more is expected, and of 0 where there are no images; it is {size}, and "
            f"there are {part.num_examples} images.",
        ):
            part.next_batch(size)
    assert data.validation.next_batch(0)[0].shape == (0, 6)


def test_what_is_there_is_not_downloaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def download(directory: Path, mirrors: Any) -> Path:
        asked.append((Path(directory), mirrors))
        return write_files(Path(directory))

    monkeypatch.setattr(mnist_batches, "download_mnist", download)
    read_data_sets(folder, validation_size=0)
    load_data(folder)
    assert asked == []
    absent = folder / "absent"
    read_data_sets(absent, validation_size=0, source_url="https://mirror/")
    load_data(absent.with_name("other.npz"))
    assert asked == [(absent, ["https://mirror/"]), (absent.with_name("other"), mnist_download.MIRRORS)]


def test_kerass_digits(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (x_train, y_train), (x_test, y_test) = load_data(folder)
    assert np.array_equal(x_train, IMAGES)
    assert np.array_equal(y_train, LABELS)
    assert [x.dtype.name for x in (x_train, y_train, x_test, y_test)] == ["uint8"] * 4
    np.savez(tmp_path / "all.npz", x_train=x_train, y_train=y_train, x_test=x_test[:1], y_test=y_test[:1])
    (images, _), (_, labels) = load_data(tmp_path / "all.npz")
    assert np.array_equal(images, IMAGES)
    assert labels.tolist() == [7]
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    write_files(tmp_path / "agog" / "mnist")
    assert np.array_equal(load_data()[1][0], IMAGES[:2])
    (tmp_path / "keras" / "datasets").mkdir(parents=True)
    np.savez(
        tmp_path / "keras" / "datasets" / "mnist.npz", x_train=x_train, y_train=y_train, x_test=x_train, y_test=y_train
    )
    assert np.array_equal(load_data()[1][0], IMAGES)
    (tmp_path / "agog" / "mnist.npz").write_bytes(b"")  # where Keras keeps it is looked at first
    assert np.array_equal(load_data()[1][0], IMAGES)


def test_broken_files_of_keras(folder: Path, tmp_path: Path) -> None:
    (x_train, y_train), (x_test, y_test) = load_data(folder)
    file = tmp_path / "mnist.npz"
    np.savez(file, x_train=x_train, y_train=y_train[1:], x_test=x_test, y_test=y_test)
    with says(
        errors.DataLossError,
        f"{file}: as many labels as images are expected; x_train has shape {x_train.shape}, y_train "
        f"{y_train[1:].shape}, x_test {x_test.shape}, and y_test {y_test.shape}.",
    ):
        load_data(file)
    file.write_bytes(file.read_bytes()[:-100])
    with says(errors.DataLossError, f"{file}: it is no whole .npz file: File is not a zip file."):
        load_data(file)
    np.savez(file, x_train=x_train)
    with says(errors.DataLossError, f"{file}: it has not the arrays y_train, x_test, y_test; it has x_train."):
        load_data(file)


def test_the_real_files() -> None:
    if "AGOG_DATA_DIR" not in os.environ:
        pytest.skip("AGOG_DATA_DIR is not set; it names the folder that holds mnist/train-images-idx3-ubyte.gz")
    folder = Path(os.environ["AGOG_DATA_DIR"]) / "mnist"
    data = read_data_sets(folder)
    assert [part.images.shape for part in data] == [(55000, 784), (5000, 784), (10000, 784)]
    assert (data.test.images.min(), data.test.images.max()) == (0.0, 1.0)
    assert data.validation.labels[:5].tolist() == [5, 0, 4, 1, 9]
    (x_train, y_train), _ = load_data(folder)
    assert np.array_equal(np.rint(data.train.images * 255).reshape(-1, 28, 28), x_train[5000:])
    assert np.array_equal(data.train.labels, y_train[5000:])
