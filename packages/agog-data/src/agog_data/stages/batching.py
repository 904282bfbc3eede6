"""Batching: `batch`, the stage that joins elements."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from agog_data.elements import Element, map_components, stack_elements
from agog_data.rows import Rows
from agog_data.sources import Reader, Source
from agog_data.stage import ElementIterator, Scope, Stage, UnaryIterator, UnaryStage
from agog_data.state import State

Join = Callable[[list[Element], int], Element]


def batches_of(count: int, size: int, drop_remainder: bool) -> int:
    """How many batches there are of so many elements, if that is known.

    >>> batches_of(10, 4, False), batches_of(10, 4, True), batches_of(-1, 4, True)
    (3, 2, -1)
    """
    if count < 0:
        return count
    return count // size if drop_remainder else -(-count // size)


class Batch(UnaryStage):
    """Consecutive elements, joined along a new first axis."""

    def __init__(self, stage: Stage, batch_size: int, drop_remainder: bool) -> None:
        super().__init__(stage)
        self.size = batch_size
        self.drop_remainder = drop_remainder

    def cardinality(self) -> int:
        return batches_of(self.input.cardinality(), self.size, self.drop_remainder)

    def spec(self) -> Any:
        size = self.size if self.drop_remainder else None
        return map_components(lambda component: component.batched(size), self.input.spec())

    def sample(self, scope: Scope) -> Element:
        return stack_elements([self.input.sample(scope)] * (self.size if self.drop_remainder else 1), 0)

    def iterate(self, scope: Scope) -> ElementIterator:
        found = self.input.rows()
        if found:
            return RowBatchIterator(*found, self.size, self.drop_remainder, scope)
        joined = self.input.batched(self.size, self.drop_remainder)
        if joined:
            return joined.iterate(scope)
        return BatchIterator("batch", self.input.iterate(scope), self.size, self.drop_remainder, stack_elements)


class BatchIterator(UnaryIterator, fields=("number",)):
    """Joins ``size`` elements at a time, by a function of them and the batch's number; states have the stage's name."""

    def __init__(self, name: str, elements: ElementIterator, size: int, drop_remainder: bool, join: Join) -> None:
        super().__init__(elements)
        self.name = name
        self._size = size
        self._drop_remainder = drop_remainder
        self._join = join

    def _begin(self, epoch: int) -> None:
        self.number = 0

    def __next__(self) -> Element:
        elements = list(islice(self._input, self._size))
        if not elements or (self._drop_remainder and len(elements) < self._size):
            raise StopIteration
        self.number += 1
        return self._join(elements, self.number - 1)


class RowBatchIterator(ElementIterator):
    """Gathers rows of a source, once per batch."""

    def __init__(self, source: Source, rows: Rows, size: int, drop_remainder: bool, scope: Scope) -> None:
        self._gather = Reader(source, scope.device).gather
        self._rows = rows
        self._size = size
        self._drop_remainder = drop_remainder

    def start(self, epoch: int) -> None:
        self._rows.start(epoch)

    def __next__(self) -> Element:
        numbers = self._rows.read(self._size)
        if not len(numbers) or (self._drop_remainder and len(numbers) < self._size):
            raise StopIteration
        return self._gather(numbers)

    def state_dict(self) -> dict[str, Any]:
        return {"stage": "batch", "rows": self._rows.state_dict()}

    def load_state_dict(self, state: State) -> None:
        self._rows.load_state_dict(state["rows"])
