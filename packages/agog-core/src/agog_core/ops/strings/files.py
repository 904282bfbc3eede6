"""Files: reading, writing and finding them, as tensors of strings."""

from __future__ import annotations

import os
from typing import Any

from agog_core import dtypes
from agog_core.errors import InvalidArgumentError
from agog_core.files import file_path, find, folder_of, make_folders, open_file, translated_errors
from agog_core.tensors import Tensor, TensorLike, constant
from agog_core.tensors.convert import host_value

__all__ = ["matching_files", "read_file", "write_file"]


def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """Read a whole file.

    Args:
        filename: its path, a scalar string.

    Returns:
        A scalar string: the file's bytes.

    Raises:
        NotFoundError: there is no such file.
        InvalidArgumentError: the path is not a scalar.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     write_file(file.name, "three lines")
    ...     print(read_file(file.name))
    tf.Tensor(b'three lines', shape=(), dtype=string)
    """
    with translated_errors("read_file"):
        path = file_path("read_file", _scalar("read_file", "filename", filename))
        with open_file(path, "rb") as file:
            return constant(file.read())


def write_file(filename: TensorLike, contents: TensorLike, name: str | None = None) -> None:
    """Write a whole file, after making the folders it is in.

    Args:
        filename: its path, a scalar string.
        contents: a scalar string.

    Raises:
        InvalidArgumentError: the path or the contents are not a scalar.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(f"{folder}/greeting", "hello")
    ...     print(read_file(f"{folder}/greeting"))
    tf.Tensor(b'hello', shape=(), dtype=string)
    """
    path = file_path("write_file", _scalar("write_file", "filename", filename))
    data = _scalar("write_file", "contents", contents)
    with translated_errors("write_file"):
        make_folders(folder_of(path) or ".")
        with open_file(path, "wb") as file:
            file.write(data)


def matching_files(pattern: TensorLike, name: str | None = None) -> Tensor:
    """The files whose paths match patterns.

    Args:
        pattern: a string with ``*``, ``?`` and ``[...]``, or a vector of such patterns.

    Returns:
        Their paths, sorted, a vector of strings.

    >>> print(matching_files("/none/of/*.this"))
    tf.Tensor([], shape=(0,), dtype=string)
    """
    patterns = _strings(pattern).reshape(-1).tolist()
    found = {path for each in patterns for path in find(os.fsdecode(each))}
    return constant(sorted(os.fsencode(path) for path in found), dtypes.string)


def _scalar(op: str, name: str, value: TensorLike) -> bytes:
    host = _strings(value)
    if host.ndim:
        raise InvalidArgumentError(f"{op}: {name} must be a scalar string; got shape {host.shape}.")
    return bytes(host.item())


def _strings(value: TensorLike) -> Any:
    return host_value(constant(value, dtypes.string) if isinstance(value, (str, bytes, list)) else value)
