"""Host files: files by pattern, and TensorFlow's errors for the operating system's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agog_core import errors

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def find(filename: Any) -> list[str]:
    """The files whose paths match a pattern, or one of several.

    Args:
        filename: a pattern with ``*``, ``?`` and ``[...]``, or a list of patterns.

    Returns:
        Paths, sorted for each pattern.

    Raises:
        InvalidArgumentError: a pattern holds a NUL character.
        UnimplementedError: it is of a remote file system, such as ``"s3://bucket/*"``.
    """
    import glob  # here, because its import takes milliseconds

    patterns = filename if isinstance(filename, (list, tuple)) else [filename]
    for pattern in patterns:
        check_name("Glob", os.fsdecode(pattern))
    return [path for pattern in patterns for path in sorted(glob.glob(os.fspath(pattern)))]


def local_path(function: str, path: str | bytes | os.PathLike[Any]) -> str:
    """The path of a file of this machine, as a string. Raises what `check_name` raises."""
    name = os.fsdecode(path)
    check_name(function, name)
    return name


def check_name(function: str, name: str) -> None:
    """Raise InvalidArgumentError if no file can have a name, and UnimplementedError if it is one of a remote file
    system: taken for a path of this machine, it would be that of a folder ``s3:``. They begin with the function's name.
    """
    if "\0" in name:
        raise _nul(function)
    if scheme := _SCHEME.match(name):
        raise errors.UnimplementedError(f"{function}: {_advice(name, scheme[1].lower())}")


def _advice(name: str, scheme: str) -> str:
    if scheme == "file":
        return f"{name!r} is a URL; pass the path alone, {name[len('file://') :]!r}."
    return (
        f"{name!r} is a path of a remote file system ({scheme}), and these are not supported yet; pass a path of this "
        "machine, and copy the file from or to there."
    )


def _nul(function: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(f"{function}: a file name must not hold a NUL character.")


@contextmanager
def translated_errors(function: str, *paths: Any) -> Iterator[None]:
    """Raise TensorFlow's errors for those of the operating system, and for paths that `check_name` refuses; they begin
    with the function's name."""
    for path in paths:
        local_path(function, path)
    try:
        yield
    except FileNotFoundError as error:
        check_name(function, os.fsdecode(error.filename or ""))
        raise errors.NotFoundError(f"{function}: there is no file {error.filename!r}.") from error
    except FileExistsError as error:
        raise errors.AlreadyExistsError(f"{function}: {error.filename!r} is there already.") from error
    except PermissionError as error:
        raise errors.PermissionDeniedError(f"{function}: {error.filename!r} may not be used so.") from error
    except ValueError as error:
        if "embedded null" not in str(error):
            raise
        raise _nul(function) from error
    except OSError as error:
        raise errors.FailedPreconditionError(f"{function}: {error.filename!r}: {error.strerror}.") from error
