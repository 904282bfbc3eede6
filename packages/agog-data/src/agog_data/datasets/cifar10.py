"""CIFAR-10: small pictures of things and animals in ten classes, from the binary version of its files.

The database: A. Krizhevsky, "Learning multiple layers of features from tiny images", 2009. Its other version, for
Python, is pickled, and so is not read.
"""

from __future__ import annotations

import gzip
import os
import sys
import tarfile
import zlib
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from agog_core import errors
from agog_data.arguments import positive
from agog_data.datasets.download import cache_directory, checksum_difference, download
from agog_data.datasets.limited import Limited
from agog_data.datasets.mnist_files import Split
from agog_data.files import PathLike, opened

if TYPE_CHECKING:
    from pathlib import Path

MIRRORS = ("https://www.cs.toronto.edu/~kriz/",)
ARCHIVE = "cifar-10-binary.tar.gz"
MD5 = "c32a1d4ab5d03f1284b67883e8d87530"  # as published on the database's page
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_TRAIN = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
_TEST = "test_batch.bin"
_RECORD = 1 + 3 * 32 * 32  # the label; then all red, all green, all blue pixels
_MOST_BYTES = 1 << 28


def load_data(path: PathLike = "cifar-10-batches-bin", *, max_bytes: int | None = None) -> tuple[Split, Split]:
    """Read CIFAR-10, and download it where it is not there yet.

    Args:
        path: the folder that has ``data_batch_1.bin`` to ``data_batch_5.bin`` and ``test_batch.bin``, or has
            ``cifar-10-binary.tar.gz``, which is not unpacked; or that file itself. A relative path begins in agog's
            folder of the user's cache.
        max_bytes: how many bytes the archive may have, decompressed; None for 2**28, a quarter of a GiB.

    Returns:
        ``(x_train, y_train), (x_test, y_test)``: uint8 images of shape (50000, 32, 32, 3) and (10000, 32, 32, 3), and
        uint8 labels of shape (50000, 1) and (10000, 1), which are places in `CLASSES`.

    Raises:
        UnavailableError: the file is missing and cannot be downloaded.
        ResourceExhaustedError: the archive has more than ``max_bytes``.
        DataLossError: a file is not what its name says, or is incomplete.
    """
    target = cache_directory(os.environ, sys.platform) / path
    names = (*_TRAIN, _TEST)
    most = _MOST_BYTES if max_bytes is None else positive("load_data", "max_bytes", max_bytes)
    if all((target / name).is_file() for name in names):
        parts = {name: _read(target / name) for name in names}
    elif target.is_file():
        parts = _unpacked(target, most)
    else:
        parts = _unpacked(download_cifar10(target), most)
    train = [parts[name] for name in _TRAIN]
    images, labels = (np.concatenate(column) for column in zip(*train, strict=True))
    return (images, labels), parts[_TEST]


def download_cifar10(directory: PathLike | None = None, mirrors: Sequence[str] = MIRRORS) -> Path:
    """Download CIFAR-10, where it is not there yet, and check it.

    Args:
        directory: the folder; None for ``agog/cifar-10-batches-bin`` in the user's cache. It is created.
        mirrors: the URLs of folders that have the file, tried in order.

    Returns:
        The path of ``cifar-10-binary.tar.gz`` in it.

    Raises:
        UnavailableError: no mirror could be reached.
        DataLossError: a mirror gave something else. The folder then has no such file.
    """
    target = cache_directory(os.environ, sys.platform) / ("cifar-10-batches-bin" if directory is None else directory)
    target.mkdir(parents=True, exist_ok=True)
    difference = partial(checksum_difference, checksums=[MD5])
    if difference(target / ARCHIVE) is not None:
        download(target / ARCHIVE, mirrors, difference, _MOST_BYTES, [ARCHIVE])
    return target / ARCHIVE


def _read(file: Path) -> Split:
    with opened(str(file)) as stream:
        return _decoded(str(file), stream.read())


def _unpacked(file: Path, most: int) -> dict[str, Split]:
    parts: dict[str, Split] = {}
    with opened(str(file)) as stream:
        try:
            limited: Any = Limited(str(file), gzip.GzipFile(fileobj=stream), most)  # type: ignore[arg-type]
            with tarfile.open(fileobj=limited, mode="r:") as archive:
                for member in archive:
                    name = member.name.rpartition("/")[2]
                    content = archive.extractfile(member) if name in (*_TRAIN, _TEST) else None
                    if content is not None:
                        parts[name] = _decoded(f"{file}[{member.name!r}]", content.read())
        except (tarfile.TarError, EOFError, zlib.error, ValueError, OSError) as error:
            raise errors.DataLossError(f"{file}: it is no whole tar.gz file: {error}.") from error
    missing = [name for name in (*_TRAIN, _TEST) if name not in parts]
    if missing:
        raise errors.DataLossError(f"{file}: it has not the files {', '.join(missing)}.")
    return parts


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
    images = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), records[:, :1].copy()
