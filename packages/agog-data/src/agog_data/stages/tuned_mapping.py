"""Tuned mapping: `map` with ``tf.data.AUTOTUNE``, the stage that measures whether threads pay."""

from __future__ import annotations

from functools import partial
from statistics import median
from time import perf_counter, thread_time
from typing import Any

from agog_core.threads.load import processors
from agog_data.elements import Element
from agog_data.functions import ElementFunction
from agog_data.random_stream import Stream
from agog_data.stage import ElementIterator, Scope, Stage
from agog_data.stages.mapping import CountingIterator, Map
from agog_data.state import State
from agog_data.threads import Queue, Slot, WorkAhead

# A function that is called this often, or for so long, is known.
_KNOWN_CALLS, _KNOWN_SECONDS = 64, 0.005
_LEAST_CALLS = 4
# Passing an element between threads takes tens of microseconds, which a function must be worth.
_CHEAP_SECONDS = 1e-4
_WINDOW_SECONDS = 0.01
_LEAST_GAIN = 0.95  # of the time without threads
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 64.0


class TunedMap(Map):
    """The results of a function of each element, called by threads where that is faster."""

    def __init__(self, stage: Stage, function: ElementFunction, stream: Stream) -> None:
        super().__init__(stage, function, None, stream)
        self._tuning = Tuning(processors())  # no element depends on it

    def iterate(self, scope: Scope) -> ElementIterator:
        return TunedMapIterator(self.input.iterate(scope), self._function, self._stream, self._tuning, scope)


class Tuning:
    """What was measured of a function: the time from element to element with threads and without, in turns.

    Threads lose where a function holds Python's lock, and win where it waits, or computes without that lock. Each turn
    is measured from its second window on: the first takes what was made in the turn before.
    """

    def __init__(self, processors: int) -> None:
        self.processors = processors
        self.threads = max(processors, 2)
        self._seconds: list[float] = []  # of the first calls, which the consumer makes
        self._busy = 0.0  # how long it has computed in these
        self._is_cheap: bool | None = None  # None until that is known
        self.pays = False  # whether threads were faster
        self._best: dict[bool, float] = {}
        self._turns: list[tuple[bool, bool]] = []  # (with threads, measured), the next one last
        self._pause = _FIRST_PAUSE_SECONDS
        self._again = 0.0  # when to measure again
        self.rest()

    def rest(self) -> None:
        """Forget the window: the consumer was away."""
        self._since, self._count = perf_counter(), 0

    def call(self, function: ElementFunction, *arguments: Any) -> Element:
        """Call a function on the consumer's thread, timed until it is known."""
        if self._is_cheap is not None:
            return function(*arguments)
        start, busy = perf_counter(), thread_time()
        result = function(*arguments)
        self._busy += thread_time() - busy
        self._seconds.append(perf_counter() - start)
        count, total = len(self._seconds), sum(self._seconds)
        if count >= _KNOWN_CALLS or (count >= _LEAST_CALLS and total >= _KNOWN_SECONDS):
            is_alone = self.processors == 1 and self._busy > total / 2
            self._is_cheap = is_alone or median(self._seconds) < _CHEAP_SECONDS
        return result

    def wants_threads(self) -> bool:
        """Whether threads shall call the function: because they are faster, or to see whether they are."""
        return self._is_cheap is False and (self.pays or bool(self._turns) or perf_counter() >= self._again)

    def next(self, queue: Queue) -> Slot:
        """The next slot of a queue, from the threads or from the consumer, whose turn it is; see `WorkAhead`."""
        now = perf_counter()
        self._count += 1
        if now - self._since >= _WINDOW_SECONDS and self._count >= _LEAST_CALLS:
            self._end_window(now)
        queue.resting = not (self._turns[-1][0] if self._turns else self.pays)
        queue.visits += 1
        try:
            return (queue.read() if queue.resting else None) or queue.get()
        finally:
            queue.visits += 1

    def _end_window(self, now: float) -> None:
        if self._turns:
            with_threads, is_measured = self._turns.pop()
            if is_measured:
                seconds = (now - self._since) / self._count
                self._best[with_threads] = min(seconds, self._best.get(with_threads, seconds))
            if not self._turns:
                self.pays = self._best[True] < _LEAST_GAIN * self._best[False]
                self._again = now + self._pause
                self._pause = min(2 * self._pause, _LONGEST_PAUSE_SECONDS)
        elif now >= self._again:
            self._best = {}
            self._turns = 2 * [(False, True), (False, False), (True, True), (True, False)]
        self._since, self._count = now, 0


class TunedMapIterator(CountingIterator, name="map"):
    """Calls the function when an element is asked for, or on threads, some elements ahead; the order is the same."""

    def __init__(
        self, elements: ElementIterator, function: ElementFunction, stream: Stream, tuning: Tuning, scope: Scope
    ) -> None:
        self._tuning = tuning
        self._ahead = WorkAhead(elements, scope, tuning.threads, 2 * tuning.threads, "agog-map", tuning)
        super().__init__(elements, function, stream)

    def _begin(self, epoch: int) -> None:
        self._ahead.stop()
        self._tuning.rest()
        super()._begin(epoch)

    def __next__(self) -> Element:
        if self._tuning.wants_threads():
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
