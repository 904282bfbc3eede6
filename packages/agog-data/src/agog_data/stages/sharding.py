"""Sharding: `shard` and `split`, stages that choose elements by their number alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from agog_data.elements import Element
from agog_data.rows import Rows, UnaryRows
from agog_data.stage import ElementIterator, Stage, UnaryIterator
from agog_data.stages.selection import SelectionStage
from agog_data.state import State

Array = np.ndarray[Any, Any]
_BLOCK = 4096  # about how many numbers are decided at a time
_MASK = 2**64 - 1
# The second word of a split's key, where random stages have their seeds: one that no program has by accident.
_SPLIT_KEY = 0x5F3C9A4D1B7E2086


class Choice(ABC):
    """Which of the numbers 0, 1, 2, ... are chosen: always the same."""

    @property
    @abstractmethod
    def stage(self) -> str:
        """The stage's name."""

    @abstractmethod
    def of(self, begin: int, count: int) -> Array:
        """Decide on consecutive numbers: bool of shape (count,)."""


class Shard(Choice):
    """Every n-th number, for n shards, beginning with ``index``."""

    stage = "shard"

    def __init__(self, shards: int, index: int) -> None:
        self._shards = shards
        self._index = index

    def of(self, begin: int, count: int) -> Array:
        chosen = np.zeros(count, bool)
        chosen[(self._index - begin) % self._shards :: self._shards] = True
        return chosen


class Part(Choice):
    """One part of a split: of each block of ``size`` numbers the ranks ``begin`` to ``end``, in random places.

    The places are a pure function of seed and number, the same in every process and for datasets of every length. They
    order raw words of Philox, of which the word number n belongs to the number n.
    """

    stage = "split"

    def __init__(self, seed: int, size: int, begin: int, end: int) -> None:
        self._key = np.array([seed & _MASK, _SPLIT_KEY], np.uint64)
        self._size = size
        self._begin = begin
        self._end = end
        self._blocks = -(-_BLOCK // size)  # at a time
        self._known: tuple[int, Array] = -1, np.empty(0, bool)

    def of(self, begin: int, count: int) -> Array:
        length = self._blocks * self._size
        group, offset = divmod(begin, length)
        parts = []
        while count > 0:
            part = self._group(group)[offset : offset + count]
            parts.append(part)
            group, offset, count = group + 1, 0, count - len(part)
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, bool), *parts])

    def _group(self, group: int) -> Array:
        known, chosen = self._known
        if known != group:
            length = self._blocks * self._size
            words = np.random.Philox(key=self._key)
            words.advance(group * length // 4)
            drawn = words.random_raw(group * length % 4 + length)[group * length % 4 :]
            ranks = drawn.reshape(self._blocks, self._size).argsort(axis=1, kind="stable")
            chosen = ((ranks >= self._begin) & (ranks < self._end)).reshape(-1)
            self._known = group, chosen
        return chosen


class Chosen(SelectionStage):
    """The elements whose numbers are chosen."""

    def __init__(self, stage: Stage, choice: Choice) -> None:
        super().__init__(stage)
        self._choice = choice

    def choose_rows(self, rows: Rows) -> Rows:
        return ChosenRows(rows, self._choice)

    def choose(self, elements: ElementIterator) -> ElementIterator:
        return ChosenIterator(elements, self._choice)


class ChosenRows(UnaryRows, fields=("position",)):
    """The row numbers of a stream in chosen places."""

    def __init__(self, rows: Rows, choice: Choice) -> None:
        super().__init__(rows)
        self.name = choice.stage
        self._choice = choice

    def _begin(self, epoch: int) -> None:
        self.position = 0

    def read(self, count: int) -> Array:
        parts = [np.empty(0, np.int64)]
        while count > 0:
            chosen = self._choice.of(self.position, _BLOCK)
            places = np.flatnonzero(chosen)[:count]
            # Up to the last wanted row number and no further, so that the position is the whole state.
            wanted = int(places[-1]) + 1 if len(places) == count else _BLOCK
            found = self._input.read(wanted)
            self.position += len(found)
            parts.append(found[chosen[: len(found)]])
            count = count - len(parts[-1]) if len(found) == wanted else 0
        return np.concatenate(parts)


class ChosenIterator(UnaryIterator, fields=("position",)):
    """The elements in chosen places."""

    def __init__(self, elements: ElementIterator, choice: Choice) -> None:
        super().__init__(elements)
        self.name = choice.stage
        self._choice = choice

    def _begin(self, epoch: int) -> None:
        self._go_to(0)

    def _go_to(self, position: int) -> None:
        self.position = position
        self._block = position
        self._chosen: list[bool] = []

    def __next__(self) -> Element:
        while True:
            if self.position == self._block + len(self._chosen):
                self._block = self.position
                self._chosen = self._choice.of(self._block, _BLOCK).tolist()
            element = next(self._input)
            self.position += 1
            if self._chosen[self.position - 1 - self._block]:
                return element

    def load_state_dict(self, state: State) -> None:
        super().load_state_dict(state)
        self._go_to(self.position)
