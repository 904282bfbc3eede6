"""Windows: `window`, the stage whose components are datasets."""

from __future__ import annotations

from itertools import islice
from typing import Any

from agog_data.elements import DatasetSpec, Element, components, map_components, packer, stack_elements
from agog_data.encoded_state import restore_elements
from agog_data.in_memory import hold
from agog_data.stage import ElementIterator, Scope, Stage, UnaryIterator, UnaryStage
from agog_data.state import State


class Window(UnaryStage):
    """Datasets of ``size`` consecutive elements, or every ``stride``-th, one for each component; the next window begins
    ``shift`` elements later."""

    def __init__(self, stage: Stage, size: int, shift: int, stride: int, drop_remainder: bool) -> None:
        super().__init__(stage)
        self._size = size
        self._shift = shift
        self._stride = stride
        self._drop_remainder = drop_remainder

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if count < 0:
            return count
        last = (self._size - 1) * self._stride if self._drop_remainder else 0  # the elements that follow a first one
        return max(0, -(-(count - last) // self._shift))

    def spec(self) -> Any:
        return map_components(DatasetSpec, self.input.spec())

    def sample(self, scope: Scope) -> Element:
        return self.join([self.input.sample(scope)] * self._size, 0)

    def join(self, elements: list[Element], number: int) -> Element:
        """Make one window of its elements: a dataset for each component."""
        spec = self.input.spec()
        columns = zip(*map(components, elements), strict=True)
        return packer(spec)([hold(list(column), part) for column, part in zip(columns, components(spec), strict=True)])

    def iterate(self, scope: Scope) -> ElementIterator:
        return WindowIterator(self, self.input.iterate(scope))


class WindowBatch(Window):
    """Consecutive elements, joined along a new first axis; some of them again in the next batch."""

    def spec(self) -> Any:
        return map_components(lambda component: component.batched(self._size), self.input.spec())

    def join(self, elements: list[Element], number: int) -> Element:
        return stack_elements(elements, number)


class WindowIterator(UnaryIterator, name="window", fields=("number",)):
    """Keeps the elements that later windows have too."""

    def __init__(self, stage: Window, elements: ElementIterator) -> None:
        super().__init__(elements)
        self._stage = stage

    def _begin(self, epoch: int) -> None:
        self._buffer: list[Element] = []
        self._pass = 0  # how many elements no window has, before the next one begins
        self.number = 0

    def __next__(self) -> Element:
        stage, buffer = self._stage, self._buffer
        while self._pass:
            next(self._input)
            self._pass -= 1
        reach = (stage._size - 1) * stage._stride + 1
        # One by one, so that elements before an error stay in the buffer.
        for element in islice(self._input, reach - len(buffer)):
            buffer.append(element)
        if not buffer or (stage._drop_remainder and len(buffer) < reach):
            raise StopIteration
        window = buffer[:: stage._stride]
        self._pass = max(stage._shift - len(buffer), 0)
        del buffer[: stage._shift]
        self.number += 1
        return stage.join(window, self.number - 1)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "pass": self._pass, "buffer": self._buffer.copy()}

    def load_state_dict(self, state: State) -> None:
        super().load_state_dict(state)
        self._pass = state["pass"]
        if state["buffer"]:
            self._buffer = restore_elements(self._stage.input.spec(), state["buffer"])
