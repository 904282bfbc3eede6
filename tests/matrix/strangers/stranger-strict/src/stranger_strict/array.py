"""Array: an array of array-api-strict, with NumPy's dtype, and knowing whose memory it shows."""

from __future__ import annotations

from typing import Any

import numpy as np


class Array:
    """An array on the device.

    Args:
        native: the library's array.
        source: the array that this one may be a view of.
    """

    __slots__ = ("__weakref__", "base", "native")

    def __init__(self, native: Any, source: Array | None = None) -> None:
        self.native = native
        self.base: Array | None = None if source is None else source.base or source

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes along the axes."""
        return tuple(self.native.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return np.dtype(str(self.native.dtype).rpartition(".")[2])
