"""Sloppy interleaving: the stage that reads several datasets at once, in any order."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from agog_data.elements import Element
from agog_data.encoded_state import restore_elements
from agog_data.forks import Forks
from agog_data.random_stream import Stream
from agog_data.stage import ElementIterator, Scope, Stage
from agog_data.stages.mapping import CountingIterator
from agog_data.stages.nesting import Interleave, Nested, Opener
from agog_data.state import State
from agog_data.threads import HEARING_SECONDS, Crew, wake


class SloppyInterleave(Interleave):
    """The elements of the datasets of a function, in the order in which threads finish them: ``cycle_length`` datasets
    are read at once, ``buffer`` elements of each kept ready.
    """

    def __init__(self, stage: Stage, function: Callable[..., Any], cycle_length: int, buffer: int) -> None:
        super().__init__("parallel_interleave", stage, function, cycle_length, 1)
        self._buffer = buffer

    def unsettled(self) -> str | None:
        return "parallel_interleave with sloppy=True gives them in another order each time"

    def iterate(self, scope: Scope) -> ElementIterator:
        return SloppyIterator(self, self.input.iterate(scope), scope)


class Report:
    """A thread's report to the consumer: a dataset was opened, an element is ready, or something has ended."""

    __slots__ = ("element", "error", "full", "has_left", "key", "position", "state")

    def __init__(self, key: int) -> None:
        self.key = key  # the number of the element that the dataset was made of; _INPUT for the input
        self.full = False  # whether there is an element
        self.has_left = False  # whether another report on the dataset may wait in its place
        self.element: Element = None
        self.error: BaseException | None = None
        self.state: State | None = None  # the dataset's; None when it has ended
        self.position: tuple[int, State] | None = None  # the input's, where an element was read from it


_INPUT = -1


class Race:
    """The state of the threads: the input, the datasets and the reports, without a reference to the consumer.

    Whoever takes the reports in order knows after each of them where everything was: that is the iterator's state. The
    input is None when it has ended; ``nested`` are datasets that are open already, with the numbers of their elements;
    ``limit`` is how many reports on each dataset may wait.
    """

    def __init__(
        self, elements: ElementIterator | None, opener: Opener, number: int, nested: dict[int, Nested], limit: int
    ) -> None:
        self._elements = elements
        self._opener = opener
        self._number = number
        self._nested = deque(nested.items())
        self._limit = limit
        self.reports: deque[Report] = deque()
        self._waiting: defaultdict[int, int] = defaultdict(int)
        self._reading = threading.Lock()
        self._lock = threading.RLock()  # reentrant, because the collector may close a race at any time
        self._room = threading.Condition(self._lock)
        self._news = threading.Lock()  # free when there may be a report; the consumer may be interrupted as it waits
        self._closed = False

    def work(self) -> None:
        """The work of each thread: it opens a dataset in turn, and reads it in parallel."""
        while (found := self._open()) is not None:
            while self._read(*found):
                pass

    def _open(self) -> tuple[int, Nested] | None:
        with self._reading:
            while not self._closed:
                if self._nested:
                    return self._nested.popleft()
                if self._elements is None:
                    return None
                report = Report(_INPUT)
                nested = None
                try:
                    nested = Nested(self._opener, next(self._elements), self._number)
                    report.key, report.state = self._number, nested.state_dict()
                    self._number += 1
                except StopIteration:
                    report.position = self._number, self._elements.state_dict()
                    self._elements = None
                except BaseException as error:  # whatever it is, the consumer's thread raises it
                    report.error = error
                if self._elements is not None:
                    report.position = self._number, self._elements.state_dict()
                self._tell(report)
                if nested:
                    return report.key, nested
        return None

    def _read(self, key: int, nested: Nested) -> bool:
        report = Report(key)
        try:
            report.element = next(nested)
            report.full = True
            report.state = nested.state_dict()
        except StopIteration:
            pass
        except BaseException as error:
            report.error, report.state = error, nested.state_dict()
        return self._tell(report) and report.state is not None

    def _tell(self, report: Report) -> bool:
        with self._lock:
            while self._waiting[report.key] >= self._limit and not self._closed:
                self._room.wait(HEARING_SECONDS)  # a Ctrl-C may keep the consumer from telling
            if self._closed:  # nobody will take the error, which leads to the report
                report.error = None
                return False
            self._waiting[report.key] += 1
            self.reports.append(report)
            wake(self._news)
            return True

    def get(self) -> Report | None:
        """The next report, when there is one, which stays there until it is taken. None if the race was closed, as
        all are when the program ends."""
        while not (self.reports or self._closed):
            self._news.acquire(timeout=HEARING_SECONDS)
        with self._lock:
            if self._closed:
                return None
            report = self.reports[0]
            if not report.has_left:
                report.has_left = True
                self._waiting[report.key] -= 1
                if not self._waiting[report.key]:
                    del self._waiting[report.key]
            self._room.notify_all()
            return report

    def close(self) -> None:
        """Let the threads end."""
        with self._lock:
            self._closed = True
            for report in self.reports:
                report.error = None
            self.reports.clear()
            self._room.notify_all()
            wake(self._news)


class SloppyIterator(CountingIterator, name="sloppy_interleave", fields=("ended",)):
    """The consumer's end: starts the threads when the first element is asked for."""

    def __init__(self, stage: SloppyInterleave, elements: ElementIterator, scope: Scope) -> None:
        self._stage = stage
        self._scope = scope
        self._crew: Crew | None = None
        stream: Stream = stage._stream
        super().__init__(elements, stage._function, stream)

    def _begin(self, epoch: int) -> None:
        if self._crew:
            self._crew.stop()
        self._crew = None
        self._is_working = False
        super()._begin(epoch)
        self._opener = Opener(self._stage._name, self._function, self._word, self._scope)
        self._race: Race | None = None
        self._nested: dict[int, Nested] = {}  # what is open before the threads start
        self._states: dict[int, State] = {}  # of the open datasets
        self._reached: tuple[int, State] | None = None  # the last position that the threads have reported
        self.ended = False  # whether the input has

    def __next__(self) -> Element:
        while self._states or not self.ended:
            race = (self._is_working and self._race) or self._start()
            Forks.check(self._forks)
            report = race.get()
            if report is None:
                raise StopIteration
            self._take(race, report)
            if report.full:
                return report.element
            if report.error is not None:
                error, report.error = report.error, None
                try:
                    raise error
                finally:
                    del error  # it leads to this frame, and this frame must not lead to it
        if self._crew:
            self._crew.end()
        raise StopIteration

    def _take(self, race: Race, report: Report) -> None:
        """Take the report that comes next. Nothing is called here: each call would be a place for a Ctrl-C, by which
        its element would be lost."""
        if race.reports:  # it was not closed meanwhile
            del race.reports[0]
        if report.position:
            self._reached = report.position
        if report.key == _INPUT:
            self.ended = report.error is None
        elif report.state is None:
            del self._states[report.key]
        else:
            self._states[report.key] = report.state

    def _start(self) -> Race:
        if self._race is None:
            self._reached = super()._position()
            elements = None if self.ended else self._input
            self._forks = Forks.count
            race = Race(elements, self._opener, self._number, self._nested, self._stage._buffer)
            self._crew = Crew(self, race.work, race.close, self._scope, self._stage._cycle_length, "agog-sloppy")
            self._race = race
        assert self._crew is not None
        self._crew.start()
        self._is_working = True
        return self._race

    def _position(self) -> tuple[int, State]:
        return self._reached or super()._position()

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "nested": list(self._states.values())}

    def load_state_dict(self, state: State) -> None:
        super().load_state_dict(state)
        for part in state["nested"]:
            (element,) = restore_elements(self._stage.input.spec(), part["buffer"])
            nested = Nested(self._opener, element, part["number"])
            nested.load_state_dict(part)
            self._nested[part["number"]] = nested
            self._states[part["number"]] = nested.state_dict()
