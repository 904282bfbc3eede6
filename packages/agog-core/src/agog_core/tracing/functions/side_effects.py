"""Side effects: what a function changes beside variables: globals, attributes, lists."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_CONTAINERS = (list, dict, set)
# Of a container no more elements are looked at.
_MOST = 1000


def names_read(function: Any) -> dict[str, Any]:
    """What a function can see of its surroundings: globals and variables of functions around it that it names, and the
    attributes of the object that it is a method of; with words that say what each is.

    >>> factor = 3
    >>> def scaled(x, by=[]):
    ...     return x * factor
    >>> names_read(scaled)
    {"the global 'factor'": 3, "the default of 'by'": []}
    """
    found: dict[str, Any] = {}
    if isinstance(function, MethodType):
        found |= {f"the attribute {name!r}": value for name, value in _attributes(function.__self__)}
        function = function.__func__
    while not isinstance(function, FunctionType) and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    if isinstance(function, FunctionType):
        code = function.__code__
        found |= _globals(code, function.__globals__)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
            try:
                found[f"the variable {name!r} around it"] = cell.cell_contents
            except ValueError:  # it has none yet
                continue
        count = code.co_argcount
        for name, value in zip(code.co_varnames[:count][::-1], (function.__defaults__ or ())[::-1], strict=False):
            found[f"the default of {name!r}"] = value
    return found


def _attributes(owner: Any) -> Iterator[tuple[str, Any]]:
    yield from list(getattr(owner, "__dict__", {}).items())


def _globals(code: CodeType, scope: dict[str, Any]) -> dict[str, Any]:
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names += constant.co_names
    return {f"the global {name!r}": scope[name] for name in dict.fromkeys(names) if name in scope}


def _mark(value: Any) -> Any:
    """What of a value tells that it was changed; None where nothing does."""
    if isinstance(value, _PLAIN):
        return type(value), value
    if isinstance(value, _CONTAINERS) and len(value) <= _MOST:
        parts = value.items() if isinstance(value, dict) else ((None, each) for each in value)
        return id(value), [(key, each if isinstance(each, _PLAIN) else id(each)) for key, each in parts]
    return None


class Watch:
    """A ``with`` block that notes, line by line of the program, what a function changes in its surroundings.

    Attributes:
        changes: the lines, and in words what each has changed.
    """

    def __init__(self, function: Any) -> None:
        self.changes: list[tuple[str, str]] = []
        self._function = function
        self._marks = self._look()
        self._frames: dict[int, str] = {}  # the line that each frame is at

    def _look(self) -> dict[str, Any]:
        return {name: mark for name, value in names_read(self._function).items() if (mark := _mark(value)) is not None}

    def __enter__(self) -> Watch:
        self._outer = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(self._outer)

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        """What Python calls: at each call, and at each line and end of the program's own functions."""
        if (frame.f_globals.get("__name__", "") + ".").startswith(("agog.", "agog_")):
            return None
        if event in ("line", "return"):
            self._compare(frame)
            self._frames[id(frame)] = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if event == "return":
            self._frames.pop(id(frame), None)
        return self._trace

    def _compare(self, frame: FrameType) -> None:
        marks = self._look()
        if marks != self._marks:
            line = self._frames.get(id(frame), f"{frame.f_code.co_filename}:{frame.f_lineno}")
            changed = [name for name, mark in marks.items() if self._marks.get(name) != mark]
            self.changes += [(line, name) for name in changed]
            self._marks = marks
