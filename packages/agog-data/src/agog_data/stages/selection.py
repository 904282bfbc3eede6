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
from agog_data.stage import INFINITE, ElementIterator, Scope, Stage, UnaryIterator, UnaryStage
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


class RepeatIterator(UnaryIterator, name="repeat"):
    """Starts its input again for each turn."""

    def __init__(self, elements: ElementIterator, turns: Turns) -> None:
        super().__init__(elements)
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
        return {**super().state_dict(), **self._turns.state_dict()}

    def load_state_dict(self, state: State) -> None:
        super().load_state_dict(state)
        self._turns.load_state_dict(state)


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


class TakeIterator(UnaryIterator, name="take", fields=("taken",)):
    """Counts what it has given."""

    def __init__(self, elements: ElementIterator, count: int) -> None:
        super().__init__(elements)
        self._count = count

    def _begin(self, epoch: int) -> None:
        self.taken = 0

    def __next__(self) -> Element:
        if self.taken == self._count:
            raise StopIteration
        element = next(self._input)
        self.taken += 1
        return element


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


class SkipIterator(UnaryIterator, name="skip", fields=("skipped",)):
    """Drops elements before it gives the first one."""

    def __init__(self, elements: ElementIterator, count: int) -> None:
        super().__init__(elements)
        self._count = count

    def _begin(self, epoch: int) -> None:
        self.skipped = 0

    def __next__(self) -> Element:
        while self.skipped < self._count:
            next(self._input)
            self.skipped += 1
        return next(self._input)


class Shuffle(SelectionStage, keeps_count=True):
    """The elements of a stage in random order, by a buffer of which a random place is emptied and refilled."""

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


class ShuffleIterator(UnaryIterator, name="shuffle", fields=("epoch", "draws", "filled", "drained")):
    """Holds elements in its buffer, and saves them with its state, so that no function runs twice for an element."""

    def __init__(self, elements: ElementIterator, buffer_size: int, order: Order, stage: UnaryStage) -> None:
        self._buffer_size = buffer_size
        self._order = order
        self._stage = stage
        super().__init__(elements)

    def _begin(self, epoch: int) -> None:
        self.epoch = epoch
        self._buffer: list[Element] = []
        self.filled = False
        # Whether the input has ended. The buffer then is in the order in which it leaves, the first one last.
        self.drained = False
        self._go_to(0)

    def _go_to(self, draws: int) -> None:
        """Go to where this many random words were drawn."""
        self.draws = draws
        self._source = self._order.words(self.epoch)
        self._source.advance(draws // 4)
        self._source.random_raw(draws % 4)
        self._places: list[int] = []

    def __next__(self) -> Element:
        buffer = self._buffer
        if not self.filled:
            buffer.extend(islice(self._input, self._buffer_size - len(buffer)))
            self.filled = True
        if not self.drained:
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
        self.draws += 1
        return self._places.pop()

    def _drain(self) -> None:
        self._go_to(self.draws)
        order = permutation(len(self._buffer), self._source)[::-1].tolist()
        self._buffer[:] = [self._buffer[place] for place in order]
        self.drained = True

    def state_dict(self) -> dict[str, Any]:
        return {
            **super().state_dict(),
            "buffer": self._buffer.copy(),
            "order": self._order.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        self._order.load_state_dict(state["order"])
        super().load_state_dict(state)
        self._go_to(self.draws)
        if state["buffer"]:
            self._buffer[:] = restore_elements(self._stage.spec(), state["buffer"])
