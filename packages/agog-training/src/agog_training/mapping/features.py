"""Features: the order of features along the last axis, in agog and in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

__all__ = ["UNCLEAR", "Order", "Space", "of_images"]

# Where PyTorch has each feature; None if it has them in the same order.
Order = tuple[int, ...] | None
# The order of features that may be in either.
UNCLEAR: Order = (-1,)


def of_images(shape: Sequence[int]) -> Order:
    """The order of flattened images: channels are the last axis of ``shape``, and PyTorch's first.

    >>> of_images((1, 2, 3))
    (0, 2, 4, 1, 3, 5)
    >>> of_images((5, 1, 1)) is None
    True
    """
    theirs = np.arange(math.prod(shape)).reshape(shape[-1], *shape[:-1])
    order = np.moveaxis(theirs, 0, -1).ravel()
    return None if np.array_equal(order, np.arange(order.size)) else tuple(order.tolist())


class Space:
    """Features that several tensors share along their last axes: all are in one order.

    >>> flat, more = Space(3, (2, 0, 1)), Space(2)
    >>> Space(5, parts=[flat, more]).order()
    (2, 0, 1, 3, 4)
    """

    def __init__(self, size: int, order: Order = None, parts: Sequence[Space] = ()) -> None:
        self.size = size
        self._order = order
        self._parts = tuple(parts)
        self._merged_into: Space | None = None

    def _root(self) -> Space:
        space = self
        while space._merged_into is not None:
            space = space._merged_into
        return space

    def say(self, order: Order) -> None:
        """Learn the order; where another one is known, it is unclear."""
        root = self._root()
        root._order = order if root._order in (None, order) else UNCLEAR

    def join(self, other: Space) -> None:
        """Have the order of other features, which stand beside these."""
        root, further = self._root(), other._root()
        if root is further:
            return
        if further._order is not None:
            root.say(further._order)
        root._parts = root._parts or further._parts
        further._merged_into = root

    def order(self) -> Order:
        """The order, as far as it is known; of joined parts one after the other."""
        root = self._root()
        orders = [part.order() for part in root._parts]
        if root._order is not None or not any(orders):
            return root._order
        if UNCLEAR in orders or sum(part.size for part in root._parts) != root.size:
            return UNCLEAR
        joined: list[int] = []
        for part, order in zip(root._parts, orders, strict=True):
            start = len(joined)
            joined += [start + place for place in (range(part.size) if order is None else order)]
        return tuple(joined)
