"""CIFAR-10: small pictures of things and animals in ten classes.

The database: A. Krizhevsky, "Learning multiple layers of features from tiny images", 2009. It comes in a binary
version, and in one for Python, which Keras takes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from agog_core import errors
from agog_data.arguments import positive
from agog_data.datasets.cifar import MOST_BYTES, Format, Split, decoded_batch, images_of, is_whole, read_cifar
from agog_data.datasets.download import cache_directory, checksum_difference, download
from agog_data.datasets.keras_files import kept
from agog_data.files import PathLike

if TYPE_CHECKING:
    from pathlib import Path

MIRRORS = ("https://www.cs.toronto.edu/~kriz/",)
ARCHIVE = "cifar-10-binary.tar.gz"
MD5 = "c32a1d4ab5d03f1284b67883e8d87530"  # as published on the database's page
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_FOLDER = "cifar-10-batches-bin"
# The paths of TensorFlow 1.12 and Keras 3, and those by its own names.
_OF_KERAS = (
    *("cifar-10-batches-py", "cifar-10-batches-py.tar.gz", "cifar-10-batches-py-target/cifar-10-batches-py"),
    *("cifar-10-batches-py-target_archive", "cifar-10-python.tar.gz", _FOLDER, ARCHIVE),
)
_RECORD = 1 + 3 * 32 * 32  # the label; then all red, all green, all blue pixels


def load_data(path: PathLike | None = None, *, max_bytes: int | None = None) -> tuple[Split, Split]:
    """Read CIFAR-10, and download it if it is not there yet.

    Args:
        path: a folder that has the binary files (``data_batch_1.bin`` to ``data_batch_5.bin``, ``test_batch.bin``), or
            those for Python (without ``.bin``), or ``cifar-10-binary.tar.gz``, which is not unpacked; or an archive of
            either. A relative path begins in ``datasets`` of Keras's folder, or in agog's folder of the user's cache.
            None for where Keras and agog keep it. The files for Python are pickled: they are read without Python's
            reader of pickles, and nothing that they name is called.
        max_bytes: how many bytes the files may have, decompressed; None for 2**28, a quarter of a GiB.

    Returns:
        ``(x_train, y_train), (x_test, y_test)``: uint8 images of shape (50000, 32, 32, 3) and (10000, 32, 32, 3), and
        labels of shape (50000, 1) and (10000, 1), which are places in `CLASSES`: uint8 for training and int64 for the
        test, as in TensorFlow 1.12.

    Raises:
        UnavailableError: the file is missing and cannot be downloaded.
        ResourceExhaustedError: there are more than ``max_bytes``.
        DataLossError: a file is not what its name says, or is incomplete.
    """
    most = MOST_BYTES if max_bytes is None else positive("load_data", "max_bytes", max_bytes)
    cached = cache_directory(os.environ, sys.platform) / (_FOLDER if path is None else path)
    places = [*(kept(place) for place in (_OF_KERAS if path is None else [path])), cached]
    place = next((place for place in places if is_whole(place, _FORMATS)), None)
    train, (images, labels) = read_cifar(place or download_cifar10(cached), _FORMATS, most)
    return (train[0], train[1].astype(np.uint8)), (images, labels)


def download_cifar10(directory: PathLike | None = None, mirrors: Sequence[str] = MIRRORS) -> Path:
    """Download CIFAR-10, if it is not there yet, and check it.

    Args:
        directory: the folder; None for ``agog/cifar-10-batches-bin`` in the user's cache. It is created.
        mirrors: the URLs of folders that have the file, tried in order.

    Returns:
        The path of ``cifar-10-binary.tar.gz`` in it.

    Raises:
        UnavailableError: no mirror could be reached.
        DataLossError: a mirror gave something else. The folder then has no such file.
    """
    target = cache_directory(os.environ, sys.platform) / (_FOLDER if directory is None else directory)
    target.mkdir(parents=True, exist_ok=True)
    difference = partial(checksum_difference, checksums=[MD5])
    if difference(target / ARCHIVE) is not None:
        download(target / ARCHIVE, mirrors, difference, MOST_BYTES, [ARCHIVE])
    return target / ARCHIVE


def _decoded(name: str, data: bytes) -> Split:
    if not data or len(data) % _RECORD:
        raise errors.DataLossError(f"{name}: records of {_RECORD} bytes are expected; it has {len(data)} bytes.")
    records = np.frombuffer(data, np.uint8).reshape(-1, _RECORD)
    wrong = np.flatnonzero(records[:, 0] >= len(CLASSES))
    if wrong.size:
        first = int(wrong[0])
        raise errors.DataLossError(
            f"{name}: at byte {first * _RECORD}: a label from 0 to 9 is expected; it is {records[first, 0]}."
        )
    return images_of(records[:, 1:]), records[:, :1].astype(np.int64)


_TRAIN = [f"data_batch_{number}" for number in range(1, 6)]
_FORMATS = (
    Format([f"{name}.bin" for name in _TRAIN], "test_batch.bin", _decoded),
    Format(_TRAIN, "test_batch", partial(decoded_batch, key="labels", classes=len(CLASSES))),
)
