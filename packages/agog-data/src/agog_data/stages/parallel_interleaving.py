"""Parallel interleaving: the stage that reads several datasets on threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Semaphore
from typing import Any

from agog_data.elements import Element
from agog_data.stage import ElementIterator, Scope, Stage
from agog_data.stages.nesting import Interleave, InterleaveIterator, Nested, Opener
from agog_data.state import State
from agog_data.threads import WorkAhead


class ParallelInterleave(Interleave):
    """The result of `Interleave`, in the same order, with a thread for each dataset.

    At most ``calls`` threads work at once, or any number if that is None; ``buffer`` elements of each dataset are
    kept ready, and ``prefetch`` more datasets are opened before their turn comes.
    """

    def __init__(
        self,
        name: str,
        stage: Stage,
        function: Callable[..., Any],
        cycle_length: int,
        block_length: int,
        calls: int | None,
        buffer: int,
        prefetch: int,
    ) -> None:
        super().__init__(name, stage, function, cycle_length, block_length)
        self._calls = calls
        self._buffer = buffer
        self._prefetch = prefetch

    def iterate(self, scope: Scope) -> ElementIterator:
        return ParallelInterleaveIterator(self, self.input.iterate(scope), scope)


class ParallelInterleaveIterator(InterleaveIterator):
    """Reads the input ahead on a thread, which starts a thread for the dataset of each element."""

    _stage: ParallelInterleave

    def __init__(self, stage: ParallelInterleave, elements: ElementIterator, scope: Scope) -> None:
        self._limit = None if stage._calls is None else Semaphore(stage._calls)
        self._ahead = WorkAhead(elements, scope, 1, stage._cycle_length + stage._prefetch, "agog-interleave-input")
        super().__init__(stage, elements, scope)

    def _begin(self, epoch: int) -> None:
        self._ahead.stop()
        super()._begin(epoch)
        self._open = partial(_open, self._opener, self._scope, self._stage._buffer, self._limit)

    def _read(self) -> ElementIterator | None:
        try:
            nested: ElementIterator = self._ahead.next(self._open, self._number)
        except StopIteration:
            self.ended = True
            return None
        return nested

    def _nested(self, element: Element, number: int) -> ElementIterator:
        return self._open(element, number)

    def _position(self) -> tuple[int, State]:
        return self._ahead.position(self._number)


def _open(
    opener: Opener, scope: Scope, buffer: int, limit: Semaphore | None, element: Element, number: int
) -> AheadNested:
    nested = AheadNested(Nested(opener, element, number, limit), scope, buffer)
    nested.begin()
    return nested


class AheadNested(ElementIterator):
    """A dataset that a function made of one element, read ahead on a thread by ``buffer`` elements."""

    def __init__(self, nested: Nested, scope: Scope, buffer: int) -> None:
        self._nested = nested
        self._ahead = WorkAhead(nested, scope, 1, buffer, "agog-interleave")

    def begin(self) -> None:
        """Start the thread."""
        self._ahead.begin(_unchanged, 0)

    def start(self, epoch: int) -> None:
        self._ahead.stop()
        self._nested.start(epoch)

    def __next__(self) -> Element:
        return self._ahead.next(_unchanged, 0)

    def state_dict(self) -> dict[str, Any]:
        return dict(self._ahead.position(0)[1])

    def load_state_dict(self, state: State) -> None:
        self._ahead.stop()
        self._nested.load_state_dict(state)
        self.begin()


def _unchanged(element: Element, number: int) -> Element:
    return element
