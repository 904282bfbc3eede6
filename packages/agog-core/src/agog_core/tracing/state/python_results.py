"""Python results: what Python functions returned in a run that was given up; the next run takes them over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

# The line of each call, and the arrays that it returned.
_left: ContextVar[tuple[tuple[str, Sequence[Any]], ...]] = ContextVar("agog_handed_on", default=())


class HandedOn:
    """The results that a run has taken over, and those that it would leave."""

    def __init__(self) -> None:
        self._given = list(_left.get())
        self._done: list[tuple[str, Sequence[Any]]] = []
        if self._given:
            _left.set(())

    def result(self, line: str, call: Callable[[], Sequence[Any]]) -> Sequence[Any]:
        """What a call of Python at some line returns: it is not called again where the run before has called it."""
        found = self._given.pop(0) if self._given else None
        if found is None or found[0] != line:
            self._given.clear()
            found = line, call()
        self._done.append(found)
        return found[1]

    def leave(self) -> None:
        """Leave the results to the run that comes next."""
        _left.set(tuple(self._done))


def handing_on(function: F) -> F:
    """A function in which one run takes the place of another one; no results are left behind it."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        finally:
            if _left.get():
                _left.set(())

    return run  # type: ignore[return-value]  # it is called as the function is
