"""Filtering: `take_while` and `unique`, stages that leave elements out by what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, overload

from agog_core import Tensor, string
from agog_data.elements import Element, components, tensor_components
from agog_data.functions import ElementFunction, as_condition
from agog_data.random_stream import Stream
from agog_data.stage import ElementIterator, Scope, Stage, UnaryIterator, UnaryStage
from agog_data.stages.mapping import CountingIterator
from agog_data.state import State


class TakeWhile(UnaryStage):
    """The elements before the first for which a predicate does not hold."""

    def __init__(self, stage: Stage, predicate: Callable[..., Any]) -> None:
        super().__init__(stage)
        self._predicate = ElementFunction("take_while", predicate, partial(as_condition, stage="take_while"))
        self._stream = Stream(None)

    def iterate(self, scope: Scope) -> ElementIterator:
        return TakeWhileIterator(self.input.iterate(scope), self._predicate, self._stream)

    def never_ends(self) -> bool:
        return False


class TakeWhileIterator(CountingIterator, name="take_while", fields=("ended",)):
    """Calls the predicate when an element is asked for, until it does not hold."""

    def _begin(self, epoch: int) -> None:
        super()._begin(epoch)
        self.ended = False

    def __next__(self) -> Element:
        if self.ended:
            raise StopIteration
        element = next(self._input)
        number = self._number
        self._number = number + 1
        if self._function(element, number, self._word):
            return element
        self.ended = True
        raise StopIteration


class Unique(UnaryStage):
    """The elements without those that came before."""

    def iterate(self, scope: Scope) -> ElementIterator:
        return UniqueIterator(self.input.iterate(scope), self)


class UniqueIterator(UnaryIterator, name="unique"):
    """Keeps what it has given, also with its state."""

    def __init__(self, elements: ElementIterator, stage: Stage) -> None:
        super().__init__(elements)
        self._stage = stage

    def _begin(self, epoch: int) -> None:
        self._keys: set[object] = set()
        self._given: list[Tensor] = []  # components

    def __next__(self) -> Element:
        for element in self._input:
            parts = tensor_components("unique", element)
            key = tuple(map(_key, parts))
            if key not in self._keys:
                self._keys.add(key)
                self._given += parts
                return element
        raise StopIteration

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "buffer": Beginning(self._given)}

    def load_state_dict(self, state: State) -> None:
        super().load_state_dict(state)
        if state["buffer"]:
            self._given = list(state["buffer"])
            parts = iter(self._given)
            count = len(components(self._stage.spec()))
            self._keys = {tuple(map(_key, element)) for element in zip(*[parts] * count, strict=True)}


def _key(tensor: Tensor) -> object:
    host = tensor._host()
    return tensor.dtype.name, tensor._shape, tuple(host.ravel().tolist()) if tensor.dtype is string else host.tobytes()


class Beginning(Sequence[Any]):
    """The present items of a list to which items are only ever appended: a copy that costs nothing."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items
        self._count = len(items)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return islice(self._items, self._count)

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        return self._items[: self._count][index]
