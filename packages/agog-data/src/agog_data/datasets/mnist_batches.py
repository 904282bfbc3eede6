"""MNIST batches: sets of images and labels with ``next_batch``, as in TensorFlow 1.12's tutorials."""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

import numpy as np

from agog_core import as_dtype, errors, random
from agog_data.arguments import positive
from agog_data.datasets.download import cache_directory
from agog_data.datasets.keras_files import kept
from agog_data.datasets.mnist_download import MIRRORS, download_mnist
from agog_data.datasets.mnist_files import mnist
from agog_data.datasets.npz import read_npz
from agog_data.files import PathLike

Array = np.ndarray[Any, Any]
_CLASSES = 10
_PIXELS = 784
_FAKE_EXAMPLES = 10000
_MAX_BYTES = 1 << 32


class DataSet:
    """Images with their labels, and where the next batch begins.

    Args:
        images: uint8, of shape (n, rows, columns, 1).
        labels: of shape (n,), or (n, 10) where they are one-hot.
        fake_data: True for 10000 examples that are not there; only `next_batch` with ``fake_data=True`` gives them.
        one_hot: whether the labels of fake data are one-hot.
        dtype: float32 for images from 0 to 1, or uint8 for images as they are.
        reshape: whether an image becomes one row of pixels.
        seed: determines the orders; None for the graph seed, and where there is none, for others in every run. The
            orders are those of NumPy's `RandomState`, which TensorFlow takes too.

    Raises:
        TypeError: dtype is neither float32 nor uint8.
        InvalidArgumentError: there are not as many images as labels, or `reshape` is asked for where there is more than
            one channel.

    >>> digits = DataSet(np.full([3, 2, 2, 1], 255, np.uint8), np.array([7, 2, 1]))
    >>> images, labels = digits.next_batch(2, shuffle=False)
    >>> images.tolist(), labels.tolist()
    ([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]], [7, 2])
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = "float32",
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        name = as_dtype(dtype).name
        if name not in ("float32", "uint8"):
            raise TypeError(f"DataSet: images are float32 or uint8, not {name}.")
        self.one_hot = one_hot
        if not fake_data:
            images = _pixels(images, labels, name, reshape)
        self._images: Array = images
        self._labels: Array = labels
        self._num_examples = _FAKE_EXAMPLES if fake_data else len(images)
        self._epochs_completed = 0
        self._index_in_epoch = 0
        if seed is None:
            seed = random.generator().seed
        self._random = np.random.RandomState(None if seed is None else seed % 2**32)

    @property
    def images(self) -> Array:
        """The images, in the order of this epoch: float32 or uint8, of shape (n, pixels) or (n, rows, columns, 1)."""
        return self._images

    @property
    def labels(self) -> Array:
        """The labels, in the order of this epoch: of shape (n,), or (n, 10) where they are one-hot."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """How many images there are."""
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        """How many times `next_batch` has been through all examples."""
        return self._epochs_completed

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """Give the next examples; a batch that reaches over the end of an epoch goes on with the next epoch.

        Args:
            batch_size: how many.
            fake_data: True for lists of white images and of labels that are 0.
            shuffle: whether an epoch that begins in this batch has an order of its own.

        Returns:
            ``(images, labels)``, each with `batch_size` rows.

        Raises:
            InvalidArgumentError: `batch_size` is negative, or there are no images.
        """
        if fake_data:
            label = [1] + [0] * (_CLASSES - 1) if self.one_hot else 0
            return [[1] * _PIXELS] * batch_size, [label] * batch_size
        count = len(self._images)
        if batch_size < 0 or (batch_size > 0 and count == 0):
            raise errors.InvalidArgumentError(
                f"next_batch: a batch_size of 0 or more is expected, and of 0 where there are no images; it is "
                f"{batch_size}, and there are {count} images."
            )
        start, parts = self._index_in_epoch, []
        if start == 0 and self._epochs_completed == 0 and shuffle:
            self._shuffle()
        end = start + batch_size
        while end > count:
            parts.append((self._images[start:], self._labels[start:]))
            self._epochs_completed += 1
            if shuffle:
                self._shuffle()
            start, end = 0, end - count
        self._index_in_epoch = end
        parts.append((self._images[start:end], self._labels[start:end]))
        images, labels = zip(*parts, strict=True)
        return (images[0], labels[0]) if len(parts) == 1 else (np.concatenate(images), np.concatenate(labels))

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        self._random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def _pixels(images: Array, labels: Array, dtype: str, reshape: bool) -> Array:
    if len(images) != len(labels):
        raise errors.InvalidArgumentError(
            f"DataSet: as many labels as images are expected; the images have shape {images.shape}, "
            f"the labels {labels.shape}."
        )
    if reshape:
        if images.ndim != 4 or images.shape[3] != 1:
            raise errors.InvalidArgumentError(
                f"DataSet: images of shape (n, rows, columns, 1) are expected; they have shape {images.shape}. "
                "With reshape=False they stay as they are."
            )
        images = images.reshape(len(images), images.shape[1] * images.shape[2])
    return images.astype(np.float32) * np.float32(1 / 255) if dtype == "float32" else images


class Datasets(NamedTuple):
    """The three sets of a database."""

    train: DataSet
    validation: DataSet
    test: DataSet


def read_data_sets(
    train_dir: PathLike,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = "float32",
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str | None = None,
) -> Datasets:
    """Read MNIST, and download the files that are not there yet.

    Args:
        train_dir: the folder of the four files.
        fake_data: True for examples that are not there, and no files; see `DataSet`.
        one_hot: True for labels that are float64 vectors of 10 numbers, False for uint8.
        dtype: float32 for images from 0 to 1, or uint8 for images from 0 to 255.
        reshape: True for images of shape (n, 784), False for (n, 28, 28, 1).
        validation_size: how many of the first training images are kept for validation.
        seed: determines the orders of batches; see `DataSet`.
        source_url: the URL of a folder that has the files; None for the usual ones.

    Returns:
        A named tuple ``(train, validation, test)``, in MNIST itself of 55000, 5000 and 10000 examples.

    Raises:
        ValueError: `validation_size` is negative or larger than the training set.
        TypeError: dtype is neither float32 nor uint8.
        UnavailableError: a file is missing and cannot be downloaded.
        DataLossError: a file is not what its name says, is incomplete, or does not fit the others.
    """
    if fake_data:
        return Datasets(*(DataSet([], [], True, one_hot, dtype, seed=seed) for _ in range(3)))
    (images, labels), (test_images, test_labels) = _read(train_dir, source_url)
    if not 0 <= validation_size <= len(images):
        raise ValueError(
            f"read_data_sets: a validation_size from 0 to {len(images)} is expected; it is {validation_size}."
        )
    kept, rest = slice(validation_size), slice(validation_size, None)
    parts = (images[rest], labels[rest]), (images[kept], labels[kept]), (test_images, test_labels)
    classes = np.eye(_CLASSES)
    return Datasets(
        *(
            DataSet(x[..., np.newaxis], classes[y] if one_hot else y, dtype=dtype, reshape=reshape, seed=seed)
            for x, y in parts
        )
    )


def load_data(
    path: PathLike = "mnist.npz", *, max_bytes: int | None = None
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Read MNIST as ``tf.keras.datasets.mnist`` gives it, and download it if it is not there yet.

    Args:
        path: an ``.npz`` file with ``x_train``, ``y_train``, ``x_test``, ``y_test``, or a folder of the four files of
            MNIST; a relative path begins in ``datasets`` of ``$KERAS_HOME`` (or of ``~/.keras``), or in agog's folder
            of the user's cache. Where neither is, the four files are downloaded into the latter's folder ``path``
            (without ``.npz``).
        max_bytes: how many bytes an array of the ``.npz`` file may have; None for 2**32, four GiB.

    Returns:
        ``(x_train, y_train), (x_test, y_test)``: uint8 images of shape (60000, 28, 28) and (10000, 28, 28), and uint8
        labels of shape (60000,) and (10000,).

    Raises:
        UnavailableError: a file is missing and cannot be downloaded.
        ResourceExhaustedError: an array of the file has more than ``max_bytes``.
        DataLossError: a file is not what its name says, is incomplete, or does not fit the others.
    """
    most = _MAX_BYTES if max_bytes is None else positive("load_data", "max_bytes", max_bytes)
    places = kept(path), cache_directory(os.environ, sys.platform) / path
    for place in places:
        if place.is_file():
            x_train, y_train, x_test, y_test = read_npz(place, ("x_train", "y_train", "x_test", "y_test"), most)
            if y_train.shape != x_train.shape[:1] or y_test.shape != x_test.shape[:1]:
                raise errors.DataLossError(
                    f"{place}: as many labels as images are expected; x_train has shape {x_train.shape}, y_train "
                    f"{y_train.shape}, x_test {x_test.shape}, and y_test {y_test.shape}."
                )
            return (x_train, y_train), (x_test, y_test)
    folders = [place.with_suffix("") if place.suffix == ".npz" else place for place in places]
    return _read(folders[0] if folders[0].is_dir() else folders[1])


def _read(directory: PathLike, source_url: str | None = None) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Read the four files; only if one is missing, they are compared with MNIST's and downloaded."""
    try:
        return mnist(directory)
    except errors.NotFoundError:
        return mnist(download_mnist(directory, [source_url] if source_url else MIRRORS))
