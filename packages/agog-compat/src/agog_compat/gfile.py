"""Gfile: files and folders for `tf.gfile`, of this machine and at URLs."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from agog_core import files
from agog_core.errors import AlreadyExistsError
from agog_core.files import file_path, translated_errors

__all__ = [
    "GFile",
    "copy",
    "delete_recursively",
    "exists",
    "is_directory",
    "list_directory",
    "make_dir",
    "make_dirs",
    "remove",
    "rename",
    "stat",
    "walk",
]


class FileStatistics(NamedTuple):
    """What is known about a file: its size in bytes, when it was written, and whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


class GFile:
    """A file, opened when it is first read or written.

    Args:
        name: its path.
        mode: as for Python's `open`; with a ``b`` it holds bytes, else text in UTF-8.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "notes.txt")
    >>> with GFile(path, "w") as file:
    ...     file.write("one\\ntwo\\n")
    >>> with GFile(path) as file:
    ...     [line for line in file]
    ['one\\n', 'two\\n']
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        self.name = name
        self.mode = mode
        self._file: Any = None

    def _opened(self) -> Any:
        if self._file is None:
            with translated_errors("GFile"):
                encoding = None if "b" in self.mode else "utf-8"
                self._file = files.open_file(file_path("GFile", self.name), self.mode, encoding)
        return self._file

    def read(self, n: int = -1) -> Any:
        """Read.

        Args:
            n: how many characters or bytes; -1 for all the rest.

        Returns:
            A string, or bytes.
        """
        return self._opened().read(n)

    def readline(self) -> Any:
        """Read a line.

        Returns:
            The line with its end; empty at the end of the file.
        """
        return self._opened().readline()

    def readlines(self) -> list[Any]:
        """Read all lines.

        Returns:
            The lines with their ends.
        """
        return list(self)

    def write(self, file_content: Any) -> None:
        """Write.

        Args:
            file_content: a string, or bytes.
        """
        self._opened().write(file_content)

    def seek(self, offset: int, whence: int = 0) -> None:
        """Go to a position.

        Args:
            offset: the position.
            whence: 0 for one from the beginning, 1 from here, 2 from the end.
        """
        self._opened().seek(offset, whence)

    def tell(self) -> int:
        """The position.

        Returns:
            A number for `seek`.
        """
        return int(self._opened().tell())

    def size(self) -> int:
        """The size of the file.

        Returns:
            Bytes.
        """
        return stat(self.name).length

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Close the file; reading or writing opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._opened())

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def exists(filename: Any) -> bool:
    """Whether there is a file or a folder.

    Args:
        filename: its path.

    Returns:
        True or False.
    """
    path = file_path("Exists", filename)
    if not files.is_url(path):
        return os.path.exists(path)
    with translated_errors("Exists"):
        return files.exists(path)


def is_directory(dirname: Any) -> bool:
    """Whether there is a folder.

    Args:
        dirname: its path.

    Returns:
        True or False.
    """
    path = file_path("IsDirectory", dirname)
    if not files.is_url(path):
        return os.path.isdir(path)
    with translated_errors("IsDirectory"):
        return files.is_folder(path)


def list_directory(dirname: Any) -> list[str]:
    """The names in a folder.

    Args:
        dirname: its path.

    Returns:
        Names, sorted, without the folder.

    Raises:
        NotFoundError: there is no such folder.
    """
    with translated_errors("ListDirectory"):
        return sorted(files.names_in(file_path("ListDirectory", dirname)))


def make_dirs(dirname: Any) -> None:
    """Make a folder and those above it, where they are not there yet.

    Args:
        dirname: its path.

    Raises:
        AlreadyExistsError: there is a file of that name.
    """
    with translated_errors("MakeDirs"):
        files.make_folders(file_path("MakeDirs", dirname))


def make_dir(dirname: Any) -> None:
    """Make a folder.

    Args:
        dirname: its path.

    Raises:
        AlreadyExistsError: it is there already.
        NotFoundError: the folder above is not there.
    """
    with translated_errors("MkDir"):
        files.make_folder(file_path("MkDir", dirname))


def copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copy a file; onto itself, it stays as it is.

    Args:
        oldpath: the file.
        newpath: the path of the copy.
        overwrite: whether a file that is there may be replaced.

    Raises:
        AlreadyExistsError: there is a file, and it may not be replaced.
        NotFoundError: there is nothing to copy.
    """
    with translated_errors("Copy"):
        old, new = file_path("Copy", oldpath), file_path("Copy", newpath)
        _refuse_existing("Copy", new, overwrite)
        files.copy(old, new)


def rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Rename or move a file or a folder. At a URL it is copied and then deleted: others may see both, or a part.

    Args:
        oldname: its path.
        newname: the new path.
        overwrite: whether a file that is there may be replaced.

    Raises:
        AlreadyExistsError: there is a file, and it may not be replaced.
        NotFoundError: there is nothing to rename.
    """
    with translated_errors("Rename"):
        old, new = file_path("Rename", oldname), file_path("Rename", newname)
        _refuse_existing("Rename", new, overwrite)
        files.rename(old, new)


def _refuse_existing(function: str, path: str, overwrite: bool) -> None:
    if not overwrite and files.exists(path):
        raise AlreadyExistsError(f"{function}: {path!r} is there already; overwrite=True replaces it.")


def remove(filename: Any) -> None:
    """Delete a file.

    Args:
        filename: its path.

    Raises:
        NotFoundError: there is no such file.
    """
    with translated_errors("Remove"):
        files.remove(file_path("Remove", filename))


def delete_recursively(dirname: Any) -> None:
    """Delete a folder and all that is in it. Of links, also of one that is named, nothing is deleted but themselves.

    Args:
        dirname: its path.

    Raises:
        NotFoundError: there is no such folder.
        FailedPreconditionError: it is a file, or a link to one.
    """
    with translated_errors("DeleteRecursively"):
        # A slash at the end of a link's name would mean the folder that it leads to.
        path = file_path("DeleteRecursively", dirname)
        path = path if files.is_url(path) else path.rstrip(os.sep) or os.sep
        if files.is_file(path):
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory", path)
        if os.path.islink(path):
            os.remove(path)
        else:
            files.remove_tree(path)


def stat(filename: Any) -> FileStatistics:
    """The size and the time of a file.

    Args:
        filename: its path.

    Returns:
        A `FileStatistics`.

    Raises:
        NotFoundError: there is no such file.
    """
    with translated_errors("Stat"):
        return FileStatistics(*files.status(file_path("Stat", filename)))


def walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """The folders under a folder.

    Args:
        top: its path.
        in_order: whether a folder comes before those in it.

    Returns:
        An iterator of (path, names of folders in it, names of files in it).
    """
    return files.walk(file_path("Walk", top), in_order)
