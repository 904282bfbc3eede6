"""Element streams: elements of one file after the other, for Arrow, SQLite and WebDataset."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from typing import Any

import numpy as np

from agog_core.tensors.convert import from_host
from agog_data.elements import Element, components, packer
from agog_data.stage import ElementIterator, Scope, Stage
from agog_data.state import State

Array = np.ndarray[Any, Any]
# An element's components, and the position in the file after the element.
Parts = Generator[tuple[list[Array], int], None, None]


class ElementStream(Stage):
    """The elements of files; ``name`` is the stage's, in states."""

    def __init__(self, name: str, files: list[str]) -> None:
        self.name = name
        self.files = files

    @abstractmethod
    def read(self, file: int, position: int) -> Parts:
        """The components of a file's elements, and the position after each: from 0, or from such a position.

        The file is closed when the generator ends or is dropped.
        """

    def sample(self, scope: Scope) -> Element:
        return self.first(scope)

    def iterate(self, scope: Scope) -> ElementIterator:
        return StreamIterator(self, scope)


class StreamIterator(ElementIterator):
    """Reads one file after the other."""

    def __init__(self, stream: ElementStream, scope: Scope) -> None:
        self._stream = stream
        spec = stream.spec()
        self._tables = [scope.device.table(component.dtype) for component in components(spec)]
        self._pack = packer(spec)
        self._go(0, 0)

    def _go(self, file: int, position: int) -> None:
        self._file = file
        self._position = position
        self._parts: Parts | None = None

    def start(self, epoch: int) -> None:
        self._go(0, 0)

    def __next__(self) -> Element:
        while self._file < len(self._stream.files):
            if self._parts is None:
                self._parts = self._stream.read(self._file, self._position)
            try:
                parts, position = next(self._parts)
            except StopIteration:
                self._go(self._file + 1, 0)
                continue
            except BaseException:
                self._parts = None  # the next call comes here again
                raise
            self._position = position
            return self._pack([from_host(part, table) for part, table in zip(parts, self._tables, strict=True)])
        raise StopIteration

    def state_dict(self) -> dict[str, Any]:
        return {"stage": self._stream.name, "file": self._file, "position": self._position}

    def load_state_dict(self, state: State) -> None:
        self._go(state["file"], state["position"])


def text(value: bytes) -> Array:
    """A scalar of dtype string, as an array of shape ()."""
    found = np.empty((), object)
    found[()] = value
    return found
