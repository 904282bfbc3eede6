"""Batch sharding: `shard_batches`, which gives each of several processes its rows of each batch.

All of them read the same batches, and so they are at the same place, end together, and have equal states: one that was
saved by four processes fits two. What the shards of other processes alone need is not computed where that can be seen.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from agog_core.errors import InvalidArgumentError
from agog_core.tensors.convert import from_host
from agog_data.elements import Element, components, map_components, stack_elements, tensor_components
from agog_data.rows import Rows
from agog_data.sources import Source
from agog_data.stage import ElementIterator, Scope, Stage, UnaryStage
from agog_data.stages.batching import Batch, BatchIterator, RowBatchIterator
from agog_data.stages.mapping import Map
from agog_data.stages.prefetching import Prefetch
from agog_data.stages.selection import Repeat, Skip, Take
from agog_data.state import State


@dataclass(frozen=True)
class Share:
    """One of several shares of a batch: neighbouring rows; the first shares have one more where it does not divide.

    >>> [Share(4, index).of(6) for index in range(4)]
    [slice(0, 2, None), slice(2, 3, None), slice(3, 5, None), slice(5, 6, None)]
    """

    shards: int
    index: int

    def of(self, size: int) -> slice:
        """The rows of a batch of so many."""
        return slice(-(-self.index * size // self.shards), -(-(self.index + 1) * size // self.shards))


def shared(stage: Stage, share: Share) -> Stage:
    """The stage that gives a share of each batch, as early in the pipeline as that gives the same."""
    if isinstance(stage, (Prefetch, Repeat, Skip, Take)):  # a shuffle has elements in its state, and all need all rows
        other = copy(stage)
        other.input = shared(stage.input, share)
        return other
    return SharedRows(stage, share) if isinstance(stage, Batch) else SharedBatches(stage, share)


class SharedBatches(UnaryStage, keeps_count=True):
    """A share of the rows of each element."""

    def __init__(self, stage: Stage, share: Share) -> None:
        super().__init__(stage)
        self._share = share

    def spec(self) -> Any:
        return map_components(lambda component: component.with_unknown_size(), self.input.spec())

    def sample(self, scope: Scope) -> Element:
        return self.input.sample(scope)

    def iterate(self, scope: Scope) -> ElementIterator:
        return SharedIterator(self.input.iterate(scope), self._share)


class SharedIterator(ElementIterator):
    """Cuts the share out of each element; its state is that of its input, which has no part for a process."""

    def __init__(self, elements: ElementIterator, share: Share) -> None:
        self._input, self._share = elements, share

    def start(self, epoch: int) -> None:
        self._input.start(epoch)

    def __next__(self) -> Element:
        element = next(self._input)
        rows = self._share.of(_size(element))
        return map_components(lambda component: component[rows], element)

    def state_dict(self) -> dict[str, Any]:
        return self._input.state_dict()

    def load_state_dict(self, state: State) -> None:
        self._input.load_state_dict(state)


def _size(element: Element) -> int:
    sizes = [part._shape[0] if part._shape else None for part in tensor_components("shard_batches", element)]
    if None in sizes or len(set(sizes)) > 1:
        shapes = ", ".join(str(part._shape) for part in components(element))
        raise InvalidArgumentError(
            f"shard_batches: the components of an element must have a first axis of one size, the rows that are "
            f"shared; got shapes {shapes}. Did you forget .batch(), as in dataset.batch(32)?"
        )
    return int(sizes[0] or 0)


class SharedRows(SharedBatches):
    """A share of the rows of each batch, before they are joined."""

    input: Batch

    def iterate(self, scope: Scope) -> ElementIterator:
        batch, share = self.input, self._share
        found = batch.input.rows()
        if found:
            return SharedRowIterator(*found, batch.size, batch.drop_remainder, scope, share)
        if type(batch.input) is not Map:
            return SharedIterator(batch.iterate(scope), share)
        rows = share.of(batch.size)
        chosen = batch.input.only(lambda number: rows.start <= number % batch.size < rows.stop)

        def join(elements: list[Element], number: int) -> Element:
            own = elements[rows]
            return stack_elements(own, number) if own else map_components(empty, batch.input.spec())

        def empty(component: Any) -> Any:
            shape = [0, *(size or 0 for size in component.shape.as_list())]
            return from_host(np.empty(shape, component.dtype.numpy_dtype), scope.device.table(component.dtype))

        return BatchIterator("batch", chosen.iterate(scope), batch.size, batch.drop_remainder, join)


class SharedRowIterator(RowBatchIterator):
    """Gathers the share of the rows of a source, once per batch."""

    def __init__(self, source: Source, rows: Rows, size: int, drop_remainder: bool, scope: Scope, share: Share) -> None:
        super().__init__(source, rows, size, drop_remainder, scope)
        gather: Callable[[Any], Element] = self._gather
        self._gather = lambda numbers: gather(numbers[share.of(len(numbers))])
