"""Name scope: the prefix of the names of variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["name_scope"]

# "" or a path that ends with "/".
_scope: ContextVar[str] = ContextVar("agog_name_scope", default="")
current_name_scope = _scope.get
# What forgets the names that were handed out: packages that count names add themselves.
counters: list[Callable[[], None]] = []


@contextmanager
def name_scope(name: str | None, default_name: str | None = None, values: Any = None) -> Iterator[str]:
    """Let the names of the variables that are made inside begin with a name and ``/``.

    Args:
        name: the name; a name that ends with ``/`` is the whole path, and the empty string stands for no scope at all.
        default_name: the name where ``name`` is None.

    Returns:
        A context manager, which gives the path of the scope.

    >>> import agog_core as ag
    >>> with ag.name_scope("encoder") as path:
    ...     path, ag.Variable(1.0, name="scale").name
    ('encoder/', 'encoder/scale:0')
    """
    chosen = default_name if name is None else name
    path = (chosen if chosen.endswith("/") else f"{_scope.get()}{chosen}/") if chosen else ""
    token = _scope.set(path)
    try:
        yield path
    finally:
        _scope.reset(token)


def reset_names() -> None:
    """Let the numbers behind names begin anew, as in a new process; what has a name keeps it."""
    for forget in counters:
        forget()
