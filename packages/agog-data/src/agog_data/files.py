"""Files: opening them, with errors that name them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from agog_core import Tensor, errors, string
from agog_core.files import file_path, local_file, open_file
from agog_data.preview import touch

PathLike = str | os.PathLike[str]


@contextmanager
def opened(name: str, local: bool = False) -> Iterator[IO[bytes]]:
    """Open a file to read bytes from.

    Args:
        name: its path or URL.
        local: whether it must be a file of this machine: then one at a URL is copied first.

    Yields:
        The file, open as long as the block lasts.

    Raises:
        InvalidArgumentError: the path holds a NUL character.
        NotFoundError: there is no such file.
        PermissionDeniedError: it may not be read.
        UnknownError: it cannot be read for another reason, such as being a folder.
    """
    path = file_path(repr(name), name)
    touch(path)
    try:
        with local_file(path) if local else open_file(path, "rb") as file:
            yield file
    except FileNotFoundError:
        raise errors.NotFoundError(f"{name}: there is no such file.") from None
    except PermissionError as error:
        raise errors.PermissionDeniedError(f"{name}: it may not be read: {error.strerror}.") from error
    except OSError as error:
        raise errors.UnknownError(f"{name}: it cannot be read: {error.strerror or error}.") from error


def size_of(file: IO[bytes]) -> int:
    """How many bytes an open file has; it is at its beginning afterwards."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return size


def path_names(reader: str, paths: Any) -> list[str]:
    """The names in a path, or in a list, tuple or tensor of paths: at least one. Raises TypeError if something is no
    path, and InvalidArgumentError if there is none."""
    if isinstance(paths, Tensor) and paths.dtype is string:
        paths = paths._host().tolist() if paths._shape else [paths.numpy()]
    listed = list(paths) if isinstance(paths, (list, tuple)) else [paths]
    for path in listed:
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise TypeError(f"{reader}: a path or a list of paths is expected; got {path!r}.")
    if not listed:
        raise errors.InvalidArgumentError(f"{reader}: at least one path is expected; the list is empty.")
    return [os.fsdecode(path) for path in listed]
