"""Source: functions that are written for one kind of calls; texts that are equal are compiled once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any

from agog_core.shapes import intern_shape
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.graphs.graph import Value


class Source:
    """The lines of a function, and what they name.

    Args:
        header: its name and parameters, such as ``"add(x, y)"``.
        names: what the lines may name.

    >>> source = Source("add(x)", {})
    >>> source.add(f"return x + {source.constant(2)}")
    >>> source.function()(3)
    5
    """

    def __init__(self, header: str, names: Mapping[str, Any]) -> None:
        self.lines: list[str] = []
        self.scope = {"new": object.__new__, "Tensor": Tensor, **names}
        self._header, self._count = header, 0

    def add(self, line: str) -> None:
        """Add a line."""
        self.lines.append(line)

    def constant(self, value: Any) -> str:
        """The name of what is the same in all calls."""
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return name

    def name(self) -> str:
        """A name that is not yet taken."""
        self._count += 1
        return f"x{self._count}"

    def made(self, array: str, value: Value) -> str:
        """Add the lines that make a tensor of an array, like a value of a graph; its name."""
        name = self.name()
        self.lines += [
            f"{name} = new(Tensor)",
            f"{name}._array = {array}",
            f"{name}._table = {self.constant(value.table)}",
            f"{name}._shape = {self.constant(intern_shape(value.shape))}",
            f"{name}._watch = None",
        ]
        return name

    def function(self) -> Callable[..., Any]:
        """The function."""
        name = self._header.partition("(")[0]
        body = "\n    ".join(self.lines)
        exec(compiled(f"def {self._header}:\n    {body}\n", f"<{name} of traced functions>"), self.scope)
        return self.scope.pop(name)  # type: ignore[no-any-return]  # it holds its scope, and not the other way


@lru_cache(1024)
def compiled(text: str, file: str) -> CodeType:
    """The code of a text: to compile it takes ten times as long as to write it."""
    return compile(text, file, "exec")
