"""Unbatching: `unbatch`, the stage that splits elements into slices."""

from __future__ import annotations

from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_core.tensors.sparse_tensor import SparseTensor
from agog_data.elements import (
    ComponentSpec,
    Element,
    components,
    map_components,
    packer,
    unstack_elements,
)
from agog_data.encoded_state import restore_elements
from agog_data.factory import AnyDataset
from agog_data.sparse_elements import unstack_sparse
from agog_data.stage import ElementIterator, Scope, UnaryIterator, UnaryStage
from agog_data.state import State


class Unbatch(UnaryStage):
    """The slices of each element along its first axis."""

    def spec(self) -> Any:
        return map_components(ComponentSpec.row, self.input.spec())

    def sample(self, scope: Scope) -> Element:
        found = slices(self.input.sample(scope), 0)
        return found[0] if found else self.first(scope)

    def iterate(self, scope: Scope) -> ElementIterator:
        return UnbatchIterator(self, self.input.iterate(scope))


def slices(element: Element, number: int) -> list[Element]:
    """Cut an element along its first axis. Raises InvalidArgumentError, with the element's number, where a component is
    a dataset or a scalar, or their lengths differ."""
    parts = components(element)
    for place, part in enumerate(parts):
        if isinstance(part, AnyDataset) or not part.shape.ndims:
            kind = "a dataset" if isinstance(part, AnyDataset) else "a scalar"
            raise InvalidArgumentError(
                f"unbatch: component {place} of element {number} is {kind}, which has no slices; "
                "all components need a first axis."
            )
        if part.shape[0] != parts[0].shape[0]:
            raise InvalidArgumentError(
                f"unbatch: component 0 of element {number} has shape {parts[0].shape} and component {place} has shape "
                f"{part.shape}; the first axes must have one length."
            )
    columns = [unstack_sparse(part) if isinstance(part, SparseTensor) else unstack_elements(part) for part in parts]
    return [packer(element)(list(row)) for row in zip(*columns, strict=True)]


class UnbatchIterator(UnaryIterator, name="unbatch", fields=("number",)):
    """Keeps the current element in its state, so that it is not computed twice."""

    def __init__(self, stage: Unbatch, elements: ElementIterator) -> None:
        super().__init__(elements)
        self._stage = stage

    def _begin(self, epoch: int) -> None:
        self.number = 0  # of the next element
        self._held: list[Element] = []
        self._slices: list[Element] = []
        self._row = 0

    def __next__(self) -> Element:
        while self._row == len(self._slices):
            self._held, self._slices, self._row = [], [], 0
            element = next(self._input)
            self.number += 1
            self._hold(element)
        self._row += 1
        return self._slices[self._row - 1]

    def _hold(self, element: Element) -> None:
        self._slices, self._held = slices(element, self.number - 1), [element]

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "row": self._row, "buffer": self._held}

    def load_state_dict(self, state: State) -> None:
        super().load_state_dict(state)
        if state["buffer"]:
            for element in restore_elements(self._stage.input.spec(), state["buffer"]):
                self._hold(element)
            self._row = state["row"]
