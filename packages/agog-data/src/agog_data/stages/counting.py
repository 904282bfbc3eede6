"""Counting without end: stages of all numbers in order, and of random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core import DType, TensorShape, dtypes
from agog_core.errors import OutOfRangeError
from agog_core.tensors.convert import from_host
from agog_data.elements import ComponentSpec, Element
from agog_data.random_stream import Draws, Stream
from agog_data.sources import ENDLESS, Source
from agog_data.stage import ElementIterator, Scope, Stage
from agog_data.state import State

Array = np.ndarray[Any, Any]


class CounterSource(Source):
    """Evenly spaced numbers that never end, none of which is stored."""

    def __init__(self, start: Any, step: Any, dtype: DType) -> None:
        self._start = start
        self._step = step
        self._dtype = dtype.numpy_dtype
        super().__init__(ComponentSpec(dtype, TensorShape([])), ENDLESS)

    def row(self, number: int) -> list[Array]:
        try:
            return [np.array(self._start + self._step * number, self._dtype)]
        except OverflowError:
            raise self._too_large(number) from None

    def gather(self, numbers: Array) -> list[Array]:
        if len(numbers):
            for number in (int(numbers.min()), int(numbers.max())):
                self.row(number)
        exact = numbers.astype(object) if self._dtype == np.uint64 else numbers
        return [(self._start + self._step * exact).astype(self._dtype)]

    def _too_large(self, number: int) -> Exception:
        return OutOfRangeError(
            f"Counter: {self._start + self._step * number}, at element {number}, does not fit {self._dtype}."
        )


class Random(Stage):
    """Random numbers that never end: int64 scalars in [0, 2**32)."""

    def __init__(self, seed: int | None) -> None:
        self._stream = Stream(seed)

    def spec(self) -> Any:
        return ComponentSpec(dtypes.int64, TensorShape([]))

    def sample(self, scope: Scope) -> Element:
        return from_host(np.zeros((), np.int64), scope.device.table(dtypes.int64))

    def iterate(self, scope: Scope) -> ElementIterator:
        return RandomIterator(Draws(self._stream), scope)

    def unsettled(self) -> str | None:
        return "RandomDataset gives other elements each time"

    def never_ends(self) -> bool:
        return True


class RandomIterator(ElementIterator):
    """Draws a number when it is asked for."""

    def __init__(self, draws: Draws, scope: Scope) -> None:
        self._draws = draws
        self._table = scope.device.table(dtypes.int64)

    def start(self, epoch: int) -> None:
        self._draws.start(epoch)

    def __next__(self) -> Element:
        return from_host(np.array(self._draws.word() >> 32, np.int64), self._table)

    def state_dict(self) -> dict[str, Any]:
        return {"stage": "random", "draws": self._draws.state_dict()}

    def load_state_dict(self, state: State) -> None:
        self._draws.load_state_dict(state["draws"])
