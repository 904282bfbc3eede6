"""Scanning: `scan`, the stage that passes a state from element to element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core import convert_to_tensor
from agog_data.elements import Element, as_element, map_components, spec_of
from agog_data.encoded_state import restore_elements
from agog_data.functions import ElementFunction
from agog_data.random_stream import Stream
from agog_data.stage import ElementIterator, Scope, Stage, UnaryStage
from agog_data.stages.mapping import CountingIterator
from agog_data.state import State


def as_state(value: Any) -> Element:
    """Make a state of what a user's function returned: tensors or what converts to them, where a list is a tensor."""
    return map_components(convert_to_tensor, value)


def check_state(stage: str, state: Element, before: Element) -> None:
    """Raise TypeError unless a state has the structure and the dtypes of the one before."""
    found, expected = (map_components(lambda x: x.dtype.name, each) for each in (state, before))
    if found != expected:
        raise TypeError(
            f"{stage}: the element types for the new state must match the initial state. "
            f"Expected {expected}; got {found}."
        )


def _pair(value: Any) -> tuple[Element, Element]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(
            "scan: the function must return a pair comprising the new state and the output value; "
            f"it returned {value!r} of type {type(value).__name__}."
        )
    return as_state(value[0]), as_element(value[1])


class Scan(UnaryStage, keeps_count=True):
    """The results of a function of a state and each element: the next state and an element."""

    def __init__(self, stage: Stage, initial_state: Any, function: Callable[..., Any]) -> None:
        super().__init__(stage)
        self.initial_state = as_state(initial_state)
        self.function = ElementFunction("scan", function, _pair)
        self.stream = Stream(None)
        self._spec: Any = None

    def spec(self) -> Any:
        if self._spec is None:
            self._spec = self.learn()
        return self._spec

    def sample(self, scope: Scope) -> Element:
        return self.function((self.initial_state, self.input.sample(scope)), 0, 0)[1]

    def iterate(self, scope: Scope) -> ElementIterator:
        return ScanIterator(self, self.input.iterate(scope))


class ScanIterator(CountingIterator, name="scan"):
    """Holds the state of the elements, and saves it with its own."""

    def __init__(self, stage: Scan, elements: ElementIterator) -> None:
        self._initial = stage.initial_state
        super().__init__(elements, stage.function, stage.stream)

    def _begin(self, epoch: int) -> None:
        super()._begin(epoch)
        self._carried = self._initial

    def __next__(self) -> Element:
        element = next(self._input)
        number = self._number
        self._number = number + 1
        carried, output = self._function((self._carried, element), number, self._word)
        check_state("scan", carried, self._initial)
        self._carried = carried
        return output

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "buffer": [self._carried]}

    def load_state_dict(self, state: State) -> None:
        super().load_state_dict(state)
        (self._carried,) = restore_elements(spec_of(self._initial), state["buffer"])
