"""Registers: how many numbers the processor's vector registers hold, and how large a tile of them may be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from agog_cpu_llvm.processor import register_bytes

BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "uint8": 1, "int32": 4, "int64": 8}
"""The bytes of one element of a dtype."""


@dataclass(frozen=True)
class Register:
    """A vector register: the number of its lanes, and whether they compute in float64 or else in float32."""

    count: int
    is_double: bool = False

    @property
    def dtype(self) -> str:
        """The dtype of one lane."""
        return "float64" if self.is_double else "float32"

    @property
    def itemsize(self) -> int:
        """The bytes of one lane."""
        return 8 if self.is_double else 4

    @property
    def bytes(self) -> int:
        """The bytes of all lanes."""
        return self.count * self.itemsize


def register(dtype: str) -> Register:
    """This processor's widest register for a dtype."""
    return _register(register_bytes(), dtype == "float64")


@cache
def _register(size: int, is_double: bool) -> Register:
    return Register(size // (8 if is_double else 4), is_double)


def computed(dtype: str) -> str:
    """The dtype that arrays of a dtype are computed in."""
    return "float64" if dtype == "float64" else "float32"


def height(register: Register, vectors: int) -> int:
    """The rows of the largest tile of so many vectors whose sums fit into registers, with a row's vectors.

    With one register too many it takes three times as long. A processor with vectors of 64 bytes has 32 registers,
    others have 16 (x86), or 32 (ARM, which so takes the smaller tile too).
    """
    if register.bytes == 64:
        return {1: 14, 2: 14, 4: 6}[vectors]
    return {1: 12, 2: 6}[vectors]


def widest(register: Register) -> int:
    """The vectors of the tile that reads a row's numbers least often."""
    return 4 if register.bytes == 64 else 2
