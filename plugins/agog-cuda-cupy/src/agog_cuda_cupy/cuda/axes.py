"""Axes: arrays with neighbouring axes joined, for kernels along some of them."""

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


def runs_of(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """The sizes that are left when neighbours that all are of ``axes``, or all are not, are one; and which are of them.

    >>> runs_of((2, 3, 1, 4, 5), (1, 3))
    ([2, 12, 5], [1])
    >>> runs_of((2, 3, 4), (0, 2))
    ([2, 3, 4], [0, 2])
    >>> runs_of((2, 1), (1,))
    ([2, 1], [1])
    """
    sizes: list[int] = []
    kinds: list[bool] = []
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        if kinds and kinds[-1] == (axis in axes):
            sizes[-1] *= size
        else:
            sizes.append(size)
            kinds.append(axis in axes)
    if not any(kinds):
        sizes.append(1)
        kinds.append(True)
    return sizes, [run for run, is_reduced in enumerate(kinds) if is_reduced]
