"""Prefetching: `prefetch`, the stage that computes ahead of the consumer, on a thread of its own."""

from __future__ import annotations

from typing import Any

from agog_data.elements import Element
from agog_data.stage import ElementIterator, Scope, Stage, UnaryIterator, UnaryStage
from agog_data.threads import WorkAhead


class Prefetch(UnaryStage, keeps_count=True):
    """The elements of a stage, some of them computed before they are asked for."""

    def __init__(self, stage: Stage, buffer_size: int) -> None:
        super().__init__(stage)
        self._buffer_size = buffer_size

    def iterate(self, scope: Scope) -> ElementIterator:
        return PrefetchIterator(self.input.iterate(scope), self._buffer_size, scope)


class PrefetchIterator(UnaryIterator, name="prefetch"):
    """Gives what its thread has read."""

    def __init__(self, elements: ElementIterator, buffer_size: int, scope: Scope) -> None:
        self._ahead = WorkAhead(elements, scope, 1, buffer_size, "agog-prefetch")
        super().__init__(elements)

    def _begin(self, epoch: int) -> None:
        self._ahead.stop()

    def __next__(self) -> Element:
        return self._ahead.next(None, 0)

    def state_dict(self) -> dict[str, Any]:
        return {"stage": self.name, "input": self._ahead.position(0)[1]}
