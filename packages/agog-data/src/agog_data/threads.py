"""Working ahead of the consumer, on threads that end with their iterator."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable

from agog_data.elements import Element
from agog_data.stage import ElementIterator, Scope
from agog_data.state import State

Compute = Callable[[Element, int], Element]

# How long an abandoned iterator waits for a function that still runs. Its thread ends with the function in any case.
_PATIENCE_SECONDS = 5.0


class Slot:
    """The place of one element between the threads and the consumer, in the order of the elements."""

    __slots__ = ("element", "ended", "error", "number", "ready", "state")

    def __init__(self, number: int) -> None:
        self.number = number  # how many elements were read with this one
        self.ready = False  # whether the consumer may take the element, the error, or neither at the end
        self.ended = False
        self.element: Element = None
        self.error: BaseException | None = None
        self.state: State = {}  # the input's, after it gave the element


class Queue:
    """What the threads know: the input and the slots, but nobody who could keep the consumer alive.

    An error leads to the frames of all functions that were being called. On a thread of its own those end here; an
    error caught on the consumer's thread, and kept for later, would keep the consumer and all its callers alive.

    Args:
        elements: the input.
        compute: what is made of each element.
        capacity: the most slots.
        number: how many elements were read before.
    """

    def __init__(self, elements: ElementIterator, compute: Compute, capacity: int, number: int) -> None:
        self._elements = elements
        self._compute = compute
        self._capacity = capacity
        self._number = number
        self._slots: deque[Slot] = deque()
        self._reading = threading.Lock()
        self._lock = threading.RLock()  # reentrant, because the collector may close a queue at any time
        self._room = threading.Condition(self._lock)
        self._ready = threading.Condition(self._lock)
        self._stopped = False  # nothing is read any more
        self._closed = False  # because the consumer has gone, or the program ends

    def work(self) -> None:
        """What each thread does: read an element, in turn, and compute, at the same time as others."""
        while (slot := self._read()) is not None:
            if not slot.ready:
                self._run(slot)

    def _read(self) -> Slot | None:
        with self._reading:
            with self._lock:
                while len(self._slots) >= self._capacity and not self._stopped:
                    self._room.wait()
            if self._stopped:
                return None
            slot = Slot(self._number)
            try:
                slot.element = next(self._elements)
                slot.number = self._number = self._number + 1
            except StopIteration:
                slot.ended = slot.ready = True
            except BaseException as error:  # whatever it is, the consumer's thread raises it
                slot.error, slot.ready = error, True
            slot.state = self._elements.state_dict()
            with self._lock:
                if self._closed:
                    slot.error = None
                else:
                    self._slots.append(slot)
                    self._stopped = slot.ended
                if slot.ready:
                    self._ready.notify()
            return slot

    def _run(self, slot: Slot) -> None:
        try:
            slot.element = self._compute(slot.element, slot.number - 1)
        except BaseException as error:
            slot.error = error
        with self._lock:
            slot.ready = True
            if self._closed:  # nobody will take the error, which leads to the slot
                slot.error = None
            elif self._slots[0] is slot:  # the consumer waits for no other
                self._ready.notify()

    def get(self) -> Slot:
        """Take the next element, when it is there.

        Returns:
            A slot that is ready. When the queue was closed, as all are when the program ends, it is the end.
        """
        with self._lock:
            while not (self._slots and self._slots[0].ready):
                if self._closed:
                    end = Slot(self._number)
                    end.ended = True
                    end.state = self._elements.state_dict()
                    return end
                self._ready.wait()
            self._room.notify()
            return self._slots.popleft()

    def close(self) -> None:
        """Let the threads end."""
        with self._lock:
            self._stopped = self._closed = True
            for slot in self._slots:
                slot.error = None
            self._slots.clear()
            self._room.notify_all()
            self._ready.notify_all()


class WorkAhead:
    """The consumer's end: starts the threads when the first element is asked for.

    Args:
        elements: the input.
        scope: where the threads work.
        threads: how many.
        capacity: how many elements they may be ahead.
        name: the threads' name.
    """

    def __init__(self, elements: ElementIterator, scope: Scope, threads: int, capacity: int, name: str) -> None:
        self._elements = elements
        self._scope = scope
        self._count = threads
        self._capacity = capacity
        self._name = name
        self._close: Callable[[], object] = lambda: None
        self._threads: list[threading.Thread] = []
        self.stop()

    def stop(self) -> None:
        """End the threads and drop what they have made; the next element is asked from the input as it is then."""
        self._close()
        for thread in self._threads:
            thread.join()  # it may be in the input still
        self._threads = []
        self._queue: Queue | None = None
        self._position: tuple[int, State] | None = None
        self._ended = False

    def next(self, compute: Compute, number: int) -> Element:
        """The next element.

        Args:
            compute: what is made of each element. It must not hold this object.
            number: how many elements were read before the first call.

        Returns:
            The element.
        """
        if self._ended:
            raise StopIteration
        slot = (self._queue or self._start(compute, number)).get()
        self._position = slot.number, slot.state
        if slot.ended:
            self._ended = True
            self._close()
            raise StopIteration
        if slot.error is None:
            return slot.element
        error, slot.error = slot.error, None
        try:
            raise error
        finally:
            del error  # it leads to this frame, and this frame must not lead to it

    def begin(self, compute: Compute, number: int) -> None:
        """Start the threads before the first element is asked for.

        Args:
            compute: as for `next`.
            number: as for `next`.
        """
        if self._queue is None:
            self._start(compute, number)

    def position(self, number: int) -> tuple[int, State]:
        """Where the consumer is.

        Args:
            number: how many elements were read before the threads began.

        Returns:
            How many elements were read up to the last one given, and the input's state there.
        """
        return self._position or (number, self._elements.state_dict())

    def _start(self, compute: Compute, number: int) -> Queue:
        self._position = number, self._elements.state_dict()
        self._queue = queue = Queue(self._elements, compute, self._capacity, number)
        for _ in range(self._count):
            run = self._scope.context().run
            # Daemons, because the interpreter waits for all others before it lets the finalizer end these.
            self._threads.append(threading.Thread(target=run, args=(queue.work,), name=self._name, daemon=True))
        self._close = weakref.finalize(self, _close, queue, self._threads)
        for thread in self._threads:
            thread.start()
        return queue


def _close(queue: Queue, threads: list[threading.Thread]) -> None:
    queue.close()
    for thread in threads:
        if thread is not threading.current_thread():
            thread.join(_PATIENCE_SECONDS)
