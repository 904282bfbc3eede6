"""Mapping: `map` and `filter`, stages that call a function for each element."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

from agog_data.elements import ComponentSpec, Element, components, map_components
from agog_data.functions import ElementFunction, as_condition
from agog_data.random_stream import ElementGenerator, Stream
from agog_data.stage import ElementIterator, Scope, Stage, UnaryIterator, UnaryStage
from agog_data.state import State
from agog_data.threads import WorkAhead


class Map(UnaryStage, keeps_count=True):
    """The results of a function of each element; ``num_parallel_calls`` is how many threads call it, None for the
    consumer's own.
    """

    def __init__(self, stage: Stage, function: ElementFunction, num_parallel_calls: int | None, stream: Stream) -> None:
        super().__init__(stage)
        self._function = function
        self._calls = num_parallel_calls
        self._stream = stream
        self._spec: Any = None

    def spec(self) -> Any:
        if self._spec is None:
            self._spec = self._find_spec()
        return self._spec

    def _find_spec(self) -> Any:
        found = self.learn()
        # A function of batches gives batches, and the last one may be smaller.
        if any(component.shape.ndims and component.shape[0] is None for component in components(self.input.spec())):
            return map_components(ComponentSpec.with_unknown_size, found)
        return found

    def sample(self, scope: Scope) -> Element:
        return self._function(self.input.sample(scope), 0, 0)

    def only(self, wanted: Callable[[int], bool]) -> Map:
        """The same with None in place of the results for elements whose numbers are not wanted."""
        chosen, function = copy(self), self._function

        def call(element: Element, number: int, *random: Any, **word: Any) -> Any:
            return function(element, number, *random, **word) if wanted(number) else None

        vars(chosen)["_function"] = call
        return chosen

    def iterate(self, scope: Scope) -> ElementIterator:
        elements = self.input.iterate(scope)
        if self._calls is None:
            return MapIterator(elements, self._function, self._stream)
        return ParallelMapIterator(elements, self._function, self._stream, self._calls, scope)


class CountingIterator(UnaryIterator):
    """An iterator that numbers the elements of its input and has a random word for each epoch."""

    def __init__(self, elements: ElementIterator, function: ElementFunction, stream: Stream) -> None:
        self._function = function
        self._iteration = stream.iterate()
        self._generator = ElementGenerator()
        super().__init__(elements)

    def _begin(self, epoch: int) -> None:
        self._epoch = epoch
        self._number = 0
        self._word = int(self._iteration.words(epoch).random_raw())

    def _position(self) -> tuple[int, State]:
        """The number of the next element for the consumer, and the input's state before it."""
        return self._number, self._input.state_dict()

    def state_dict(self) -> dict[str, Any]:
        number, elements = self._position()
        state = {
            "stage": self.name,
            "epoch": self._epoch,
            "number": number,
            "random": self._iteration.state_dict(),
            "input": elements,
        }
        for field in self.fields:
            state[field] = getattr(self, field)
        return state

    def load_state_dict(self, state: State) -> None:
        self._iteration.load_state_dict(state["random"])
        super().load_state_dict(state)
        self._number = state["number"]


class MapIterator(CountingIterator, name="map"):
    """Calls the function when an element is asked for."""

    def __next__(self) -> Element:
        element = next(self._input)
        number = self._number
        self._number = number + 1
        return self._function(element, number, self._word, self._generator)


class ParallelMapIterator(CountingIterator, name="map"):
    """Calls the function on threads of its own, some elements ahead of the consumer, and gives the results in order."""

    def __init__(
        self, elements: ElementIterator, function: ElementFunction, stream: Stream, calls: int, scope: Scope
    ) -> None:
        # Twice as many elements as threads: while one of them takes long, the threads go on with others.
        self._ahead = WorkAhead(elements, scope, calls, 2 * calls, "agog-map")
        super().__init__(elements, function, stream)

    def _begin(self, epoch: int) -> None:
        self._ahead.stop()
        super()._begin(epoch)

    def __next__(self) -> Element:
        return self._ahead.next(partial(self._function, word=self._word), self._number)

    def _position(self) -> tuple[int, State]:
        return self._ahead.position(self._number)


class Filter(UnaryStage):
    """The elements for which a predicate holds."""

    def __init__(self, stage: Stage, predicate: Callable[..., Any]) -> None:
        super().__init__(stage)
        self._predicate = ElementFunction("filter", predicate, as_condition)
        self._stream = Stream(None)

    def sample(self, scope: Scope) -> Element:
        element = self.input.sample(scope)
        # The stages that follow may count on what the predicate asks for.
        return element if self._predicate(element, 0, 0) else self.first(scope)

    def iterate(self, scope: Scope) -> ElementIterator:
        return FilterIterator(self.input.iterate(scope), self._predicate, self._stream)


class FilterIterator(CountingIterator, name="filter"):
    """Calls the predicate when an element is asked for, until it holds."""

    def __next__(self) -> Element:
        while True:
            element = next(self._input)
            number = self._number
            self._number = number + 1
            if self._function(element, number, self._word, self._generator):
                return element
