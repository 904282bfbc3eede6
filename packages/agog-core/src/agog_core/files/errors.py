"""Errors: TensorFlow's for those of the operating system and of remote stores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agog_core import errors
from agog_core.files.paths import check_name, file_path

__all__ = ["translated_errors"]


@contextmanager
def translated_errors(function: str, *paths: Any) -> Iterator[None]:
    """Raise TensorFlow's errors for those of the operating system, and for paths that `check_name` refuses; they begin
    with the function's name."""
    for path in paths:
        file_path(function, path)
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
        raise errors.InvalidArgumentError(f"{function}: a file name must not hold a NUL character.") from error
    except ConnectionError as error:
        raise errors.UnavailableError(f"{function}: {error.filename!r}: {error.strerror}.") from error
    except OSError as error:
        raise errors.FailedPreconditionError(f"{function}: {error.filename!r}: {error.strerror}.") from error
