"""Threads: readers ahead of the consumer, which end with their iterator."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from time import perf_counter, sleep

from agog_data.elements import Element
from agog_data.forks import Forks
from agog_data.pacing import Pace, Pacing
from agog_data.stage import ElementIterator, Scope
from agog_data.state import State

Compute = Callable[[Element, int], Element]

# How long an abandoned iterator waits for a running function. Its thread ends with the function in any case.
_PATIENCE_SECONDS = 5.0
_PATIENCE_AT_EXIT_SECONDS = 0.1  # then its thread ends with the program, and Ctrl-C must end that at once

_NAP_SECONDS = 0.004  # how long a consumer may be away before a thread that rests goes on without being told
# Python acts on Ctrl-C between two instructions. One that comes when the consumer has begun to wait, but does not sleep
# yet, would be acted on only when the wait is over.
HEARING_SECONDS = 0.5


class Slot:
    """The place of one element between the threads and the consumer; each leads to the next."""

    __slots__ = ("done", "element", "ended", "error", "has_left", "next", "number", "ready", "state")

    next: Slot  # once a thread has read an element into this one

    def __init__(self) -> None:
        self.number = 0  # how many elements were read with this one
        self.done = False  # whether the consumer may take the element, the error, or neither at the end
        self.ready = threading.Lock()  # free when it is done
        self.ready.acquire()
        self.has_left = False  # whether the threads may fill another one in its place
        self.ended = False
        self.element: Element = None
        self.error: BaseException | None = None
        self.state: State = {}  # the input's, after it gave the element

    def finish(self) -> None:
        """Let the consumer take it."""
        self.done = True
        wake(self.ready)


def wake(lock: threading.Lock) -> None:
    """Let who waits for a lock go on; nothing if it is free."""
    try:
        lock.release()
    except RuntimeError:
        return


class Queue:
    """The state of the threads: the input and the slots, without a reference to the consumer.

    An error leads to the frames of all functions that were being called. On a thread of its own those end here; an
    error caught on the consumer's thread, and kept for later, would keep the consumer and all its callers alive.

    A Ctrl-C loses no element: Python acts on it after a call of what is not written in Python, and none stands between
    the taking of an element and the end of `get` or `read`. Nor does the consumer wait for anything but a slot: reading
    is shared by two flags, of which each side sets its own before it looks at the other's.
    """

    def __init__(self, elements: ElementIterator, compute: Compute | None, capacity: int, number: int) -> None:
        # Whether the thread leaves the work to the consumer, as long as that comes often.
        self.resting = compute is None
        self.visits = 0  # by the consumer; odd while it is here
        self._elements = elements
        self._compute = compute
        self._number = number
        self._head = self._tail = Slot()  # which the consumer takes next, and which the threads fill next
        self._room: SimpleQueue[bool] = SimpleQueue()  # an item for each slot that may be filled; False to end
        for _ in range(capacity):
            self._room.put(True)
        self._turn = threading.Lock()  # of the threads, to read
        self._busy = False  # whether a thread reads
        self._held = False  # whether the consumer keeps the threads from it
        self._wanted = False  # whether it waits for them
        self._nap = threading.Lock()  # never free until the end, so that waiting for it is a nap
        self._nap.acquire()
        # Where the threads began to read after the consumer did; None while they have not.
        self._before: tuple[int, State] | None = None
        self._stopped = False  # nothing is read any more
        self._closed = False  # because the consumer has gone, or the program ends

    def work(self) -> None:
        """The work of each thread: it reads an element in turn, and computes in parallel."""
        while self._room.get():
            with self._turn:
                if not self._begin():
                    break
                self._before = self._before or (self._number, self._elements.state_dict())
                slot = self._tail
                self._read(slot)
                slot.state = self._elements.state_dict()
                slot.next = self._tail = Slot()
                self._busy = False  # before the consumer can take the slot: it may be back at once, and go by this
                if self._compute is None or slot.ended or slot.error is not None:
                    slot.finish()
            if not slot.done:
                self._run(slot)
            if self._closed:  # nobody will take the error, which leads to the slot
                slot.error = None
        self._room.put(False)  # for the next thread

    def _begin(self) -> bool:
        """Wait until this thread may read; False if nothing is read any more."""
        while not self._stopped:
            self._rest()
            self._busy = True
            if not (self._held or self._stopped):
                return True
            self._busy = False
            self._nap.acquire(timeout=_NAP_SECONDS)
        return False

    def _rest(self) -> None:
        while self.resting and not (self._wanted or self._stopped):
            seen = self.visits
            self._nap.acquire(timeout=_NAP_SECONDS)
            if self.visits == seen and not seen % 2:
                return

    def _read(self, slot: Slot) -> None:
        try:
            for slot.element in self._elements:  # a call of `next` would be a place for a Ctrl-C
                self._number += 1
                break
            else:
                slot.ended = self._stopped = True
        except BaseException as error:  # whatever it is, the consumer's thread raises it
            slot.error = error
        slot.number = self._number

    def _run(self, slot: Slot) -> None:
        try:
            assert self._compute is not None
            slot.element = self._compute(slot.element, slot.number - 1)
        except BaseException as error:
            slot.error = error
        slot.finish()

    def get(self) -> Slot:
        """Take the next element, when it is there. Where the queue was closed, as all are when the program ends, it is
        an end."""
        slot = self._head
        while not (slot.done or self._closed):
            self._wanted = True
            slot.ready.acquire(timeout=HEARING_SECONDS)
        self._wanted = False
        if self._closed:
            slot = Slot()
            slot.ended = True
            return slot
        if not slot.has_left:
            try:
                self._room.put(True)
            finally:  # a Ctrl-C comes when that is done
                slot.has_left = True
        self._head = slot.next
        return slot

    def read(self) -> Slot | None:
        """Read the next element on the consumer's thread, and compute: a slot without the input's state. None if a
        thread has read one, or is at it."""
        slot = Slot()
        self._held = True
        try:
            if self._busy or self.has_slots() or self._stopped:
                return None
            self._before = None
            self._read(slot)
        finally:
            self._held = False
        if self._compute is not None and not slot.ended and slot.error is None:
            self._run(slot)
        return slot

    def leave(self) -> int | None:
        """Let the threads end where they have read nothing that the consumer has not taken: how many elements were
        read; else None."""
        self._held = True
        if self._busy or self.has_slots():
            self._held = False
            return None
        self.close()
        return self._number

    def position(self) -> tuple[int, State]:
        """How many elements were read up to the last one that the consumer read itself, and the input's state there."""
        while self._before is None:
            self._held = True
            try:
                if not self._busy:
                    return self._before or (self._number, self._elements.state_dict())
            finally:
                self._held = False
            sleep(_NAP_SECONDS)
        return self._before

    def has_slots(self) -> bool:
        """Whether a thread has read an element that the consumer has not taken."""
        return self._head is not self._tail

    def close(self) -> None:
        """Let the threads end."""
        self._stopped = self._closed = True
        slot = self._head
        while slot is not self._tail:
            slot.error = None
            slot = slot.next
        wake(self._head.ready)
        self._room.put(False)
        wake(self._nap)


class Crew:
    """The threads of an iterator: they begin together, and end with it or with the program.

    ``close`` lets them end; neither it nor ``work``, which each of them does, may hold the ``owner``.
    """

    def __init__(
        self,
        owner: object,
        work: Callable[[], None],
        close: Callable[[], None],
        scope: Scope,
        count: int,
        name: str,
    ) -> None:
        runs = [partial(scope.context().run, work) for _ in range(count)]
        # Daemons, because the interpreter waits for all others before it lets the finalizer end these.
        self._threads = [threading.Thread(target=run, name=name, daemon=True) for run in runs]
        self._close = close
        self.end = weakref.finalize(owner, end, close, self._threads)

    def start(self) -> None:
        """Start those that have not been: a Ctrl-C may have come when some were started."""
        for thread in self._threads:
            if thread.ident is None:
                thread.start()

    def stop(self) -> None:
        """End them, and wait until they have: one may be in the input still."""
        self._close()  # also where a Ctrl-C came in what follows before, since a finalizer works once only
        self.end()
        for thread in self._threads:
            while thread.is_alive():  # one that was never started is not
                thread.join(HEARING_SECONDS)


class WorkAhead:
    """The consumer's end: starts the threads when the first element is asked for; they may be ``capacity`` elements
    ahead."""

    def __init__(
        self,
        elements: ElementIterator,
        scope: Scope,
        threads: int,
        capacity: int,
        name: str,
        pacing: Pacing | None = None,
    ) -> None:
        self._pacing = pacing
        self._elements = elements
        self._scope = scope
        self._count = threads
        self._capacity = capacity
        self._name = name
        self._crew: Crew | None = None
        self.stop()

    def stop(self) -> None:
        """End the threads and drop what they have made; the next element is asked from the input as it is then."""
        if self._crew:
            self._crew.stop()
        self._crew = None
        self.is_working = False
        self._queue: Queue | None = None
        self._position: tuple[int, State] | None = None
        self._ended = False
        self._pace = self._pacing or Pace()

    def retire(self) -> int | None:
        """End the threads where they have read nothing that the consumer has not taken: how many elements were read,
        and the next one is asked from the input. None where they have."""
        number = None if self._queue is None else self._queue.leave()
        if number is not None:
            self.stop()
        return number

    def next(self, compute: Compute | None, number: int) -> Element:
        """The next element, of which ``compute``, which must not hold this object, makes something.

        Without ``compute``, or where the constructor was given a ``pacing``, the consumer may read an element itself,
        if that is faster. ``number`` elements were read before the first call.
        """
        if self._ended:
            raise StopIteration
        queue = (self.is_working and self._queue) or self._start(compute, number)
        Forks.check(self._forks)
        slot = queue.get() if compute and not self._pacing else self._pace.next(queue)
        self._position = (slot.number, slot.state) if slot.state else None
        if slot.ended:
            self._ended = True
            if self._crew:
                self._crew.end()
            raise StopIteration
        if slot.error is None:
            return slot.element
        error, slot.error = slot.error, None
        try:
            raise error
        finally:
            del error  # it leads to this frame, and this frame must not lead to it

    def begin(self, compute: Compute, number: int) -> None:
        """Start the threads before the first element is asked for. Arguments: see `next`."""
        if not self.is_working:
            self._start(compute, number)

    def position(self, number: int) -> tuple[int, State]:
        """How many elements were read up to the last one given, and the input's state there; ``number`` were read
        before."""
        if self._position:
            return self._position
        return self._queue.position() if self._queue else (number, self._elements.state_dict())

    def _start(self, compute: Compute | None, number: int) -> Queue:
        if self._queue is None:
            self._position = number, self._elements.state_dict()
            self._forks = Forks.count
            queue = Queue(self._elements, compute, self._capacity, number)
            self._crew = Crew(self, queue.work, queue.close, self._scope, self._count, self._name)
            self._queue = queue
        assert self._crew is not None
        self._crew.start()
        self.is_working = True
        return self._queue


def end(close: Callable[[], None], threads: list[threading.Thread]) -> None:
    """Let threads end, and wait for them; the present one may be among them."""
    close()
    at_exit = not threading.main_thread().is_alive()  # what `threading` tells when only daemons are left
    last = perf_counter() + (_PATIENCE_AT_EXIT_SECONDS if at_exit else _PATIENCE_SECONDS)
    for thread in threads:
        # At the program's end, the thread that was to start these may not have come to it.
        if thread is not threading.current_thread() and thread.is_alive():
            thread.join(max(last - perf_counter(), 0.0))
