"""Paths: names of files of this machine, and URLs of files elsewhere."""

from __future__ import annotations

import os
import re
from typing import Any

from agog_core import errors

__all__ = ["absolute", "check_name", "file_path", "folder_of", "is_url", "join"]

# One letter is a drive of Windows. What is before `::` reads what is behind it, such as "simplecache::s3://...".
_URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*::)*[A-Za-z][A-Za-z0-9+.-]+://")
_LOCAL = "file://"


def is_url(path: Any) -> bool:
    """Whether a path is a URL.

    >>> is_url("s3://bucket/run"), is_url("C:/run"), is_url("a:b")
    (True, False, False)
    """
    text = path if isinstance(path, str) else os.fsdecode(path)
    return "://" in text and _URL.match(text) is not None


def file_path(function: str, path: str | bytes | os.PathLike[Any]) -> str:
    """The path of a file, or its URL, as a string; of a ``file://`` URL the path. Raises what `check_name` raises."""
    name = os.fsdecode(path)
    if "\0" not in name and "://" not in name:
        return name
    check_name(function, name)
    return name[len(_LOCAL) :] if _is_local(name) else name


def check_name(function: str, name: str) -> None:
    """Raise InvalidArgumentError if no file can have a name, and UnimplementedError if it is a URL that nothing here
    can open. They begin with the function's name.
    """
    if "\0" in name:
        raise errors.InvalidArgumentError(f"{function}: a file name must not hold a NUL character.")
    if "://" in name and is_url(name) and not _is_local(name):
        from agog_core.files.stores import check_url  # here, because most programs have no URLs

        check_url(function, name)


def _is_local(name: str) -> bool:
    return name[: len(_LOCAL)].lower() == _LOCAL


def join(folder: str, *names: str) -> str:
    """The path of a file in a folder, as `os.path.join`.

    >>> join("s3://bucket/run/", "ckpt-1")
    's3://bucket/run/ckpt-1'
    """
    if not is_url(folder):
        return os.path.join(folder, *names)
    for name in names:
        folder = name if is_url(name) else f"{folder if folder.endswith('/') else f'{folder}/'}{name}"
    return folder


def folder_of(path: str) -> str:
    """The folder that a file is in, as `os.path.dirname`.

    >>> folder_of("s3://bucket/run/ckpt-1"), folder_of("memory://ckpt-1")
    ('s3://bucket/run', 'memory://')
    """
    found = _URL.match(path) if "://" in path else None
    if found is None:
        return os.path.dirname(path)
    head, slash, _ = path[found.end() :].rpartition("/")
    return found[0] + (head or slash)


def absolute(path: str) -> str:
    """The path from the root, as `os.path.abspath`; a URL as it is."""
    return path if is_url(path) else os.path.abspath(path)
