"""File system: what is done with files and folders, by their paths or URLs. Errors are those of the operating system,
whose `filename` is the path or URL."""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any, BinaryIO, NamedTuple

from agog_core.files.paths import is_url

__all__ = [
    "Status",
    "copy",
    "exists",
    "is_file",
    "is_folder",
    "local_file",
    "make_folder",
    "make_folders",
    "modified",
    "names_in",
    "open_file",
    "open_stream",
    "remove",
    "remove_tree",
    "rename",
    "status",
    "walk",
]


class Status(NamedTuple):
    """The size of a file in bytes, when it was written, in nanoseconds since 1970, and whether it is a folder."""

    size: int
    nanoseconds: int
    is_folder: bool


def exists(path: str) -> bool:
    """Whether there is a file or a folder."""
    return _stores().exists(path) if is_url(path) else os.path.exists(path)


def is_file(path: str) -> bool:
    """Whether there is a file."""
    return _stores().is_file(path) if is_url(path) else os.path.isfile(path)


def is_folder(path: str) -> bool:
    """Whether there is a folder."""
    return _stores().is_folder(path) if is_url(path) else os.path.isdir(path)


def names_in(folder: str) -> list[str]:
    """The names in a folder, in any order."""
    return _stores().names_in(folder) if is_url(folder) else os.listdir(folder)


def status(path: str) -> Status:
    """What is known of a file or a folder."""
    if is_url(path):
        return Status(*_stores().status(path))
    found = os.stat(path)
    return Status(found.st_size, found.st_mtime_ns, os.path.isdir(path))


def modified(path: str) -> float:
    """When a file was written, in seconds since 1970."""
    return _stores().status(path)[1] / 1e9 if is_url(path) else os.path.getmtime(path)


def make_folder(path: str) -> None:
    """Make a folder. Most stores have none: there this does nothing, but for a bucket."""
    if is_url(path):
        _stores().make_folder(path)
    else:
        os.mkdir(path)


def make_folders(path: str) -> None:
    """Make a folder and those above it, where they are missing; see `make_folder`."""
    if is_url(path):
        _stores().make_folders(path)
    else:
        os.makedirs(path, exist_ok=True)


def remove(path: str) -> None:
    """Delete a file."""
    if is_url(path):
        _stores().remove(path)
    else:
        os.unlink(path)


def remove_tree(path: str) -> None:
    """Delete a folder and all that is in it."""
    import shutil  # here, because its import takes milliseconds

    if is_url(path):
        _stores().remove_tree(path)
    else:
        shutil.rmtree(path)


def rename(old: str, new: str) -> None:
    """Give a file or a folder another name, and replace a file that has it. At a URL it is copied, then deleted."""
    if is_url(old) or is_url(new):
        _stores().move(old, new)
    else:
        os.replace(old, new)


def copy(old: str, new: str) -> None:
    """Copy a file, in place of one that is there; onto itself, it stays as it is."""
    import shutil  # here, because its import takes milliseconds

    if is_url(old) or is_url(new):
        _stores().copy(old, new)
    else:
        with suppress(shutil.SameFileError):
            shutil.copyfile(old, new)


def walk(top: str, top_down: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """The folders under a folder, as `os.walk` tells of them."""
    return _stores().walk(top, top_down) if is_url(top) else os.walk(top, topdown=top_down)


def open_file(path: str, mode: str = "r", encoding: str | None = None, newline: str | None = None) -> IO[Any]:
    """Open a file, as Python's `open`. What is written to a URL is there once the file is flushed or closed."""
    if not is_url(path):
        return builtins.open(path, mode, encoding=encoding, newline=newline)
    from agog_core.files.remote_files import open_remote

    return open_remote(path, mode, encoding, newline)


def open_stream(path: str) -> io.RawIOBase:
    """Open a file to read its bytes, without a buffer."""
    if not is_url(path):
        return io.FileIO(path)
    from agog_core.files.remote_files import RemoteReader

    return RemoteReader(path)


def local_file(path: str) -> BinaryIO:
    """Open a file to read it by what needs one of this machine: at a URL, a copy that has no name and goes with it."""
    if not is_url(path):
        return builtins.open(path, "rb")
    from agog_core.files.remote_files import copy_of

    return copy_of(path)


def _stores() -> Any:
    from agog_core.files import stores  # here, because most programs have no URLs

    return stores
