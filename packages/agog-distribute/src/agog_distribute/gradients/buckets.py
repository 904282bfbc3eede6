"""Buckets: where gradients lie, one behind the other, in flat buffers, and the parts in which these are sent."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from agog_core.dtypes import as_dtype

FIRST, MOST = 1 << 20, 4 << 20
"""Bytes of the first bucket, which starts early, and the most of the others."""

LEAST = 1 << 20
"""Bytes below which nothing is cut: to hand a bucket to another thread takes as long as to send so many."""


class Form(NamedTuple):
    """What gradients of all processes have in common."""

    dtype: str
    shape: tuple[int, ...]


class Place(NamedTuple):
    """Where a gradient lies in the buffer of its dtype."""

    start: int
    stop: int


class Bucket(NamedTuple):
    """A part of the buffer of a dtype."""

    dtype: str
    start: int
    stop: int


class Layout:
    """The places of gradients, and the buckets in the order in which they are sent.

    The last gradient comes first, since a walk back mostly begins with it. No bucket has more than a quarter of all, or
    than a megabyte where that is more.

    Args:
        forms: of the gradients.
    """

    def __init__(self, forms: Sequence[Form]) -> None:
        self.forms = forms
        self.places: list[Place] = [Place(0, 0)] * len(forms)
        self.lengths: dict[str, int] = {}
        for position in reversed(range(len(forms))):
            dtype, shape = forms[position]
            start = self.lengths.get(dtype, 0)
            self.lengths[dtype] = stop = start + math.prod(shape)
            self.places[position] = Place(start, stop)
        limit = max(LEAST, min(MOST, sum(as_dtype(dtype).size * n for dtype, n in self.lengths.items()) // 4))
        cut = [bucket for dtype, n in self.lengths.items() for bucket in _cut(dtype, n, limit)]
        members = {bucket: self._members(bucket) for bucket in cut}
        self.buckets = sorted(cut, key=lambda bucket: -members[bucket][-1])
        self.counts = [len(members[bucket]) for bucket in self.buckets]
        self.buckets_of: list[list[int]] = [[] for _ in forms]
        for number, bucket in enumerate(self.buckets):
            for position in members[bucket]:
                self.buckets_of[position].append(number)

    def _members(self, bucket: Bucket) -> list[int]:
        """The gradients that have elements in a bucket, the last first."""
        return [
            position
            for position in reversed(range(len(self.forms)))
            if self.forms[position].dtype == bucket.dtype
            and max(self.places[position].start, bucket.start) < min(self.places[position].stop, bucket.stop)
        ]


def _cut(dtype: str, length: int, limit: int) -> list[Bucket]:
    found, start, size = [], 0, as_dtype(dtype).size
    while start < length:
        most = max(1, min(limit, FIRST if not start else MOST) // size)
        stop = min(length, start + most)
        found.append(Bucket(dtype, start, stop))
        start = stop
    return found


Buffers = dict[str, Any]
"""For each dtype a flat array."""


class Pool:
    """Buffers of one layout, which are used again once nobody has gradients in them any more."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._kept: list[Buffers] = []
        self._errors: dict[int, Any] = {}

    def error(self, number: int, size: int) -> Any:
        """What rounding has taken off the sum of one of so many shares of a bucket, the last time."""
        if number not in self._errors:
            _, start, stop = self.layout.buckets[number]
            self._errors[number] = np.zeros(-(-(stop - start) // size), np.float32)
        return self._errors[number]

    def take(self) -> Buffers:
        """Buffers that nobody has."""
        for buffers in self._kept:
            # The dict has each array, and so has the call; views of it are gradients.
            if all(sys.getrefcount(buffers[dtype]) == 2 for dtype in buffers):
                return buffers
        buffers = {dtype: np.empty(n, as_dtype(dtype).numpy_dtype) for dtype, n in self.layout.lengths.items()}
        self._kept = [*self._kept[-1:], buffers]
        return buffers
