"""Variant: bytes that only kernels can read, in the place of an array; they are the same on every device."""

from __future__ import annotations

from math import prod
from typing import Any

from agog_core.dtypes import DType, as_dtype, variant


class Variant:
    """A kernel's own array, whose shape and dtype concern nobody else, and who can read it.

    Args:
        array: the array; None where a kernel has kept nothing.
        keeper: what decides which kernels can read it; None for none.
    """

    __slots__ = ("array", "keeper", "shape")

    dtype: DType = variant

    def __init__(self, array: Any, keeper: Any) -> None:
        self.array = array
        self.keeper = keeper
        self.shape = (0 if array is None else prod(array.shape) * as_dtype(array.dtype).size,)
