"""The stage that computes ahead of the consumer, on a thread of its own: prefetch."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from agog_data.elements import Element
from agog_data.mapping import PATIENCE_SECONDS
from agog_data.stage import ElementIterator, Scope, Stage, UnaryStage
from agog_data.state import State


class Prefetch(UnaryStage):
    """The elements of a stage, some of them computed before they are asked for.

    Args:
        stage: the input.
        buffer_size: how many elements are kept ready.
    """

    def __init__(self, stage: Stage, buffer_size: int) -> None:
        super().__init__(stage)
        self._buffer_size = buffer_size

    def iterate(self, scope: Scope) -> ElementIterator:
        return PrefetchIterator(self.input.iterate(scope), self._buffer_size, scope)


class Item(NamedTuple):
    """What goes from the thread to the consumer: an element, an error, or the end; and the state that follows."""

    element: Element
    error: BaseException | None
    ended: bool
    state: State


class Channel:
    """A queue of limited length between two threads, which the consumer may close.

    Args:
        capacity: the most items that wait.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._items: deque[Item] = deque()
        self._changed = threading.Condition()  # reentrant: the collector may close another iterator inside
        self._closed = False

    def put(self, item: Item) -> bool:
        """Add an item, when there is room; False when the consumer has gone."""
        with self._changed:
            while len(self._items) >= self._capacity and not self._closed:
                self._changed.wait()
            if not self._closed:
                self._items.append(item)
                self._changed.notify_all()
            return not self._closed

    def get(self) -> Item:
        """Take an item, when there is one."""
        with self._changed:
            while not self._items:
                self._changed.wait()
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    def close(self) -> None:
        """Let the producer end."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()


class PrefetchIterator(ElementIterator):
    """Gives what its thread has computed. The thread knows the channel but not this object, and ends with it."""

    def __init__(self, elements: ElementIterator, buffer_size: int, scope: Scope) -> None:
        self._input = elements
        self._buffer_size = buffer_size
        self._scope = scope
        self._close: Callable[[], object] = lambda: None
        self._thread: threading.Thread | None = None
        self._begin()

    def _begin(self) -> None:
        self._close()
        if self._thread is not None:
            self._thread.join()  # it may be in the input still
        self._thread = None
        self._channel: Channel | None = None
        self._ended = False
        self._state: State | None = None  # the input's at the consumer's place, once the thread runs

    def start(self, epoch: int) -> None:
        self._begin()
        self._input.start(epoch)

    def __next__(self) -> Element:
        if self._ended:
            raise StopIteration
        channel = self._channel or self._start_thread()
        element, error, self._ended, self._state = channel.get()
        if self._ended:
            self._close()
            raise StopIteration
        if error is None:
            return element
        try:
            raise error
        finally:
            del (
                error
            )  # it holds this frame, which would hold it, and the thread would not end before the collector comes

    def _start_thread(self) -> Channel:
        self._state = self._input.state_dict()
        self._channel = channel = Channel(self._buffer_size)
        run = self._scope.context().run
        # A daemon, because the interpreter waits for all others before it lets the finalizer end this one.
        arguments = _produce, self._input, channel
        self._thread = threading.Thread(target=run, args=arguments, name="agog-prefetch", daemon=True)
        self._thread.start()
        self._close = weakref.finalize(self, _close, channel, self._thread)
        return channel

    def state_dict(self) -> dict[str, Any]:
        return {"stage": "prefetch", "input": self._input.state_dict() if self._state is None else self._state}

    def load_state_dict(self, state: State) -> None:
        self._begin()
        self._input.load_state_dict(state["input"])


def _produce(elements: ElementIterator, channel: Channel) -> None:
    element: Element = None
    error: BaseException | None = None
    ended = False
    wanted = True
    while wanted and not ended:
        try:
            element = next(elements)
        except StopIteration:
            ended = True
        except BaseException as raised:  # whatever it is, the consumer's thread raises it
            error = raised
        wanted = channel.put(Item(element, error, ended, elements.state_dict()))
        element = error = None  # the error holds this frame, which must not hold it


def _close(channel: Channel, thread: threading.Thread) -> None:
    channel.close()
    if thread is not threading.current_thread():
        thread.join(PATIENCE_SECONDS)
