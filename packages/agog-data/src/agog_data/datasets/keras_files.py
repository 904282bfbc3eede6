"""Keras files: files published by Keras, from its folder or downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from agog_core import errors
from agog_data.datasets.download import checksum_difference, download
from agog_data.datasets.fetching import keras_folder
from agog_data.files import PathLike

MIRRORS = ("https://storage.googleapis.com/tensorflow/tf-keras-datasets/",)
MOST_BYTES = 1 << 26


def kept(path: PathLike) -> Path:
    """Where a file is that Keras keeps: in ``datasets`` of its folder, if the path does not begin at the root."""
    return keras_folder() / "datasets" / Path(path).expanduser()


def keras_file(
    path: PathLike, name: str, checksums: Sequence[str], most: int = MOST_BYTES, mirrors: Sequence[str] | None = None
) -> Path:
    """A file that Keras publishes, which is fetched if it is not there yet.

    Args:
        path: where it is, or is put; a relative path begins in ``~/.keras/datasets``. What is there is taken as it is.
        name: its published name.
        checksums: those of its published versions, the newest first: MD5 or SHA-256, in hexadecimal.
        most: how many bytes it has at most.
        mirrors: the URLs of folders that have it, tried in order; None for Keras's.

    Raises:
        PermissionDeniedError: its folder cannot be made.
        UnavailableError: it cannot be fetched.
        DataLossError: what was fetched is something else.
    """
    file = kept(path)
    if not file.exists():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise errors.PermissionDeniedError(
                f"{file}: its folder cannot be made: {error.strerror}. Give the path of a file that is there, or set "
                "KERAS_HOME to a folder that can be written."
            ) from error
        difference = partial(checksum_difference, checksums=checksums)
        download(file, MIRRORS if mirrors is None else mirrors, difference, most, [name], name)
    return file
