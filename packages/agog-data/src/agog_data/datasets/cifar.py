"""CIFAR: pictures of 32 by 32 pixels, from folders and archives of binary or pickled files."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agog_core import errors
from agog_data.datasets.npz import Array
from agog_data.datasets.pickles import unpickled
from agog_data.datasets.size_limit import SizeLimit
from agog_data.files import opened
from agog_data.tar_archive import TarArchive

Split = tuple[Array, Array]

MOST_BYTES = 1 << 28
_CHANNELS, _SIDE = 3, 32
_PIXELS = _CHANNELS * _SIDE * _SIDE
_CHUNK = 1 << 20


class Format(NamedTuple):
    """The files of a database in one of its formats, and what reads one of them, by its name and bytes."""

    train: Sequence[str]
    test: str
    decoded: Callable[[str, bytes], Split]

    @property
    def names(self) -> list[str]:
        """All files."""
        return [*self.train, self.test]


def is_whole(place: Path, formats: Sequence[Format]) -> bool:
    """Whether a path is a file, such as an archive, or a folder with all files of a format."""
    return place.is_file() or any(all((place / name).is_file() for name in each.names) for each in formats)


def read_cifar(place: Path, formats: Sequence[Format], most: int) -> tuple[Split, Split]:
    """Read a folder, or a ``tar.gz`` file, that has all files of a format.

    Args:
        place: its path.
        formats: the formats; the first that is there is read.
        most: how many bytes there may be, decompressed.

    Returns:
        The images, uint8 of shape (n, 32, 32, 3), and the labels, of shape (n, 1), for training and for the test.

    Raises:
        ResourceExhaustedError: there are more bytes.
        DataLossError: files are missing or damaged.
    """
    files = _of_folder(place, formats, most) if place.is_dir() else _of_archive(place, formats, most)
    lacking = {number: [name for name in each.names if name not in files] for number, each in enumerate(formats)}
    best = min(lacking, key=lambda number: len(lacking[number]))
    if lacking[best]:
        raise errors.DataLossError(f"{place}: it has not the files {', '.join(lacking[best])}.")
    parts = {name: formats[best].decoded(*files.pop(name)) for name in formats[best].names}
    train = [parts[name] for name in formats[best].train]
    images, labels = (np.concatenate(column) for column in zip(*train, strict=True))
    return (images, labels), parts[formats[best].test]


def images_of(pixels: Array) -> Array:
    """The images of rows that have all red, all green, and all blue pixels."""
    return np.ascontiguousarray(pixels.reshape(-1, _CHANNELS, _SIDE, _SIDE).transpose(0, 2, 3, 1))


def decoded_batch(name: str, data: bytes, key: str, classes: int) -> Split:
    """The images and labels of a pickled file, whose labels have such a key and are so many."""
    found = unpickled(name, data)
    batch = {_text(entry): value for entry, value in found.items()} if type(found) is dict else {}
    pixels, labels = batch.get("data"), batch.get(key)
    if type(pixels) is not np.ndarray or pixels.dtype != np.uint8 or pixels.shape[1:] != (_PIXELS,):
        raise errors.DataLossError(f"{name}: a dict with 'data', uint8 of shape (n, {_PIXELS}), is expected.")
    if type(labels) is not list or len(labels) != len(pixels) or not {int}.issuperset(map(type, labels)):
        raise errors.DataLossError(f"{name}: a dict with {key!r}, a list of {len(pixels)} integers, is expected.")
    wrong = next((label for label in labels if not 0 <= label < classes), None)
    if wrong is not None:
        raise errors.DataLossError(f"{name}: labels from 0 to {classes - 1} are expected; one is {wrong}.")
    return images_of(pixels), np.array(labels, np.int64).reshape(-1, 1)


def _text(key: str | bytes) -> str:
    return key if isinstance(key, str) else key.decode("latin-1")


def _of_folder(place: Path, formats: Sequence[Format], most: int) -> dict[str, tuple[str, bytes]]:
    """The contents of the files of the first format that is whole, by name."""
    whole = next((each for each in formats if all((place / name).is_file() for name in each.names)), None)
    found = {}
    for name in whole.names if whole is not None else ():
        with opened(str(place / name)) as stream:
            data = stream.read(most + 1)
        most -= len(data)
        if most < 0:
            raise errors.ResourceExhaustedError(f"{place}: its files have too many bytes; max_bytes=... allows more.")
        found[name] = str(place / name), data
    return found


def _of_archive(file: Path, formats: Sequence[Format], most: int) -> dict[str, tuple[str, bytes]]:
    """The contents of all files that are known, by name; each with the name that errors call it."""
    known = {name for each in formats for name in each.names}
    found = {}
    with opened(str(file)) as stream:
        try:
            limited: Any = SizeLimit(str(file), gzip.GzipFile(fileobj=stream), most)  # type: ignore[arg-type]
            archive = TarArchive(limited)
            while (member := archive.next()) is not None:
                name = member.name.rpartition("/")[2]
                content = archive.extractfile(member) if name in known and member.isreg() else None
                if content is not None:
                    found[name] = f"{file}[{member.name!r}]", b"".join(iter(partial(content.read, _CHUNK), b""))
        except (tarfile.TarError, EOFError, zlib.error, ValueError, OSError) as error:
            raise errors.DataLossError(f"{file}: it is no whole tar.gz file: {error}.") from error
    return found
