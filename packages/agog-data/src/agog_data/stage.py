"""Stages: the base class of the steps of a pipeline, which makes iterators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextvars import Context, copy_context
from itertools import islice
from typing import Any, ClassVar, Self

from agog_core import recording
from agog_core.dispatch.devices.lookup import current_device
from agog_core.ops.control.py_func import in_pipeline
from agog_data.elements import Element, spec_of
from agog_data.random_stream import ElementGenerator
from agog_data.rows import Rows
from agog_data.sources import Source
from agog_data.state import Resumable, Unary

INFINITE = -1
"""How many elements there are where they never end."""
UNKNOWN = -2
"""How many elements there are where only iterating tells."""


class Scope:
    """The surroundings in which an iterator works, on whichever thread: those in which it was made.

    Elements appear on the device that is current now, and functions see the present context variables. Tapes do not
    record what a pipeline does, neither on its own threads nor on the consumer's. `py_func` keeps to its ``Tout``.
    """

    def __init__(self) -> None:
        self.device = current_device()
        self._context = copy_context()
        self._context.run(recording.stack.set, ())
        self._context.run(in_pipeline.set, True)

    def context(self) -> Context:
        """A copy of the context in which the iterator was made, without its tapes, for one thread at a time."""
        return self._context.copy()


class ElementIterator(Resumable, Iterator[Element]):
    """The iterator of a stage. It gives elements once `start` was called, and keeps raising StopIteration at the end.

    Iterators hold their inputs and nobody holds them but their consumer, so that they end, with their threads, as soon
    as they are not used any more.
    """

    @abstractmethod
    def __next__(self) -> Element:
        """The next element."""

    def __iter__(self) -> Self:
        return self


class UnaryIterator(Unary[ElementIterator], ElementIterator):
    """The iterator of a stage with one input."""


class NoElementError(ValueError):
    """There is no element to learn dtypes and shapes from."""

    def __init__(self) -> None:
        super().__init__("The dataset has no elements, so there is none to learn the results of a function from.")


class Stage(ABC):
    """One step of a pipeline. It is never changed by iteration, and any number of iterators may run over it."""

    @abstractmethod
    def spec(self) -> Any:
        """The spec of the elements: their structure, with an `agog_data.elements.ComponentSpec` for each component."""

    @abstractmethod
    def sample(self, scope: Scope) -> Element:
        """One element such as the stage gives, on the scope's device, to learn dtypes and shapes from; any of them.
        Raises `NoElementError` if there is none."""

    def learn(self) -> Any:
        """The spec that `sample` tells, for stages that can only look at an element."""
        scope = Scope()
        return spec_of(scope.context().run(self.sample, scope))

    def first(self, scope: Scope) -> Element:
        """The first element of an iteration, for stages whose `sample` knows no other. Raises `NoElementError` if
        there is none."""

        for element in self.firsts(scope, 1):
            return element
        raise NoElementError

    def firsts(self, scope: Scope, count: int) -> list[Element]:
        """The first elements of an iteration, at most ``count``."""

        def read() -> list[Element]:
            ElementGenerator().use(0, 0)  # so that this iteration does not count, and changes no order
            elements = self.iterate(scope)
            elements.start(0)
            found = list(islice(elements, count))
            if found:
                elements.start(0)  # this closes files and generators
            return found

        return scope.context().run(read)

    @abstractmethod
    def iterate(self, scope: Scope) -> ElementIterator:
        """Make an iterator that works in this scope, and is not started yet."""

    def rows(self) -> tuple[Source, Rows] | None:
        """The source and a new stream of row numbers, where the stage is a choice of rows; None if it computes
        elements."""
        return None

    def unsettled(self) -> str | None:
        """Why two iterators, also in two processes, may number the same elements differently: the stage that does it,
        for an error. None if an element has the same number in all of them. Stages with several inputs ask each."""
        return None

    def never_ends(self) -> bool:
        """Whether the elements are known to go on forever, if there is one; what a function does is not known."""
        return False

    def cardinality(self) -> int:
        """How many elements there are; `INFINITE`, or `UNKNOWN` where nobody knows before they are made."""
        return INFINITE if self.never_ends() else UNKNOWN

    def held(self) -> list[Element] | None:
        """The elements, where the stage holds them in memory already, as the datasets in windows do; else None."""
        return None

    def batched(self, size: int, drop_remainder: bool) -> Stage | None:
        """The stage that gives the same elements in batches, if there is a faster one than stacking; else None."""
        return None


class UnaryStage(Stage):
    """A stage with one input, and by default with elements like the input's."""

    # Whether there are as many elements as the input has.
    keeps_count: ClassVar[bool] = False

    def __init_subclass__(cls, *, keeps_count: bool | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if keeps_count is not None:
            cls.keeps_count = keeps_count

    def __init__(self, stage: Stage) -> None:
        self.input = stage

    def spec(self) -> Any:
        return self.input.spec()

    def sample(self, scope: Scope) -> Element:
        return self.input.sample(scope)

    def unsettled(self) -> str | None:
        return self.input.unsettled()

    def never_ends(self) -> bool:
        return self.input.never_ends()

    def cardinality(self) -> int:
        return self.input.cardinality() if self.keeps_count else super().cardinality()
