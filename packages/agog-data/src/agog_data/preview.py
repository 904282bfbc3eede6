"""Preview: reading that only shows a dataset, which must leave all sources as they are."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TypeVar

T = TypeVar("T")

# Whether this thread or task reads a dataset only to show it.
_is_looking: ContextVar[bool] = ContextVar("agog_data_looking", default=False)


class OneShotError(Exception):
    """What would be read may be read only once."""


def look(function: Callable[[], T]) -> T:
    """Call a function that reads a dataset to show it. Raises `OneShotError` if that would change what a program
    reads later."""
    context = copy_context()
    context.run(_is_looking.set, True)
    return context.run(function)


def touch(path: str | None = None) -> None:
    """Raise `OneShotError` within `look`. With a path, only if there is no regular file, but a pipe or a device."""
    if _is_looking.get() and (path is None or (os.path.exists(path) and not os.path.isfile(path))):
        raise OneShotError
