"""Reduction by key: `group_by_reducer`, the stage that makes one element of all with one key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_data.elements import Element, spec_of
from agog_data.encoded_state import restore_elements
from agog_data.functions import ElementFunction
from agog_data.random_stream import Stream
from agog_data.stage import ElementIterator, Scope, Stage, UnaryStage
from agog_data.stages.grouping import as_key, integer_function
from agog_data.stages.mapping import CountingIterator
from agog_data.stages.scanning import as_state, check_state
from agog_data.state import State


class GroupByReducer(UnaryStage):
    """One element for each key, in the order of the keys.

    ``key_function`` maps an element to an integer, ``init_function`` a key to its first state, ``reduce_function`` a
    state and an element to the next state, and ``finalize_function`` the last state to an element.
    """

    name = "group_by_reducer"

    def __init__(
        self,
        stage: Stage,
        key_function: Callable[..., Any],
        init_function: Callable[..., Any],
        reduce_function: Callable[..., Any],
        finalize_function: Callable[..., Any],
    ) -> None:
        super().__init__(stage)
        self.key_function = integer_function(self.name, "key_func", key_function)
        self.init_function = ElementFunction(f"the keys of {self.name}", init_function, as_state)
        self.reduce_function = ElementFunction(self.name, reduce_function, as_state)
        self.finalize_function = ElementFunction(f"the keys of {self.name}", finalize_function)
        self.stream = Stream(None)
        self._specs: tuple[Any, Any] | None = None

    def spec(self) -> Any:
        return self._find_specs()[1]

    def state_spec(self) -> Any:
        """The spec of the states."""
        return self._find_specs()[0]

    def _find_specs(self) -> tuple[Any, Any]:
        if self._specs is None:
            scope = Scope()
            state, element = scope.context().run(self._sample_both, scope)
            self._specs = spec_of(state), spec_of(element)
        return self._specs

    def sample(self, scope: Scope) -> Element:
        return self._sample_both(scope)[1]

    def _sample_both(self, scope: Scope) -> tuple[Element, Element]:
        element = self.input.sample(scope)
        first = self.init_function(as_key(self.key_function(element, 0, 0)), 0, 0)
        state = self.reduce_function((first, element), 0, 0)
        check_state(self.name, state, first)
        return state, self.finalize_function(state, 0, 0)

    def iterate(self, scope: Scope) -> ElementIterator:
        return GroupByReducerIterator(self, self.input.iterate(scope))


class GroupByReducerIterator(CountingIterator):
    """Reads all of its input before it gives the first element."""

    name = GroupByReducer.name
    fields = ("given",)

    def __init__(self, stage: GroupByReducer, elements: ElementIterator) -> None:
        self._stage = stage
        super().__init__(elements, stage.key_function, stage.stream)

    def _begin(self, epoch: int) -> None:
        super()._begin(epoch)
        self._words: list[int] = self._iteration.words(epoch).random_raw(4).tolist()
        self._states: dict[int, Element] = {}
        self.given = 0  # how many keys

    def __next__(self) -> Element:
        for element in self._input:
            self._reduce(element)
        if not self._states:
            raise StopIteration
        key = min(self._states)
        self.given += 1
        return self._stage.finalize_function(self._states.pop(key), self.given - 1, self._words[3])

    def _reduce(self, element: Element) -> None:
        number = self._number
        self._number = number + 1
        key = self._function(element, number, self._words[0])
        if key not in self._states:
            self._states[key] = self._stage.init_function(as_key(key), len(self._states), self._words[1])
        state = self._stage.reduce_function((self._states[key], element), number, self._words[2])
        check_state(self._stage.name, state, self._states[key])
        self._states[key] = state

    def state_dict(self) -> dict[str, Any]:
        states = [{"key": key, "buffer": [state]} for key, state in self._states.items()]
        return {**super().state_dict(), "states": {"stage": "states", "nested": states}}

    def load_state_dict(self, state: State) -> None:
        super().load_state_dict(state)
        for part in state["states"]["nested"]:
            (self._states[part["key"]],) = restore_elements(self._stage.state_spec(), part["buffer"])
