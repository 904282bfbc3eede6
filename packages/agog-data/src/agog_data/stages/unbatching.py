"""The stage that takes elements apart: unbatch."""

from __future__ import annotations

from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_core.shapes import TensorShape
from agog_core.tensor import Tensor
from agog_data import sources
from agog_data.elements import ComponentSpec, Element, components, map_components
from agog_data.stage import ElementIterator, Scope, UnaryStage
from agog_data.state import State, restore_elements


class Unbatch(UnaryStage):
    """The slices of each element along its first axis."""

    def spec(self) -> Any:
        return map_components(_slice_spec, self.input.spec())

    def sample(self, scope: Scope) -> Element:
        found = slices(self.input.sample(scope), 0)
        if not found.count:
            raise ValueError("unbatch: an element without slices has none to learn the results of a function from.")
        return sources.Reader(found, scope.device).row(0)

    def iterate(self, scope: Scope) -> ElementIterator:
        return UnbatchIterator(self, self.input.iterate(scope), scope)


def _slice_spec(component: ComponentSpec) -> ComponentSpec:
    known = component.shape.ndims
    return ComponentSpec(component.dtype, TensorShape(component.shape.as_list()[1:] if known else None))


def slices(element: Element, number: int) -> sources.ArraySource:
    """Cut an element along its first axis.

    Args:
        element: the element.
        number: its number, for errors.

    Returns:
        Its slices.

    Raises:
        InvalidArgumentError: a component is no tensor, or a scalar, or their lengths differ.
    """
    parts = components(element)
    for place, part in enumerate(parts):
        if not isinstance(part, Tensor) or not part._shape:
            kind = "a scalar" if isinstance(part, Tensor) else "a dataset"
            raise InvalidArgumentError(
                f"unbatch: component {place} of element {number} is {kind}, which has no slices; "
                "all components need a first axis."
            )
        if part._shape[0] != parts[0]._shape[0]:
            raise InvalidArgumentError(
                f"unbatch: component 0 of element {number} has shape {parts[0]._shape} and component {place} has shape "
                f"{part._shape}; the first axes must have one length."
            )
    return sources.slices(element)


class UnbatchIterator(ElementIterator):
    """Holds the element whose slices it gives, and saves it with its state, so that it is not computed twice."""

    def __init__(self, stage: Unbatch, elements: ElementIterator, scope: Scope) -> None:
        self._stage = stage
        self._input = elements
        self._device = scope.device
        self._begin()

    def _begin(self) -> None:
        self._number = 0  # of the next element
        self._held: list[Element] = []
        self._source: sources.ArraySource | None = None
        self._row = 0

    def start(self, epoch: int) -> None:
        self._begin()
        self._input.start(epoch)

    def __next__(self) -> Element:
        while self._source is None or self._row == self._source.count:
            self._held, self._source = [], None
            element = next(self._input)
            self._number += 1
            self._hold(element)
        self._row += 1
        return self._read(self._row - 1)

    def _hold(self, element: Element) -> None:
        self._source = slices(element, self._number - 1)
        self._read = sources.Reader(self._source, self._device).row
        self._held, self._row = [element], 0

    def state_dict(self) -> dict[str, Any]:
        return {
            "stage": "unbatch",
            "number": self._number,
            "row": self._row,
            "buffer": self._held,
            "input": self._input.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        self._input.load_state_dict(state["input"])
        self._begin()
        self._number = state["number"]
        if state["buffer"]:
            for element in restore_elements(self._stage.input.spec(), state["buffer"]):
                self._hold(element)
            self._row = state["row"]
