"""MNIST from its files: small ones made here, and the real ones in AGOG_DATA_DIR."""

from __future__ import annotations

import gzip
import os
import struct
from pathlib import Path

import numpy as np
import pytest

from agog_core import errors
from agog_data import Dataset
from agog_data.datasets import mnist
from agog_testing import says

IMAGES = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
LABELS = np.array([7, 2], np.uint8)


def images_file(images: np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]) -> bytes:
    return struct.pack(">4I", 2051, *images.shape) + images.tobytes()


def labels_file(labels: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> bytes:
    return struct.pack(">2I", 2049, len(labels)) + labels.tobytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small database: one file compressed, three as they are."""
    (tmp_path / "train-images-idx3-ubyte").write_bytes(images_file(IMAGES))
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels_file(LABELS)))
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(images_file(IMAGES[:1]))
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(labels_file(LABELS[:1]))
    return tmp_path


def test_files_compressed_or_not(folder: Path) -> None:
    for directory in (folder, str(folder)):
        (train_images, train_labels), (test_images, test_labels) = mnist(directory)
        assert np.array_equal(train_images, IMAGES)
        assert np.array_equal(train_labels, LABELS)
        assert np.array_equal(test_images, IMAGES[:1])
        assert np.array_equal(test_labels, LABELS[:1])
        assert {x.dtype.name for x in (train_images, train_labels, test_images, test_labels)} == {"uint8"}


def test_a_limit_of_bytes(folder: Path) -> None:
    with says(
        errors.ResourceExhaustedError,
        f"{folder / 'train-labels-idx1-ubyte.gz'}: elements of shape (2,) and dtype uint8 from byte 8 on need 2 bytes, "
        "and at most 9 of a compressed file are read; max_bytes=... allows more.",
    ):
        mnist(folder, max_bytes=9)
    mnist(folder, max_bytes=16 + 2 * 3 * 4)


def test_a_missing_file(folder: Path) -> None:
    (folder / "t10k-labels-idx1-ubyte").unlink()
    with says(
        errors.NotFoundError,
        f"{folder / 't10k-labels-idx1-ubyte'}: there is no such file, nor t10k-labels-idx1-ubyte.gz beside it. "
        "agog_data.datasets.download_mnist() fetches the four files of MNIST.",
    ):
        mnist(folder)


def test_files_that_were_swapped(folder: Path) -> None:
    path = folder / "train-images-idx3-ubyte"
    path.write_bytes(labels_file(LABELS))
    with says(errors.DataLossError, f"{path}: at byte 0: the magic number 0x00000803 is expected; it is 0x00000801."):
        mnist(folder)


def test_a_half_written_file(folder: Path) -> None:
    path = folder / "train-images-idx3-ubyte"
    path.write_bytes(images_file(IMAGES)[:20])
    with says(
        errors.DataLossError,
        f"{path}: at byte 20: the file ends here, but elements of shape (2, 3, 4) and dtype uint8 from byte 16 on "
        "need 24 bytes.",
    ):
        mnist(folder)


def test_images_without_labels(folder: Path) -> None:
    path = folder / "t10k-labels-idx1-ubyte"
    path.write_bytes(labels_file(LABELS))
    with says(
        errors.DataLossError, f"{path}: at byte 4: 2 labels, but {folder / 't10k-images-idx3-ubyte'} has 1 images."
    ):
        mnist(folder)


def test_a_label_that_is_no_digit(folder: Path) -> None:
    path = folder / "train-labels-idx1-ubyte"
    path.write_bytes(labels_file(np.array([9, 10], np.uint8)))
    with says(errors.DataLossError, f"{path}: at byte 9: a label from 0 to 9 is expected; it is 10."):
        mnist(folder)


@pytest.fixture
def real_folder() -> Path:
    if "AGOG_DATA_DIR" not in os.environ:
        pytest.skip("AGOG_DATA_DIR is not set; it names the folder that holds mnist/train-images-idx3-ubyte.gz")
    return Path(os.environ["AGOG_DATA_DIR"]) / "mnist"


def test_the_real_files(real_folder: Path) -> None:
    (train_images, train_labels), (test_images, test_labels) = mnist(real_folder)
    assert train_images.shape == (60000, 28, 28)
    assert test_images.shape == (10000, 28, 28)
    assert np.bincount(train_labels).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(test_labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    # The mean and deviation that everybody normalises with.
    assert round(float(train_images.mean() / 255), 4) == 0.1307
    assert round(float(train_images.std() / 255), 4) == 0.3081
    assert train_labels[:5].tolist() == [5, 0, 4, 1, 9]


def test_an_epoch_over_the_real_files_sees_each_image_once(real_folder: Path) -> None:
    _, (images, labels) = mnist(real_folder)
    numbered = Dataset.from_tensor_slices((images, labels, np.arange(len(labels)))).shuffle(1000, seed=1).batch(128)
    seen = np.zeros(len(labels), int)
    for image, label, number in numbered.prefetch(2):
        rows = number.numpy()
        seen[rows] += 1
        assert np.array_equal(image.numpy(), images[rows])
        assert np.array_equal(label.numpy(), labels[rows])
    assert (seen == 1).all()
