"""Threads that stand for processes which save together."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import agog_core as ag
from agog_checkpoint import Checkpoint
from agog_core.errors import AbortedError, OpError
from agog_core.processes import Share, acting_as, keep_share

WHOLE = np.arange(22, dtype=np.float32).reshape(11, 2)


class Threads:
    """One of several threads that stand for processes."""

    def __init__(self, rank: int, table: list[bytes], barrier: threading.Barrier) -> None:
        self.rank, self.size = rank, len(table)
        self._table, self._barrier = table, barrier

    def agree(self, what: str) -> None:
        if len(set(self.exchange(what.encode()))) > 1:
            raise AbortedError(f"{what}: not all do the same")

    def exchange(self, message: bytes) -> list[bytes]:
        self._table[self.rank] = message
        self._barrier.wait(10)
        found = list(self._table)
        self._barrier.wait(10)
        return found


def together(size: int, function: Callable[[int], Any]) -> list[Any]:
    """Call a function of a rank in each of several threads: their results, or what they raise."""
    table, barrier = [b""] * size, threading.Barrier(size)
    results: list[Any] = [None] * size

    def work(rank: int) -> None:
        try:
            with acting_as(Threads(rank, table, barrier)):
                results[rank] = function(rank)
        except BaseException as error:
            results[rank] = error
            if not isinstance(error, (OpError, ValueError)):  # it ends, and the others wait in vain
                barrier.abort()

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def share(rank: int, size: int) -> Share:
    begin, end = (WHOLE.size * number // size for number in (rank, rank + 1))
    return Share(begin, end, WHOLE.shape)


class Program:
    """Replicas of a kernel, and a share of moments."""

    def __init__(self, rank: int, size: int, factor: float = 0.0) -> None:
        part = share(rank, size)
        self.kernel = ag.Variable(np.full(5, factor, np.float32), name="kernel")
        self.moment = ag.Variable(factor * WHOLE.reshape(-1)[part.begin : part.end])
        keep_share(self.moment, part)
        self.checkpoint = Checkpoint(kernel=self.kernel, moment=self.moment)

    def expect(self, rank: int, size: int, factor: float) -> None:
        part = share(rank, size)
        np.testing.assert_array_equal(self.kernel.numpy(), np.full(5, factor, np.float32))
        np.testing.assert_array_equal(self.moment.numpy(), factor * WHOLE.reshape(-1)[part.begin : part.end])
