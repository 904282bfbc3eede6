"""Model: the time of a step of data-parallel training, of many ranks that reduce gradients in a ring.

Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training, VLDB 2020, describe buckets that are
reduced during the walk back; Thakur et al., Optimization of Collective Communication Operations in MPICH, 2005, the
ring's cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np

POINTS = 4000
"""Of the integral over the slowest rank's time; 1e-3 of the result is its error for 1,024 ranks."""


@dataclass(frozen=True, slots=True)
class Network:
    """What connects the ranks.

    Args:
        latency: seconds of a message without content.
        bandwidth: bytes a second that a rank sends, while it receives as many.
    """

    latency: float
    bandwidth: float

    def ring(self, size: float, ranks: int) -> float:
        """Seconds that a ring takes to reduce so many bytes: each rank sends 2 (n - 1) messages of an n-th of them."""
        return 2 * (ranks - 1) * (self.latency + size / ranks / self.bandwidth)


@dataclass(frozen=True, slots=True)
class Step:
    """A step of one rank alone, in seconds, and what it has to reduce.

    Args:
        forward: computes the loss.
        backward: computes the gradients.
        update: applies them.
        size: bytes of all gradients.
        spread: standard deviation of the logarithm of the time, from step to step.
        copy: puts the gradients into buckets, where there are several ranks.
        ready: bytes, and the share of the walk back after which so many are there; evenly, where nothing is said.
    """

    forward: float
    backward: float
    update: float
    size: float
    spread: float = 0.0
    copy: float = 0.0
    ready: Sequence[tuple[float, float]] = ()

    def seconds(self, ranks: int, network: Network, buckets: Sequence[float], overlaps: bool = True) -> float:
        """The expected time of a step that waits for the slowest of the ranks.

        Args:
            ranks: how many there are.
            network: connects them.
            buckets: bytes of each, in the order in which they are sent.
            overlaps: whether a bucket is sent as soon as its gradients are there, and not behind the last one.
        """
        slowest = slowest_of(ranks, self.spread)
        backward, end, sent = (self.backward + self.copy * (ranks > 1)) * slowest, 0.0, 0.0
        for size in buckets:
            sent += size
            end = max(end, backward * self.share_of_walk(sent) if overlaps else backward) + (
                network.ring(size, ranks) if ranks > 1 else 0.0
            )
        return (self.forward + self.update) * slowest + max(backward, end)

    def share_of_walk(self, size: float) -> float:
        """The share of the walk back after which so many bytes of gradients are there."""
        # A byte of tolerance, since buckets are cut in floats.
        return next(
            (share for there, share in self.ready if there >= size - 1), size / self.size if not self.ready else 1
        )

    def efficiency(self, ranks: int, network: Network, buckets: Sequence[float], overlaps: bool = True) -> float:
        """Examples a second of each rank, over those of one rank alone."""
        return self.seconds(1, network, buckets, overlaps) / self.seconds(ranks, network, buckets, overlaps)


@cache
def slowest_of(ranks: int, spread: float) -> float:
    """The expected maximum of independent lognormal times whose mean is 1."""
    if ranks == 1 or not spread:
        return 1.0
    quantiles = (np.arange(POINTS) + 0.5) / POINTS
    normal = NormalDist()
    return float(np.mean([math.exp(spread * normal.inv_cdf(q ** (1 / ranks)) - spread**2 / 2) for q in quantiles]))


def cut(size: float, bucket: float, first: float) -> list[float]:
    """The bytes of each bucket, of which the first may be smaller."""
    sizes: list[float] = []
    while size > 0:
        sizes.append(min(size, bucket if sizes else min(first, bucket)))
        size -= sizes[-1]
    return sizes


def fitted(times: Sequence[tuple[float, float]], ranks: int) -> Network:
    """The network in which a ring of so many ranks takes these seconds for these bytes, by least relative squares."""
    sizes, seconds = np.array(times, np.float64).T
    terms = np.stack([2 * (ranks - 1) * np.ones_like(sizes), 2 * (ranks - 1) / ranks * sizes], 1)
    latency, inverse = np.linalg.lstsq(terms / seconds[:, None], np.ones_like(seconds), rcond=None)[0]
    return Network(max(0.0, float(latency)), 1 / float(inverse))
