"""Processes: threads that stand for them, so that tests of several need no launcher."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_core.errors import AbortedError

_PATIENCE = 10  # seconds that a thread waits for the others

_REDUCTIONS: dict[str, Any] = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}


class ThreadCommunicator:
    """One of several threads, as `agog_core.plugin.HostCommunicator` has it for processes.

    They lay arrays on a common table, and read them behind a barrier.

    Args:
        rank: the number of this one.
        table: a place for each.
        barrier: of as many.
    """

    def __init__(self, rank: int, table: list[Any], barrier: threading.Barrier) -> None:
        self.rank = self.local_rank = rank
        self.size = self.local_size = len(table)
        self._table, self._barrier = table, barrier

    def exchange(self, message: Any) -> list[Any]:
        self._table[self.rank] = message
        self._barrier.wait(_PATIENCE)
        found = list(self._table)
        self._barrier.wait(_PATIENCE)
        return found

    def all_reduce(self, array: Any, reduction: str) -> Any:
        return np.asarray(_REDUCTIONS[reduction](np.stack(self.exchange(array)), 0), array.dtype)

    def all_gather(self, array: Any) -> Any:
        return np.concatenate(self.exchange(array))

    def reduce_scatter(self, array: Any, reduction: str) -> Any:
        return np.split(self.all_reduce(array, reduction), self.size)[self.rank]

    def broadcast(self, array: Any, root: int) -> Any:
        return self.exchange(array)[root].copy()

    def all_to_all(self, array: Any) -> Any:
        return np.concatenate([np.split(each, self.size)[self.rank] for each in self.exchange(array)])

    def barrier(self) -> None:
        self._barrier.wait(_PATIENCE)

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


def together(
    size: int,
    function: Callable[[ThreadCommunicator], Any],
    of_all: tuple[type[BaseException], ...] = (AbortedError,),
) -> list[Any]:
    """Call a function in each of several threads: their results, or what they raise.

    Args:
        size: how many threads.
        function: takes what connects them.
        of_all: errors that all raise, and may still read of each other; at another one the others wait no longer.
    """
    table, barrier = [None] * size, threading.Barrier(size)
    results: list[Any] = [None] * size

    def work(rank: int) -> None:
        try:
            results[rank] = function(ThreadCommunicator(rank, table, barrier))
        except BaseException as error:
            results[rank] = error
            if not isinstance(error, of_all):
                barrier.abort()

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
