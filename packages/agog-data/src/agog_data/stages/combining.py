"""Combining several inputs: `zip` and `concatenate`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from agog_core import SparseTensor, TensorShape
from agog_data.elements import ComponentSpec, DatasetSpec, Element, SparseSpec, components, map_components, packer
from agog_data.stage import INFINITE, UNKNOWN, ElementIterator, NoElementError, Scope, Stage
from agog_data.state import State


def first_unsettled(stages: Iterable[Stage]) -> str | None:
    """What `Stage.unsettled` says of the first of several inputs that is unsettled; None if none is."""
    return next(filter(None, (stage.unsettled() for stage in stages)), None)


class Zip(Stage):
    """One element of each input in a structure of stages, together, until one of them ends."""

    def __init__(self, stages: Any) -> None:
        self._stages = stages

    def spec(self) -> Any:
        return map_components(lambda stage: stage.spec(), self._stages)

    def sample(self, scope: Scope) -> Element:
        return map_components(lambda stage: stage.sample(scope), self._stages)

    def iterate(self, scope: Scope) -> ElementIterator:
        return ZipIterator(tuple(stage.iterate(scope) for stage in components(self._stages)), self._stages)

    def unsettled(self) -> str | None:
        return first_unsettled(components(self._stages))

    def never_ends(self) -> bool:
        return all(stage.never_ends() for stage in components(self._stages))

    def cardinality(self) -> int:
        counts = [stage.cardinality() for stage in components(self._stages)]
        return UNKNOWN if UNKNOWN in counts else min((count for count in counts if count >= 0), default=INFINITE)


class ZipIterator(ElementIterator):
    """Asks each input in turn."""

    def __init__(self, inputs: tuple[ElementIterator, ...], structure: Any) -> None:
        self._inputs = inputs
        self._pack = packer(structure)

    def start(self, epoch: int) -> None:
        for each in self._inputs:
            each.start(epoch)

    def __next__(self) -> Element:
        return self._pack([next(each) for each in self._inputs])

    def state_dict(self) -> dict[str, Any]:
        return {"stage": "zip", "inputs": [each.state_dict() for each in self._inputs]}

    def load_state_dict(self, state: State) -> None:
        for each, part in zip(self._inputs, state["inputs"], strict=True):
            each.load_state_dict(part)


def known_specs(stages: Sequence[Stage]) -> dict[int, Any]:
    """The spec of each stage by its number, but for those without elements of which nothing is known. Raises
    `NoElementError` if nothing is known of any."""
    found = {}
    for number, stage in enumerate(stages):
        with suppress(NoElementError):
            found[number] = stage.spec()
    if not found:
        raise NoElementError
    return found


class Concatenate(Stage):
    """All elements of one stage, then all of another."""

    def __init__(self, first: Stage, second: Stage) -> None:
        self._first = first
        self._second = second

    def spec(self) -> Any:
        first, *others = known_specs([self._first, self._second]).values()
        if not others:
            return first
        (second,) = others
        form, other_form = component_dtypes(first), component_dtypes(second)
        if form != other_form:
            raise TypeError(
                f"concatenate: the elements of the first dataset are {form}; those of the second are {other_form}. "
                "They must have one structure and the same dtypes."
            )
        return merge(first, second)

    def sample(self, scope: Scope) -> Element:
        try:
            return self._first.sample(scope)
        except NoElementError:
            return self._second.sample(scope)

    def iterate(self, scope: Scope) -> ElementIterator:
        return ConcatenateIterator((self._first.iterate(scope), self._second.iterate(scope)))

    def unsettled(self) -> str | None:
        return first_unsettled([self._first, self._second])

    def never_ends(self) -> bool:
        return self._first.never_ends() or self._second.never_ends()

    def cardinality(self) -> int:
        first, second = self._first.cardinality(), self._second.cardinality()
        return first + second if first >= 0 and second >= 0 else super().cardinality()


def component_dtypes(spec: Any) -> Any:
    """The names of dtypes, in the structure of an element or a spec, and which components are sparse."""
    return map_components(_named, spec)


def _named(component: Any) -> str:
    sparse = isinstance(component, (SparseSpec, SparseTensor))
    name: str = component.dtype.name
    return f"sparse {name}" if sparse else name


def merge(one: Any, other: Any) -> Any:
    """The spec of what holds for the elements of two stages, with one structure and the same dtypes."""
    return packer(one)([_merge(*pair) for pair in zip(components(one), components(other), strict=True)])


def _merge(one: ComponentSpec, other: ComponentSpec) -> ComponentSpec:
    if isinstance(one, DatasetSpec):
        return one
    if one.shape.ndims != other.shape.ndims or one.shape.ndims is None:
        return type(one)(one.dtype, TensorShape(None))
    sizes = zip(one.shape.as_list(), other.shape.as_list(), strict=True)
    return type(one)(one.dtype, TensorShape([a if a == b else None for a, b in sizes]))


class ConcatenateIterator(ElementIterator):
    """Goes on to the next input when one has ended."""

    def __init__(self, inputs: tuple[ElementIterator, ...]) -> None:
        self._inputs = inputs
        self._current = 0

    def start(self, epoch: int) -> None:
        self._current = 0
        for each in self._inputs:
            each.start(epoch)

    def __next__(self) -> Element:
        while True:
            for element in self._inputs[self._current]:
                return element
            if self._current == len(self._inputs) - 1:
                raise StopIteration
            self._current += 1

    def state_dict(self) -> dict[str, Any]:
        return {
            "stage": "concatenate",
            "current": self._current,
            "inputs": [each.state_dict() for each in self._inputs],
        }

    def load_state_dict(self, state: State) -> None:
        self._current = state["current"]
        for each, part in zip(self._inputs, state["inputs"], strict=True):
            each.load_state_dict(part)
