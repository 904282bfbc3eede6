"""Sizes: those of a call, as compiled code is told them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from agog_cpu_llvm import tiles
from agog_cpu_llvm.kernels.recurrent.activations import number

Array = Any

_BLOCK = 128  # examples whose outer products are summed before the sum is added to those before


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
        count, units = tiles.lanes(dtype).count, len(recurrent_kernel)
        times, batch, features = x.shape
        return cls(times, batch, features, units, -(-units // count), count, dtype)

    def words(self, activation: str, recurrent_activation: str) -> dict[str, int]:
        """The words that all entries have."""
        numbers = {"activation": number(activation), "gate": number(recurrent_activation)}
        return {name: getattr(self, name) for name in self._fields[:5]} | numbers

    def entries(self, name: str, write: Callable[..., object]) -> Mapping[str, int]:
        """The entries of a unit for the dtype."""
        return tiles.compiled(name, write, self.dtype)


def block_words(batch: int) -> dict[str, int]:
    """The words of the blocks of examples whose outer products are summed."""
    return {"block_times": max(1, _BLOCK // batch), "block_rows": min(batch, _BLOCK)}
