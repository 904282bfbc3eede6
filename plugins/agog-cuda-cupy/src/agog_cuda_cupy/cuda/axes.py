"""Axes: an array as one of three axes, the middle one of which a kernel goes along."""

from __future__ import annotations

import math

Sizes = tuple[int, int, int]


def sizes_around(shape: tuple[int, ...], axes: tuple[int, ...]) -> Sizes | None:
    """The sizes before, of, and behind axes; None where there are none, or another axis lies between them.

    >>> sizes_around((2, 3, 4, 5), (1, 2))
    (2, 12, 5)
    """
    if not axes:
        return None
    first, last = min(axes), max(axes)
    if any(shape[axis] != 1 for axis in range(first, last) if axis not in axes):
        return None
    return math.prod(shape[:first]), math.prod(shape[first : last + 1]), math.prod(shape[last + 1 :])
