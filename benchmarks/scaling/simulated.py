"""Simulated: other ranks, and a network that takes its time and no processor, as a network card does."""

from __future__ import annotations

import math
from time import sleep
from typing import Any

from agog_distribute import Group
from benchmarks.scaling.model import Network


class SimulatedCommunicator:
    """One rank of several that all have the same gradients; a sum waits as long as a ring takes.

    Args:
        size: how many ranks there are.
        network: connects them.
    """

    rank = local_rank = 0
    local_size = 1

    def __init__(self, size: int, network: Network) -> None:
        self.size, self.network = size, network

    def agree(self, number: int) -> bool:
        """Whether all have the same number, which they tell each other by recursive doubling."""
        sleep(self.network.latency * math.ceil(math.log2(self.size)))
        return True

    def sum_in_place(self, array: Any) -> None:
        """Wait for a ring. The values stay: only times are measured."""
        sleep(self.network.ring(array.nbytes, self.size))

    def duplicate(self) -> SimulatedCommunicator:
        """The same ranks for another thread."""
        return SimulatedCommunicator(self.size, self.network)

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(f"a simulated network has no {name}: only sums of dense gradients are timed")


def simulated_group(size: int, network: Network) -> Group:
    """A group of simulated ranks.

    Args:
        size: how many.
        network: connects them.
    """
    communicator: Any = SimulatedCommunicator(size, network)
    return Group(range(size), communicator)
