"""Masks: what keeps some elements of an array and makes the others 0."""

from __future__ import annotations

from typing import Any

Array = Any
_BITS = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}


def masked(xp: Any, x: Array, mask: Array) -> Array:
    """Numbers where a mask holds, else 0, also in the place of NaN and infinities; the shapes broadcast."""
    # The bits as integers, times 0 or 1: several times as fast as a choice, and 0 times infinity would be NaN.
    return (x.view(_BITS[x.itemsize]) * mask).view(x.dtype)
