"""Program: one of several processes, for which threads stand, that save together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import agog_core as ag
from agog_checkpoint import Checkpoint
from agog_core.errors import AbortedError, OpError
from agog_core.processes import Share, acting_as, keep_share
from agog_testing import processes
from agog_testing.processes import ThreadCommunicator

WHOLE = np.arange(22, dtype=np.float32).reshape(11, 2)


class Threads:
    """Threads that stand for processes, as `agog_core.processes.Processes` has these.

    Args:
        communicator: connects them.
    """

    def __init__(self, communicator: ThreadCommunicator) -> None:
        self.rank, self.size, self.exchange = communicator.rank, communicator.size, communicator.exchange

    def agree(self, what: str) -> None:
        if len(set(self.exchange(what))) > 1:
            raise AbortedError(f"{what}: not all do the same")


def together(size: int, function: Callable[[int], Any]) -> list[Any]:
    """Call a function of a rank in each of several threads: their results, or what they raise."""

    def save(communicator: ThreadCommunicator) -> Any:
        with acting_as(Threads(communicator)):
            return function(communicator.rank)

    return processes.together(size, save, (OpError, ValueError))


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
