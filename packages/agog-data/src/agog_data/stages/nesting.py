"""Nesting: `flat_map` and `interleave`, stages with a function from an element to a dataset."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from threading import Semaphore
from typing import Any

from agog_data.elements import Element
from agog_data.encoded_state import restore_elements
from agog_data.factory import AnyDataset
from agog_data.functions import ElementFunction
from agog_data.random_stream import Stream
from agog_data.stage import ElementIterator, NoElementError, Scope, Stage, UnaryStage
from agog_data.stages.mapping import CountingIterator
from agog_data.state import State, check


def dataset_function(stage: str, function: Callable[..., Any]) -> ElementFunction:
    """Wrap a user's function that returns a dataset: the wrapped one returns the dataset's last stage."""

    def last_stage(value: Any) -> Any:
        if not isinstance(value, AnyDataset):
            raise TypeError(
                f"{stage}: the function must return a Dataset; it returned {value!r} of type {type(value).__name__}."
            )
        return value._stage

    return ElementFunction(stage, function, last_stage)


class Opener:
    """Opens the datasets of a function in one epoch; its wrapper returns a stage."""

    def __init__(self, stage: str, function: ElementFunction, word: int, scope: Scope) -> None:
        self._stage = stage
        self._function = function
        self._word = word
        self._scope = scope

    def open(self, element: Element, number: int) -> ElementIterator:
        """Call the function and begin to read its dataset."""
        elements: ElementIterator = self._function(element, number, self._word).iterate(self._scope)
        elements.start(0)
        return elements

    def explain(self, error: Exception, number: int) -> None:
        """Say in an error of a dataset where it comes from: from the element with that number."""
        error.add_note(
            f"This happened in {self._stage}, in the dataset that the function {self._function.name()} returned for "
            f"element {number} (the first is 0)."
        )


class Nested(ElementIterator):
    """The dataset that a function makes of one element. The function is called when the first element is asked for;
    ``limit`` says how many threads may be in a function at once."""

    def __init__(self, opener: Opener, element: Element, number: int, limit: Semaphore | None = None) -> None:
        self._opener = opener
        self._element = element
        self._number = number
        self._limit = limit
        self.start(0)

    def start(self, epoch: int) -> None:
        self._opened = False
        self._elements: ElementIterator | None = None  # when it is opened: the function raised an error

    def __next__(self) -> Element:
        if self._limit is None:
            return self._next()
        with self._limit:
            return self._next()

    def _next(self) -> Element:
        if not self._opened:
            self._opened = True
            self._elements = self._opener.open(self._element, self._number)
        if self._elements is None:
            raise StopIteration
        try:
            return next(self._elements)
        except StopIteration:
            raise
        except Exception as error:
            self._opener.explain(error, self._number)
            raise

    def state_dict(self) -> dict[str, Any]:
        return {
            "stage": "nested",
            "number": self._number,
            "opened": self._opened,
            "buffer": [self._element],
            "nested": [self._elements.state_dict()] if self._elements else [],
        }

    def load_state_dict(self, state: State) -> None:
        self._opened = state["opened"]
        self._elements = None
        for part in state["nested"]:
            elements = self._opener.open(self._element, self._number)
            check(part, elements.state_dict(), "state[...]['nested']")
            elements.load_state_dict(part)
            self._elements = elements


class OpeningStage(UnaryStage):
    """A stage with the elements of the datasets of a function."""

    _spec: Any = None
    _opens_endless = False  # whether the dataset that the spec was learnt from is known to go on forever

    @abstractmethod
    def sample_stage(self, scope: Scope) -> Stage:
        """Call the function: the last stage of a dataset that it makes. For `scope` see `sample`."""

    def spec(self) -> Any:
        if self._spec is None:
            scope = Scope()
            try:
                stage = scope.context().run(self.sample_stage, scope)
                self._spec = scope.context().run(stage.spec)
                self._opens_endless = stage.never_ends()
            except NoElementError:  # in the first dataset; another one may have some
                self._spec = self.learn()
        return self._spec

    def sample(self, scope: Scope) -> Element:
        try:
            return self.sample_stage(scope).sample(scope)
        except NoElementError:
            return self.first(scope)

    def never_ends(self) -> bool:
        if super().never_ends():
            return True
        with suppress(NoElementError):
            self.spec()
        return self._opens_endless

    def unsettled(self) -> str | None:
        scope = Scope()
        return super().unsettled() or scope.context().run(lambda: self.sample_stage(scope).unsettled())


class Interleave(OpeningStage):
    """The elements of the datasets that a function makes of elements: ``block_length`` of each in turn, of
    ``cycle_length`` datasets that are open at a time. ``name`` is the method, for errors."""

    def __init__(
        self, name: str, stage: Stage, function: Callable[..., Any], cycle_length: int, block_length: int
    ) -> None:
        super().__init__(stage)
        self._name = name
        self._function = dataset_function(name, function)
        self._cycle_length = cycle_length
        self._block_length = block_length
        self._stream = Stream(None)

    def sample_stage(self, scope: Scope) -> Stage:
        stage: Stage = self._function(self.input.sample(scope), 0, 0)
        return stage

    def iterate(self, scope: Scope) -> ElementIterator:
        return InterleaveIterator(self, self.input.iterate(scope), scope)


class InterleaveIterator(CountingIterator, fields=("place", "taken", "ended")):
    """Opens a dataset when its turn comes.

    A dataset that has ended leaves its place empty until the next turn, when the next element's dataset takes it.
    """

    def __init__(self, stage: Interleave, elements: ElementIterator, scope: Scope) -> None:
        self.name = stage._name
        self._stage = stage
        self._scope = scope
        super().__init__(elements, stage._function, stage._stream)

    def _begin(self, epoch: int) -> None:
        super()._begin(epoch)
        self._opener = Opener(self._stage._name, self._function, self._word, self._scope)
        self._places: list[ElementIterator | None] = [None] * self._stage._cycle_length
        self.place = 0
        self.taken = 0  # of the present block
        self.ended = False  # whether the input has

    def __next__(self) -> Element:
        while True:
            nested = self._places[self.place]
            if nested is None and not self.ended:
                nested = self._places[self.place] = self._read()
            if nested is not None:
                for element in nested:
                    self.taken += 1
                    if self.taken == self._stage._block_length:
                        self._turn()
                    return element
                self._places[self.place] = None
            elif self.ended and not any(self._places):
                raise StopIteration
            self._turn()

    def _turn(self) -> None:
        self.place = (self.place + 1) % self._stage._cycle_length
        self.taken = 0

    def _read(self) -> ElementIterator | None:
        """The dataset of the next element; None at the input's end."""
        for element in self._input:
            number = self._number
            self._number = number + 1
            return self._nested(element, number)
        self.ended = True
        return None

    def _nested(self, element: Element, number: int) -> ElementIterator:
        return Nested(self._opener, element, number)

    def state_dict(self) -> dict[str, Any]:
        return {
            **super().state_dict(),
            "places": [nested is not None for nested in self._places],
            "nested": [nested.state_dict() for nested in self._places if nested],
        }

    def load_state_dict(self, state: State) -> None:
        super().load_state_dict(state)
        nested = iter(state["nested"])
        for place, filled in enumerate(state["places"]):
            if filled:
                self._places[place] = self._restore(next(nested))

    def _restore(self, state: State) -> ElementIterator:
        (element,) = restore_elements(self._stage.input.spec(), state["buffer"])
        nested = self._nested(element, state["number"])
        nested.load_state_dict(state)
        return nested
