"""In memory: the stage of elements that are there already."""

from __future__ import annotations

from typing import Any

from agog_data.elements import Element
from agog_data.factory import AnyDataset, dataset_of
from agog_data.stage import ElementIterator, NoElementError, Scope, Stage
from agog_data.state import State


class InMemory(Stage):
    """Elements in memory, and their spec."""

    def __init__(self, elements: list[Element], spec: Any) -> None:
        self._elements = elements
        self._spec = spec

    def spec(self) -> Any:
        return self._spec

    def sample(self, scope: Scope) -> Element:
        if not self._elements:
            raise NoElementError
        return self._elements[0]

    def cardinality(self) -> int:
        return len(self._elements)

    def held(self) -> list[Element]:
        return self._elements

    def iterate(self, scope: Scope) -> ElementIterator:
        return InMemoryIterator(self._elements)


class InMemoryIterator(ElementIterator):
    """Gives what is there."""

    def __init__(self, elements: list[Element]) -> None:
        self._elements = elements
        self._position = 0

    def start(self, epoch: int) -> None:
        self._position = 0

    def __next__(self) -> Element:
        if self._position == len(self._elements):
            raise StopIteration
        self._position += 1
        return self._elements[self._position - 1]

    def state_dict(self) -> dict[str, Any]:
        return {"stage": "held", "position": self._position}

    def load_state_dict(self, state: State) -> None:
        self._position = state["position"]


def hold(elements: list[Element], spec: Any) -> AnyDataset:
    """A dataset of elements that are in memory."""
    dataset: AnyDataset = dataset_of(InMemory(elements, spec))
    return dataset
