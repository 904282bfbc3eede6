"""Scratch: memory of each calling thread, which calls use one after the other."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

KEPT = 32 << 20
"""Bytes that a thread keeps at most; what a call needs beyond them lives for that call."""

ALIGNMENT = 64
"""Bytes that scratch memory is aligned to: a vector, and a line of the cache."""


class Scratch(threading.local):
    """What a thread has kept: one block, which grows."""

    def __init__(self) -> None:
        self._size = 0
        self._block: Any = None
        self._address = 0

    def memory(self, size: int) -> tuple[int, Any]:
        """The address of so many bytes, with any content, and what keeps them while a call uses them."""
        if size <= self._size:
            return self._address, self._block
        block = np.empty(size + ALIGNMENT, np.uint8)
        address = block.ctypes.data
        address += -address % ALIGNMENT
        if size <= KEPT:
            self._block, self._address, self._size = block, address, size
        return address, block
