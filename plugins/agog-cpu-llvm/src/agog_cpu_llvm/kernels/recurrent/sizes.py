"""Sizes: those of a call, as compiled code is told them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from agog_core.plugin import threads
from agog_cpu_llvm.kernels.recurrent.words import ACTIVATIONS
from agog_cpu_llvm.registers import register

Array = Any

_BLOCK = 128  # examples whose outer products are summed before the sum is added to those before
_CACHE = 1 << 20  # bytes of errors that are summed while they are in it, and of weights that stay there for all times
_FEW, _MOST = 12, 48  # examples that are too few for products of each time, and those of a turn
_MOST_OF_LARGE = 128  # those of a turn for weights that are read from memory at each time
_SPAN = 16  # groups of a turn at most


class Sizes(NamedTuple):
    """The sizes of a call."""

    times: int
    batch: int
    features: int
    units: int
    groups: int
    lanes: int
    dtype: str

    @classmethod
    def of(cls, x: Array, recurrent_kernel: Array) -> Sizes:
        """Those of the inputs and of the weights."""
        dtype = x.dtype.name
        count, units = register(dtype).count, len(recurrent_kernel)
        times, batch, features = x.shape
        return cls(times, batch, features, units, -(-units // count), count, dtype)

    def words(self, activation: str, recurrent_activation: str) -> dict[str, int]:
        """The words that all entries have."""
        numbers = {
            "activation": ACTIVATIONS.index(activation),
            "gate": ACTIVATIONS.index(recurrent_activation),
        }
        return {name: getattr(self, name) for name in self._fields[:5]} | numbers

    def part_words(self) -> dict[str, int]:
        """The words of the parts of a batch, and of the times whose inputs are multiplied at once: several of a few."""
        weights = (self.features + self.units) * self.units * 4 * np.dtype(self.dtype).itemsize
        most = _MOST if weights <= _CACHE else _MOST_OF_LARGE
        count = max(-(-self.batch // most), min(threads.count(), self.batch))
        chunk = -(-self.batch // count)
        block = max(1, _MOST // chunk) if chunk < _FEW else 1
        return {"chunk": chunk, "chunks": -(-self.batch // chunk), "block": block}

    def times_back(self, vectors: int) -> Iterator[tuple[int, int]]:
        """Parts of the times, from the last ones on: the first of a part, and how many there are.

        Their errors, so many vectors of each group, fit into a cache; they are enough examples for a block of sums.
        """
        size = self.batch * self.groups * vectors * self.lanes * np.dtype(self.dtype).itemsize
        count = min(self.times, max(_CACHE // size, -(-_BLOCK // self.batch)))
        for end in range(self.times, 0, -count):
            yield max(0, end - count), min(count, end)

    def sum_words(self) -> dict[str, int]:
        """The words of the blocks of sums, and of the groups of a turn."""
        spans = max(-(-self.groups // _SPAN), 2 * threads.count() if threads.count() > 1 else 1)
        span = -(-self.groups // spans)
        blocks = {"block_times": max(1, _BLOCK // self.batch), "block_rows": min(self.batch, _BLOCK)}
        return {**blocks, "span": span, "spans": -(-self.groups // span)}
