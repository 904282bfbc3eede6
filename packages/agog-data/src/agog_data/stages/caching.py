"""Caching: `cache`, the stage that keeps the elements of the first pass for later ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from agog_core.dispatch.devices.device import Device
from agog_core.tensors.placement import bring
from agog_data.elements import Element, packer, tensor_components
from agog_data.encoded_state import encode
from agog_data.stage import ElementIterator, Scope, Stage, UnaryStage
from agog_data.state import State


class Kept(ABC):
    """All elements of a pass, and the state in which the stages before began it."""

    def __init__(self, origin: State, count: int) -> None:
        self.origin = origin
        self.count = count

    @abstractmethod
    def read(self, number: int, device: Device) -> Element:
        """One element, on a device."""


class Writer(ABC):
    """The store for the elements of the current pass."""

    @abstractmethod
    def add(self, element: Element) -> None:
        """Keep one more."""

    @abstractmethod
    def commit(self, origin: State) -> Kept | None:
        """End the pass: from now on others may read. None if another pass was kept before."""

    def abandon(self) -> None:  # noqa: B027  # memory needs nothing
        """End without having all elements; nothing is kept."""


class NoWriter(Writer):
    """Keeps nothing: beside a file of another pass, or after an error."""

    def add(self, element: Element) -> None:
        pass

    def commit(self, origin: State) -> None:
        return None


class Store(ABC):
    """Where a dataset keeps elements."""

    @abstractmethod
    def kept(self, stage: Stage, own: State) -> Kept | None:
        """The elements of a complete pass over a stage, if there was one; ``own`` is a state of the stages before."""

    @abstractmethod
    def writer(self, device: Device) -> Writer:
        """Begin to keep elements, which will be on that device."""


class Cache(UnaryStage, keeps_count=True):
    """The elements of a stage, which is asked for them once."""

    def __init__(self, stage: Stage, store: Store) -> None:
        super().__init__(stage)
        self._store = store

    def iterate(self, scope: Scope) -> ElementIterator:
        return CacheIterator(self.input.iterate(scope), self._store, self.input, scope.device)


class CacheIterator(ElementIterator):
    """Gives kept elements, or else keeps its own.

    Its state is the beginning of the pass and a count. Where nothing is kept, as in another process, loading makes the
    elements up to there again, and they are the same: all random bits are functions of the beginning.
    """

    def __init__(self, elements: ElementIterator, store: Store, stage: Stage, device: Device) -> None:
        self._input = elements
        self._store = store
        self._stage = stage
        self._device = device
        self._kept: Kept | None = None
        self._pinned = False  # whether another pass would have to give the elements of this one
        self._begin(elements.state_dict(), 0)

    def _begin(self, origin: State, number: int) -> None:
        self._origin = origin
        self._number = number
        self._behind = 0  # how many elements are to be made again
        self._ended = False
        self._writer: Writer | None = None

    def start(self, epoch: int) -> None:
        self._abandon()
        if self._kept is None and not self._pinned:
            self._kept = self._store.kept(self._stage, self._origin)
        if self._kept is not None:
            self._begin(self._kept.origin, 0)
        elif self._pinned:
            self._input.load_state_dict(self._origin)
            self._begin(self._origin, 0)
        else:
            self._input.start(epoch)
            self._begin(self._input.state_dict(), 0)

    def _abandon(self) -> None:
        if self._writer is not None:
            self._writer.abandon()

    def __next__(self) -> Element:
        if self._kept is not None:
            if self._number >= self._kept.count:
                raise StopIteration
            element = self._kept.read(self._number, self._device)
        else:
            while self._behind:
                self._make()
                self._behind -= 1
            element = self._make()
        self._number += 1
        return element

    def _make(self) -> Element:
        if self._ended:
            raise StopIteration
        if self._writer is None:
            self._writer = self._store.writer(self._device)
        try:
            for element in self._input:
                self._writer.add(element)
                return element
            self._kept = self._writer.commit(self._origin)
        except Exception:
            # Whoever goes on after an error has not all elements.
            self._writer.abandon()
            self._writer = NoWriter()
            raise
        self._ended = True
        raise StopIteration

    def state_dict(self) -> dict[str, Any]:
        return {
            "stage": "cache",
            "complete": self._kept is not None or self._pinned,
            "number": self._number,
            "input": self._origin,
        }

    def load_state_dict(self, state: State) -> None:
        self._abandon()
        self._begin(state["input"], state["number"])
        self._pinned = state["complete"]
        kept = self._store.kept(self._stage, self._origin)
        if kept is not None and encode(kept.origin) == encode(self._origin):
            self._kept = kept
        else:
            self._kept = None
            self._input.load_state_dict(self._origin)
            self._behind = self._number


class MemoryStore(Store):
    """Keeps elements in memory, as long as the dataset lives."""

    def __init__(self) -> None:
        self.first: Kept | None = None

    def kept(self, stage: Stage, own: State) -> Kept | None:
        return self.first

    def writer(self, device: Device) -> Writer:
        return MemoryWriter(self, device)


class MemoryWriter(Writer):
    """Appends to a list."""

    def __init__(self, store: MemoryStore, device: Device) -> None:
        self._store = store
        self._device = device
        self._elements: list[Element] = []

    def add(self, element: Element) -> None:
        self._elements.append(element)

    def commit(self, origin: State) -> Kept:
        kept = KeptInMemory(origin, self._elements, self._device)
        self._store.first = self._store.first or kept
        return kept


class KeptInMemory(Kept):
    """A list of elements on a device."""

    def __init__(self, origin: State, elements: list[Element], device: Device) -> None:
        super().__init__(origin, len(elements))
        self._elements = elements
        self._device = device

    def read(self, number: int, device: Device) -> Element:
        element = self._elements[number]
        if device is self._device:
            return element
        return packer(element)([bring(x, device) for x in tensor_components("cache", element)])
