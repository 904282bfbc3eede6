"""Tuning: whether workers, which are threads or processes, call a function faster than its consumer."""

from __future__ import annotations

from statistics import median
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any, NamedTuple

from agog_core.threads.load import processors
from agog_data.elements import Element
from agog_data.functions import ElementFunction

if TYPE_CHECKING:
    from agog_data.threads import Queue, Slot

# A function that is called this often, or for so long, is known.
_KNOWN_CALLS, _KNOWN_SECONDS = 64, 0.005
_LEAST_CALLS = 4
_LEAST_GAIN = 0.95  # of the time without workers
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 64.0


class Costs(NamedTuple):
    """What a kind of worker costs."""

    cheap: float  # the seconds of a call that it is not tried for
    window: float  # the seconds in which it is measured


FOR_THREADS = Costs(1e-4, 0.01)  # passing an element between threads takes tens of microseconds
FOR_PROCESSES = Costs(2e-5, 0.05)  # these get several at once, and must start


class Tuning:
    """What was measured of a function: the time from element to element with workers and without, in turns.

    Threads lose where a function holds Python's lock, and win where it waits, or computes without that lock. Processes
    lose where results are large. Each turn is measured from its second window on: the first takes what was made in the
    turn before.

    Args:
        costs: those of the workers.
        count: how many processors there are; None for those that the process may use.
    """

    def __init__(self, costs: Costs, count: int | None = None) -> None:
        self._costs = costs
        self._processors = count or processors()
        self.workers = max(self._processors, 2)
        self._seconds: list[float] = []  # of the first calls, which the consumer makes
        self._busy = 0.0  # how long it has computed in these
        self._is_cheap: bool | None = None  # None until that is known
        self.pays = False  # whether workers were faster
        self._best: dict[bool, float] = {}
        self._turns: list[tuple[bool, bool]] = []  # (with workers, measured), the next one last
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
            is_alone = self._processors == 1 and self._busy > total / 2
            self._is_cheap = is_alone or median(self._seconds) < self._costs.cheap
        return result

    def wants_workers(self) -> bool:
        """Whether workers shall be there: because they are faster, or to see whether they are."""
        return self._is_cheap is False and (self.pays or bool(self._turns) or perf_counter() >= self._again)

    def turn_of_workers(self, count: int = 1) -> bool:
        """Whether workers shall call the function for the next elements, after the consumer took so many."""
        now = perf_counter()
        self._count += count
        if now - self._since >= self._costs.window and self._count >= _LEAST_CALLS:
            self._end_window(now)
        return self._turns[-1][0] if self._turns else self.pays

    def next(self, queue: Queue) -> Slot:
        """The next slot of a queue, from threads or from the consumer, whose turn it is; see `WorkAhead`."""
        queue.resting = not self.turn_of_workers()
        queue.visits += 1
        try:
            return (queue.read() if queue.resting else None) or queue.get()
        finally:
            queue.visits += 1

    def _end_window(self, now: float) -> None:
        if self._turns:
            with_workers, is_measured = self._turns.pop()
            if is_measured:
                seconds = (now - self._since) / self._count
                self._best[with_workers] = min(seconds, self._best.get(with_workers, seconds))
            if not self._turns:
                self.pays = self._best[True] < _LEAST_GAIN * self._best[False]
                self._again = now + self._pause
                self._pause = min(2 * self._pause, _LONGEST_PAUSE_SECONDS)
        elif now >= self._again:
            self._best = {}
            self._turns = 2 * [(False, True), (False, False), (True, True), (True, False)]
        self._since, self._count = now, 0
