"""Selection: `repeat`, `take`, `skip` and `shuffle`. On a source these stages choose row numbers
instead."""

from __future__ import annotations

from abc import abstractmethod
from itertools import islice
from typing import Any

from agog_data.elements import Element
from agog_data.encoded_state import restore_elements
from agog_data.random_stream import Order, Stream, permutation, places
from agog_data.rows import RepeatedRows, Rows, ShuffledRows, SkippedRows, TakenRows, Turns
from agog_data.sources import ENDLESS, Source
from agog_data.stage import INFINITE, ElementIterator, Scope, Stage, UnaryStage
from agog_data.stages.slicing import RowIterator
from agog_data.state import State

_LONGEST_HEADER = 100  # of a file, in elements
_WORDS = 256  # how many random words a shuffle of elements draws at a time


class SelectionStage(UnaryStage):
    """A stage that never looks into an element."""

    @abstractmethod
    def choose_rows(self, rows: Rows) -> Rows:
        """Choose among the row numbers of the input."""

    @abstractmethod
    def choose(self, elements: ElementIterator) -> ElementIterator:
        """Choose among the elements of the input."""

    def rows(self) -> tuple[Source, Rows] | None:
        found = self.input.rows()
        return found and (found[0], self.choose_rows(found[1]))

    def iterate(self, scope: Scope) -> ElementIterator:
        found = self.rows()
        return RowIterator(*found, scope) if found else self.choose(self.input.iterate(scope))


class Repeat(SelectionStage):
    """The elements of a stage, several times; ``count`` is None for no end."""

    def __init__(self, stage: Stage, count: int | None) -> None:
        super().__init__(stage)
        self._count = count

    def choose_rows(self, rows: Rows) -> Rows:
        return RepeatedRows(rows, Turns(self._count))

    def choose(self, elements: ElementIterator) -> ElementIterator:
        return RepeatIterator(elements, Turns(self._count))

    def unsettled(self) -> str | None:
        return "repeat gives each element several numbers"

    def never_ends(self) -> bool:
        return self._count is None or super().never_ends()

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if not count:
            return 0
        if self._count is None:
            return INFINITE
        return count if count < 0 else count * self._count


class RepeatIterator(ElementIterator):
    """Starts its input again for each turn."""

    def __init__(self, elements: ElementIterator, turns: Turns) -> None:
        self._input = elements
        self._turns = turns

    def start(self, epoch: int) -> None:
        self._input.start(self._turns.start(epoch))

    def __next__(self) -> Element:
        while True:
            for element in self._input:
                self._turns.empty = False
                return element
            epoch = self._turns.next()
            if epoch is None:
                raise StopIteration
            self._input.start(epoch)

    def state_dict(self) -> dict[str, Any]:
        return {"stage": "repeat", **self._turns.state_dict(), "input": self._input.state_dict()}

    def load_state_dict(self, state: State) -> None:
        self._turns.load_state_dict(state)
        self._input.load_state_dict(state["input"])


class Take(SelectionStage):
    """The first elements of a stage."""

    def __init__(self, stage: Stage, count: int) -> None:
        super().__init__(stage)
        self._count = count

    def choose_rows(self, rows: Rows) -> Rows:
        return TakenRows(rows, self._count)

    def choose(self, elements: ElementIterator) -> ElementIterator:
        return TakeIterator(elements, self._count)

    def never_ends(self) -> bool:
        return self._count >= ENDLESS and super().never_ends()

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if count == INFINITE:
            return INFINITE if self._count >= ENDLESS else self._count
        return 0 if not self._count else count if count < 0 else min(count, self._count)


class TakeIterator(ElementIterator):
    """Counts what it has given."""

    def __init__(self, elements: ElementIterator, count: int) -> None:
        self._input = elements
        self._count = count
        self._taken = 0

    def start(self, epoch: int) -> None:
        self._taken = 0
        self._input.start(epoch)

    def __next__(self) -> Element:
        if self._taken == self._count:
            raise StopIteration
        element = next(self._input)
        self._taken += 1
        return element

    def state_dict(self) -> dict[str, Any]:
        return {"stage": "take", "taken": self._taken, "input": self._input.state_dict()}

    def load_state_dict(self, state: State) -> None:
        self._taken = state["taken"]
        self._input.load_state_dict(state["input"])


class Skip(SelectionStage):
    """The elements of a stage but for the first ones."""

    def __init__(self, stage: Stage, count: int) -> None:
        super().__init__(stage)
        self._count = count

    def sample(self, scope: Scope) -> Element:
        # The header of a file is unlike what follows. A long part is not, and would take long.
        return self.first(scope) if self._count <= _LONGEST_HEADER else self.input.sample(scope)

    def cardinality(self) -> int:
        count = self.input.cardinality()
        return count if count < 0 else max(0, count - self._count)

    def choose_rows(self, rows: Rows) -> Rows:
        return SkippedRows(rows, self._count)

    def choose(self, elements: ElementIterator) -> ElementIterator:
        return SkipIterator(elements, self._count)


class SkipIterator(ElementIterator):
    """Drops elements before it gives the first one."""

    def __init__(self, elements: ElementIterator, count: int) -> None:
        self._input = elements
        self._count = count
        self._skipped = 0

    def start(self, epoch: int) -> None:
        self._skipped = 0
        self._input.start(epoch)

    def __next__(self) -> Element:
        while self._skipped < self._count:
            next(self._input)
            self._skipped += 1
        return next(self._input)

    def state_dict(self) -> dict[str, Any]:
        return {"stage": "skip", "skipped": self._skipped, "input": self._input.state_dict()}

    def load_state_dict(self, state: State) -> None:
        self._skipped = state["skipped"]
        self._input.load_state_dict(state["input"])


class Shuffle(SelectionStage):
    """The elements of a stage in random order, by a buffer of which a random place is emptied and refilled."""

    keeps_count = True

    def __init__(self, stage: Stage, buffer_size: int, seed: int | None, reshuffle_each_iteration: bool) -> None:
        super().__init__(stage)
        self._buffer_size = buffer_size
        self._stream = Stream(seed)
        self._seeded = seed is not None
        self._reshuffle = reshuffle_each_iteration

    def _order(self) -> Order:
        return Order(self._stream, self._stream.iterate() if self._reshuffle else None)

    def choose_rows(self, rows: Rows) -> Rows:
        return ShuffledRows(rows, self._buffer_size, self._order())

    def choose(self, elements: ElementIterator) -> ElementIterator:
        return ShuffleIterator(elements, self._buffer_size, self._order(), self)

    def unsettled(self) -> str | None:
        if self._reshuffle or not self._seeded:
            return "shuffle without a seed and reshuffle_each_iteration=False gives them another order each time"
        return super().unsettled()


class ShuffleIterator(ElementIterator):
    """Holds elements in its buffer, and saves them with its state, so that no function runs twice for an element."""

    def __init__(self, elements: ElementIterator, buffer_size: int, order: Order, stage: UnaryStage) -> None:
        self._input = elements
        self._buffer_size = buffer_size
        self._order = order
        self._stage = stage
        self._begin(0)

    def _begin(self, epoch: int) -> None:
        self._epoch = epoch
        self._buffer: list[Element] = []
        self._filled = False
        # Whether the input has ended. The buffer then is in the order in which it leaves, the first one last.
        self._drained = False
        self._go_to(0)

    def _go_to(self, draws: int) -> None:
        """Go to where this many random words were drawn."""
        self._draws = draws
        self._source = self._order.words(self._epoch)
        self._source.advance(draws // 4)
        self._source.random_raw(draws % 4)
        self._places: list[int] = []

    def start(self, epoch: int) -> None:
        self._begin(epoch)
        self._input.start(epoch)

    def __next__(self) -> Element:
        buffer = self._buffer
        if not self._filled:
            buffer.extend(islice(self._input, self._buffer_size - len(buffer)))
            self._filled = True
        if not self._drained:
            for element in self._input:
                place = self._next_place()
                leaving, buffer[place] = buffer[place], element
                return leaving
            self._drain()
        if not buffer:
            raise StopIteration
        return buffer.pop()

    def _next_place(self) -> int:
        if not self._places:
            self._places = places(self._source.random_raw(_WORDS), self._buffer_size)[::-1].tolist()
        self._draws += 1
        return self._places.pop()

    def _drain(self) -> None:
        self._go_to(self._draws)
        order = permutation(len(self._buffer), self._source)[::-1].tolist()
        self._buffer[:] = [self._buffer[place] for place in order]
        self._drained = True

    def state_dict(self) -> dict[str, Any]:
        return {
            "stage": "shuffle",
            "epoch": self._epoch,
            "draws": self._draws,
            "filled": self._filled,
            "drained": self._drained,
            "buffer": self._buffer.copy(),
            "order": self._order.state_dict(),
            "input": self._input.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        self._input.load_state_dict(state["input"])
        self._order.load_state_dict(state["order"])
        self._begin(state["epoch"])
        self._go_to(state["draws"])
        self._filled, self._drained = state["filled"], state["drained"]
        if state["buffer"]:
            self._buffer[:] = restore_elements(self._stage.spec(), state["buffer"])
