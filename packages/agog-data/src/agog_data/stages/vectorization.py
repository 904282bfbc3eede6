"""Vectorization: `map` with ``vectorize=True``, the stage that calls a function once for many elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_data.elements import ComponentSpec, Element, map_components, unstack_elements
from agog_data.functions import RowsFunction
from agog_data.random_stream import Stream
from agog_data.stage import ElementIterator, Scope, Stage, UnaryStage
from agog_data.stages.batching import Batch
from agog_data.stages.mapping import Map
from agog_data.stages.process_mapping import ProcessMap
from agog_data.state import State

_BLOCK = 64  # how many elements the function gets where no batch follows


class VectorizedMap(UnaryStage, keeps_count=True):
    """The result of a function of elements joined along a new first axis. Where a batch follows, the function gets the
    batches. ``num_parallel_calls`` threads call it, or processes; None for the consumer's own thread.
    """

    def __init__(
        self, stage: Stage, function: Callable[..., Any], num_parallel_calls: int | None, processes: bool = False
    ) -> None:
        super().__init__(stage)
        self._function = RowsFunction("map", function)
        self._calls = num_parallel_calls
        self._processes = processes
        self._stream = Stream(None)

    def batched(self, size: int, drop_remainder: bool) -> Stage:
        kind = ProcessMap if self._processes else Map
        return kind(Batch(self.input, size, drop_remainder), self._function, self._calls, self._stream)

    def spec(self) -> Any:
        return map_components(ComponentSpec.row, self.batched(1, False).spec())

    def sample(self, scope: Scope) -> Element:
        return unstack_elements(self.batched(1, False).sample(scope))[0]

    def iterate(self, scope: Scope) -> ElementIterator:
        return RowsIterator(self.batched(_BLOCK, False).iterate(scope))


class RowsIterator(ElementIterator):
    """Cuts elements with a common first axis into rows."""

    def __init__(self, blocks: ElementIterator) -> None:
        self._input = blocks
        self._begin(0)

    def _begin(self, offset: int) -> None:
        self._block: list[Element] = []
        self._offset = offset  # in the block; where the block is empty, it is still to be read
        self._before = self._input.state_dict()  # where the block begins

    def start(self, epoch: int) -> None:
        self._input.start(epoch)
        self._begin(0)

    def __next__(self) -> Element:
        while self._offset >= len(self._block):
            before = self._input.state_dict()
            block = unstack_elements(next(self._input))
            self._offset -= len(self._block)
            self._block, self._before = block, before
        self._offset += 1
        return self._block[self._offset - 1]

    def state_dict(self) -> dict[str, Any]:
        return {"stage": "rows of blocks", "offset": self._offset, "input": self._before}

    def load_state_dict(self, state: State) -> None:
        self._input.load_state_dict(state["input"])
        self._begin(state["offset"])
