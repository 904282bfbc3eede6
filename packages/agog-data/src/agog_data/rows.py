"""Rows: streams of row numbers, in whole arrays, for stages that only choose elements of a source.

``from_tensor_slices(...).shuffle(10000).repeat().batch(128)`` moves row numbers until the batch is complete; then its
rows are gathered once.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from agog_data.random_stream import Order, permutation, places
from agog_data.state import Resumable, State, Unary

Array = np.ndarray[Any, Any]
_BLOCK = 4096  # how many row numbers a shuffle exchanges at a time; a power of two
_BLOCK_BITS = 12
_NONE = np.empty(0, np.int64)


class Rows(Resumable):
    """A stream of row numbers, which `start` begins again. Without side effects, it may run ahead of the consumer."""

    @abstractmethod
    def read(self, count: int) -> Array:
        """The next row numbers, int64 of shape (count,); fewer at the end of the epoch."""

    def skip(self, count: int) -> None:
        """Pass over row numbers; more than there are is no error."""
        while count > 0:
            passed = len(self.read(min(count, _BLOCK)))
            count = count - passed if passed == min(count, _BLOCK) else 0


class AllRows(Rows):
    """The rows of a source, in order."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._position = 0

    def start(self, epoch: int) -> None:
        self._position = 0

    def read(self, count: int) -> Array:
        begin = self._position
        self._position = min(begin + count, self._count)
        return np.arange(begin, self._position)

    def skip(self, count: int) -> None:
        self._position = min(self._position + count, self._count)

    def state_dict(self) -> dict[str, Any]:
        return {"stage": "rows", "position": self._position}

    def load_state_dict(self, state: State) -> None:
        self._position = state["position"]


class UnaryRows(Unary[Rows], Rows):
    """A stream of the row numbers of another one."""


class TakenRows(UnaryRows, name="take", fields=("taken",)):
    """The first row numbers of a stream."""

    def __init__(self, rows: Rows, count: int) -> None:
        super().__init__(rows)
        self._count = count

    def _begin(self, epoch: int) -> None:
        self.taken = 0

    def read(self, count: int) -> Array:
        found = self._input.read(min(count, self._count - self.taken))
        self.taken += len(found)
        return found


class SkippedRows(UnaryRows, name="skip", fields=("skipped",)):
    """A stream without its first row numbers."""

    def __init__(self, rows: Rows, count: int) -> None:
        super().__init__(rows)
        self._count = count

    def _begin(self, epoch: int) -> None:
        self.skipped = False

    def read(self, count: int) -> Array:
        if not self.skipped:
            self.skipped = True
            self._input.skip(self._count)
        return self._input.read(count)


class RepeatedRows(UnaryRows, name="repeat"):
    """A stream, several times."""

    def __init__(self, rows: Rows, turns: Turns) -> None:
        super().__init__(rows)
        self._turns = turns

    def start(self, epoch: int) -> None:
        self._input.start(self._turns.start(epoch))

    def read(self, count: int) -> Array:
        parts = []
        while count:
            part = self._input.read(count)
            parts.append(part)
            missing = count - len(part)
            self._turns.empty = self._turns.empty and missing == count
            count = missing
            if missing:
                epoch = self._turns.next()
                if epoch is None:
                    break
                self._input.start(epoch)
        return parts[0] if len(parts) == 1 else np.concatenate([_NONE, *parts])

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), **self._turns.state_dict()}

    def load_state_dict(self, state: State) -> None:
        super().load_state_dict(state)
        self._turns.load_state_dict(state)


class Turns:
    """The current repetition of a stream, and the epoch of its input. ``count`` is None for no end."""

    def __init__(self, count: int | None) -> None:
        self._count = count
        self._epoch = 0
        self._turn = 0
        self.empty = True  # whether the turn has had no element so far

    def start(self, epoch: int) -> int:
        """Begin the first turn of an epoch; the input's epoch."""
        self._epoch = epoch
        self._turn = 0
        self.empty = True
        return self._input_epoch()

    def next(self) -> int | None:
        """Begin the next turn; the input's epoch, or None at the end. After a turn without elements there is none."""
        if self.empty or self._turn + 1 == self._count:
            return None
        self._turn += 1
        self.empty = True
        return self._input_epoch()

    def _input_epoch(self) -> int:
        return self._epoch * (self._count or 2**32) + self._turn

    def state_dict(self) -> dict[str, Any]:
        """The position among the turns."""
        return {"epoch": self._epoch, "turn": self._turn, "empty": self.empty}

    def load_state_dict(self, state: State) -> None:
        """Take over a position."""
        self._epoch, self._turn, self.empty = state["epoch"], state["turn"], state["empty"]


class ShuffledRows(UnaryRows, name="shuffle"):
    """A stream in random order, by a buffer of which a random place is emptied and refilled.

    Its state is a count: the order is a pure function of the seed and the epoch, so loading shuffles again up to there,
    at some tens of nanoseconds a row.
    """

    def __init__(self, rows: Rows, buffer_size: int, order: Order) -> None:
        self._buffer_size = buffer_size
        self._order = order
        super().__init__(rows)

    def _begin(self, epoch: int) -> None:
        self._epoch = epoch
        self._read = 0
        self._words = self._order.words(epoch)
        self._buffer: Array | None = None
        self._ready = _NONE
        self._ended = False

    def read(self, count: int) -> Array:
        while len(self._ready) < count and not self._ended:
            self._ready = np.concatenate([self._ready, self._advance()])
        found, self._ready = self._ready[:count], self._ready[count:]
        self._read += len(found)
        return found

    def _advance(self) -> Array:
        if self._buffer is None:
            self._buffer = np.array(self._input.read(self._buffer_size))
        fresh = self._input.read(_BLOCK)
        emitted = _exchange(self._buffer, fresh, self._words)
        if len(fresh) == _BLOCK:
            return emitted
        self._ended = True
        return np.concatenate([emitted, self._buffer[permutation(len(self._buffer), self._words)]])

    def state_dict(self) -> dict[str, Any]:
        return {
            **super().state_dict(),
            "epoch": self._epoch,
            "position": self._read,
            "order": self._order.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        self._order.load_state_dict(state["order"])
        super().load_state_dict(state)  # for the random streams of the stages before
        self.start(state["epoch"])
        self.skip(state["position"])


def _exchange(buffer: Array, fresh: Array, words: np.random.Philox) -> Array:
    """For each fresh row, one after the other, emit a random row of the buffer and put the fresh one in its place."""
    count = len(fresh)
    if not count:
        return _NONE
    # In the order of place, then time: what leaves a place is the fresh row before it, or at first the buffer's.
    keys = places(words.random_raw(count), len(buffer)) << _BLOCK_BITS | np.arange(count)
    keys.sort()
    place, time = keys >> _BLOCK_BITS, keys & (_BLOCK - 1)
    again = place[1:] == place[:-1]
    leaving, entering = buffer.take(place), fresh.take(time)
    np.copyto(leaving[1:], entering[:-1], where=again)
    last = np.append(~again, True)
    buffer[place[last]] = entering[last]
    emitted = np.empty(count, np.int64)
    emitted[time] = leaving
    return emitted
