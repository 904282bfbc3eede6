"""Grouping: `group_by_window`, the stage that collects elements by key into datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core import Tensor, TensorShape, convert_to_tensor, dtypes
from agog_core.errors import InvalidArgumentError
from agog_data.elements import ComponentSpec, DatasetSpec, Element
from agog_data.encoded_state import restore_elements
from agog_data.functions import ElementFunction
from agog_data.in_memory import hold
from agog_data.random_stream import Stream
from agog_data.stage import ElementIterator, Scope, Stage
from agog_data.stages.mapping import CountingIterator
from agog_data.stages.nesting import Nested, Opener, OpeningStage, dataset_function
from agog_data.state import State

KEY = ComponentSpec(dtypes.int64, TensorShape([]))


def integer_function(stage: str, name: str, function: Callable[..., Any]) -> ElementFunction:
    """Wrap a user's function that returns an integer; ``name`` is the argument that it is, for errors."""

    def as_integer(value: Any) -> int:
        found = convert_to_tensor(value)
        if not found.dtype.is_integer or found._shape:
            raise ValueError(
                f"{stage}: {name} must return a scalar integer; it returned dtype {found.dtype.name} and shape "
                f"{found._shape}."
            )
        return int(found.numpy())

    return ElementFunction(stage, function, as_integer)


def as_key(number: int) -> Tensor:
    """The key, as functions get it."""
    return convert_to_tensor(number, dtypes.int64)


class GroupByWindow(OpeningStage):
    """The elements of the datasets that a function makes of groups of elements with one key.

    ``key_function`` maps an element to an integer, ``size_function`` a key to the size of its full groups, and
    ``reduce_function`` a key and the dataset of a group to a dataset. ``name`` is the transformation, for errors.
    """

    def __init__(
        self,
        stage: Stage,
        key_function: Callable[..., Any],
        reduce_function: Callable[..., Any],
        size_function: Callable[..., Any],
        name: str = "group_by_window",
    ) -> None:
        super().__init__(stage)
        self.name = name
        self.key_function = integer_function(name, "key_func", key_function)
        self.reduce_function = dataset_function(f"the windows of {name}", reduce_function)
        self.size_function = integer_function(name, "window_size_func", size_function)
        self.stream = Stream(None)

    def sample_stage(self, scope: Scope) -> Stage:
        element = self.input.sample(scope)
        key = self.key_function(element, 0, 0)
        stage: Stage = self.reduce_function(self.group(key, [element]), 0, 0)
        return stage

    def group(self, key: int, elements: list[Element]) -> Element:
        """The function's arguments: the key and a dataset."""
        return as_key(key), hold(elements, self.input.spec())

    def iterate(self, scope: Scope) -> ElementIterator:
        return GroupByWindowIterator(self, self.input.iterate(scope), scope)


class GroupByWindowIterator(CountingIterator, fields=("windows",)):
    """Collects elements until a group is full; at the end, the groups that are left come in the order of their keys."""

    def __init__(self, stage: GroupByWindow, elements: ElementIterator, scope: Scope) -> None:
        self.name = stage.name
        self._stage = stage
        self._scope = scope
        super().__init__(elements, stage.key_function, stage.stream)

    def _begin(self, epoch: int) -> None:
        super()._begin(epoch)
        _, word, self._size_word = self._iteration.words(epoch).random_raw(3).tolist()
        self._opener = Opener(f"the windows of {self._stage.name}", self._stage.reduce_function, word, self._scope)
        self._groups: dict[int, list[Element]] = {}
        self._sizes: dict[int, int] = {}
        self.windows = 0
        self._nested: Nested | None = None

    def __next__(self) -> Element:
        while True:
            for element in self._nested or ():
                return element
            self._nested = None
            key = self._full()
            if key is None:
                raise StopIteration
            group = self._stage.group(key, self._groups.pop(key))
            self._nested = Nested(self._opener, group, self.windows)
            self.windows += 1

    def _full(self) -> int | None:
        """The key of the next group; None when there is none left."""
        for element in self._input:
            number = self._number
            self._number = number + 1
            key = self._function(element, number, self._word)
            size = self._sizes.get(key) or self._size(key)
            group = self._groups.setdefault(key, [])
            group.append(element)
            if len(group) == size:
                return int(key)
        return min(self._groups, default=None)

    def _size(self, key: int) -> int:
        size: int = self._stage.size_function(as_key(key), len(self._sizes), self._size_word)
        if size < 1:
            raise InvalidArgumentError(
                f"{self._stage.name}: the window size must be greater than zero; got {size} for key {key}."
            )
        self._sizes[key] = size
        return size

    def state_dict(self) -> dict[str, Any]:
        groups = [
            {"key": key, "size": size, "buffer": self._groups.get(key, []).copy()} for key, size in self._sizes.items()
        ]
        return {
            **super().state_dict(),
            "groups": {"stage": "groups", "nested": groups},
            "nested": [self._nested.state_dict()] if self._nested else [],
        }

    def load_state_dict(self, state: State) -> None:
        super().load_state_dict(state)
        for group in state["groups"]["nested"]:
            self._sizes[group["key"]] = group["size"]
            if group["buffer"]:
                self._groups[group["key"]] = restore_elements(self._stage.input.spec(), group["buffer"])
        for part in state["nested"]:
            (element,) = restore_elements((KEY, DatasetSpec(self._stage.input.spec())), part["buffer"])
            self._nested = Nested(self._opener, element, part["number"])
            self._nested.load_state_dict(part)
