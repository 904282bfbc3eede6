"""Tuned mapping: `map` with ``tf.data.AUTOTUNE``, the stage that measures whether threads pay."""

from __future__ import annotations

from functools import partial

from agog_data.elements import Element
from agog_data.functions import ElementFunction
from agog_data.random_stream import Stream
from agog_data.stage import ElementIterator, Scope, Stage
from agog_data.stages.mapping import CountingIterator, Map
from agog_data.state import State
from agog_data.threads import WorkAhead
from agog_data.tuning import FOR_THREADS, Tuning


class TunedMap(Map):
    """The results of a function of each element, called by threads where that is faster."""

    def __init__(self, stage: Stage, function: ElementFunction, stream: Stream) -> None:
        super().__init__(stage, function, None, stream)
        self._tuning = Tuning(FOR_THREADS)  # no element depends on it

    def iterate(self, scope: Scope) -> ElementIterator:
        return TunedMapIterator(self.input.iterate(scope), self._function, self._stream, self._tuning, scope)


class TunedMapIterator(CountingIterator, name="map"):
    """Calls the function when an element is asked for, or on threads, some elements ahead; the order is the same."""

    def __init__(
        self, elements: ElementIterator, function: ElementFunction, stream: Stream, tuning: Tuning, scope: Scope
    ) -> None:
        self._tuning = tuning
        self._ahead = WorkAhead(elements, scope, tuning.workers, 2 * tuning.workers, "agog-map", tuning)
        super().__init__(elements, function, stream)

    def _begin(self, epoch: int) -> None:
        self._ahead.stop()
        self._tuning.rest()
        super()._begin(epoch)

    def __next__(self) -> Element:
        if self._tuning.wants_workers():
            return self._ahead.next(partial(self._function, word=self._word), self._number)
        if self._ahead.is_working:
            number = self._ahead.retire()
            if number is None:  # they have made elements that nobody has taken yet
                return self._ahead.next(partial(self._function, word=self._word), self._number)
            self._number = number
        element = next(self._input)
        number = self._number
        self._number = number + 1
        return self._tuning.call(self._function, element, number, self._word, self._generator)

    def _position(self) -> tuple[int, State]:
        return self._ahead.position(self._number)
