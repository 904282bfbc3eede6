"""Slicing: the stage at the beginning of a pipeline, which gives the rows of a source."""

from __future__ import annotations

from typing import Any

from agog_data.elements import Element
from agog_data.rows import AllRows, Rows
from agog_data.sources import ENDLESS, Reader, Source
from agog_data.stage import INFINITE, ElementIterator, NoElementError, Scope, Stage
from agog_data.state import State

_LARGEST_BLOCK = 64


class Slices(Stage):
    """All rows of a source, in order."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def spec(self) -> Any:
        return self._source.spec

    def sample(self, scope: Scope) -> Element:
        if not self._source.count:
            raise NoElementError
        return Reader(self._source, scope.device).row(0)

    def rows(self) -> tuple[Source, Rows]:
        return self._source, AllRows(self._source.count)

    def iterate(self, scope: Scope) -> ElementIterator:
        return RowIterator(*self.rows(), scope)

    def cardinality(self) -> int:
        return INFINITE if self.never_ends() else self._source.count

    def never_ends(self) -> bool:
        return self._source.count == ENDLESS


class RowIterator(ElementIterator):
    """Chosen rows of a source, one after the other, on the device of the scope."""

    def __init__(self, source: Source, rows: Rows, scope: Scope) -> None:
        self._make = Reader(source, scope.device).rows
        self._rows = rows
        self._begin()

    def _begin(self) -> None:
        self._block: list[Element] = []
        self._offset = 0  # in the block
        self._before = self._rows.state_dict()  # where the block begins
        self._size = 16  # blocks grow, so that a short look at a dataset costs little

    def start(self, epoch: int) -> None:
        self._rows.start(epoch)
        self._begin()

    def __next__(self) -> Element:
        offset = self._offset
        if offset == len(self._block):
            self._read_block()
            offset = 0
        self._offset = offset + 1
        return self._block[offset]

    def _read_block(self) -> None:
        before = self._rows.state_dict()
        numbers = self._rows.read(self._size).tolist()
        if not numbers:
            raise StopIteration
        self._block, self._before = self._make(numbers), before
        self._size = min(2 * self._size, _LARGEST_BLOCK)

    def state_dict(self) -> dict[str, Any]:
        return {"stage": "slices", "offset": self._offset, "rows": self._before}

    def load_state_dict(self, state: State) -> None:
        self._rows.load_state_dict(state["rows"])
        self._rows.skip(state["offset"])
        self._begin()
