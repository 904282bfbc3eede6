"""Threads that stand for processes: a communicator for tests without any launcher."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from agog_core.errors import AbortedError
from agog_distribute import Group


class ThreadCommunicator:
    """One of several threads; arrays are laid on a common table, and read behind a barrier."""

    def __init__(self, rank: int, table: list[Any], barrier: threading.Barrier) -> None:
        self.rank = self.local_rank = rank
        self.size = self.local_size = len(table)
        self._table, self._barrier = table, barrier

    def exchange(self, message: Any) -> list[Any]:
        self._table[self.rank] = message
        self._barrier.wait(10)
        found = list(self._table)
        self._barrier.wait(10)
        return found

    def all_reduce(self, array: Any, reduction: str) -> Any:
        stacked = np.stack(self.exchange(array))
        whole = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}[reduction](stacked, 0)
        return np.asarray(whole, array.dtype)

    def all_gather(self, array: Any) -> Any:
        return np.concatenate(self.exchange(array))

    def reduce_scatter(self, array: Any, reduction: str) -> Any:
        return np.split(self.all_reduce(array, reduction), self.size)[self.rank]

    def broadcast(self, array: Any, root: int) -> Any:
        return self.exchange(array)[root].copy()

    def all_to_all(self, array: Any) -> Any:
        return np.concatenate([np.split(each, self.size)[self.rank] for each in self.exchange(array)])

    def barrier(self) -> None:
        self._barrier.wait(10)

    def agree(self, number: int) -> bool:
        return len(set(self.exchange(number))) == 1

    def split(self, ranks: Sequence[int]) -> Any:
        raise NotImplementedError

    def duplicate(self) -> ThreadCommunicator:
        table, barrier = self.exchange(([None] * self.size, threading.Barrier(self.size)))[0]
        return ThreadCommunicator(self.rank, table, barrier)

    def sum_in_place(self, array: Any) -> None:
        array[...] = self.all_reduce(array.copy(), "sum")

    def abort(self, message: str) -> None:
        raise NotImplementedError


Together = Callable[..., list[Any]]


@pytest.fixture
def together() -> Together:
    """Call a function of a `Group` in each of several threads; gives their results, or what they raise."""

    def run(size: int, function: Callable[[Group], Any]) -> list[Any]:
        table, barrier = [None] * size, threading.Barrier(size)
        results: list[Any] = [None] * size

        def work(rank: int) -> None:
            try:
                results[rank] = function(Group(range(size), ThreadCommunicator(rank, table, barrier)))
            except Exception as error:
                results[rank] = error
                if not isinstance(error, AbortedError):  # the others raise that too, and are still reading
                    barrier.abort()

        threads = [threading.Thread(target=work, args=(rank,)) for rank in range(size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    return run
