"""Buckets: where gradients lie, one behind the other, in flat buffers, and the parts in which these are sent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np

from agog_core import Tensor
from agog_core.dtypes import as_dtype

FIRST, MOST = 1 << 20, 4 << 20
"""Bytes of the first bucket, which starts early, and the most of the others by default."""

LEAST = 1 << 20
"""Bytes below which nothing is cut: to hand a bucket to another thread takes as long as to send so many."""


class Form(NamedTuple):
    """What gradients of all processes have in common."""

    dtype: str
    shape: tuple[int, ...]


class Span(NamedTuple):
    """Which elements of the buffer of its dtype a gradient has."""

    start: int
    stop: int


class Bucket(NamedTuple):
    """A part of the buffer of a dtype."""

    dtype: str
    start: int
    stop: int


def forms_of(tensors: Iterable[Tensor]) -> list[Form]:
    """The forms of gradients that are like some tensors."""
    return [Form(x.dtype.name, x._shape) for x in tensors]


class Layout:
    """Where gradients lie, and the buckets in the order in which they are sent.

    The last gradient comes first, since a walk back mostly begins with it.

    Args:
        forms: of the gradients.
        bucket_bytes: the most bytes of a bucket. By default a quarter of all, but no less than `LEAST` and no more than
            `MOST`.
    """

    def __init__(self, forms: Sequence[Form], bucket_bytes: int | None = None) -> None:
        self.forms = forms
        self.spans: list[Span] = [Span(0, 0)] * len(forms)
        self.lengths: dict[str, int] = {}
        for position in reversed(range(len(forms))):
            dtype, shape = forms[position]
            start = self.lengths.get(dtype, 0)
            self.lengths[dtype] = stop = start + math.prod(shape)
            self.spans[position] = Span(start, stop)
        cut = self._cut(bucket_bytes)
        members = {bucket: self._members(bucket) for bucket in cut}
        self.buckets = sorted(cut, key=lambda bucket: -members[bucket][-1])
        self.members = [members[bucket] for bucket in self.buckets]
        self.counts = list(map(len, self.members))
        self.buckets_of: list[list[int]] = [[] for _ in forms]
        for number, positions in enumerate(self.members):
            for position in positions:
                self.buckets_of[position].append(number)

    def _cut(self, bucket_bytes: int | None) -> list[Bucket]:
        total = sum(as_dtype(dtype).size * length for dtype, length in self.lengths.items())
        most = max(LEAST, min(MOST, total // 4)) if bucket_bytes is None else bucket_bytes
        first = most if bucket_bytes is not None and most >= total else min(FIRST, most)
        found = []
        for dtype, length in self.lengths.items():
            size, start = as_dtype(dtype).size, 0
            while start < length:
                stop = min(length, start + max(1, (most if start else first) // size))
                found.append(Bucket(dtype, start, stop))
                start = stop
        return found

    def _members(self, bucket: Bucket) -> list[int]:
        """The gradients that have elements in a bucket, the last first."""
        return [
            position
            for position in reversed(range(len(self.forms)))
            if self.forms[position].dtype == bucket.dtype
            and max(self.spans[position].start, bucket.start) < min(self.spans[position].stop, bucket.stop)
        ]


class Pool:
    """Memory for the gradients of one layout. It is lent, and comes back once nobody has gradients in it any more.

    Args:
        layout: of the gradients.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._free: dict[str, list[Any]] = {dtype: [] for dtype in layout.lengths}

    def lend(self) -> dict[str, Any]:
        """For each dtype a flat array, of which all views go back to it: with the last one its memory is free again."""
        return {dtype: self._lent(dtype, length) for dtype, length in self.layout.lengths.items()}

    def _lent(self, dtype: str, length: int) -> Any:
        kind, free = as_dtype(dtype), self._free[dtype]
        memory = free.pop() if free else np.empty(kind.size * length, np.uint8).data
        # Over a memoryview, since a view of an array is one of that array's own base.
        array = np.frombuffer(memory, kind.numpy_dtype)
        finalize(array, _give_back, free, memory).atexit = False
        return array


def _give_back(free: list[Any], memory: memoryview) -> None:
    """Keep memory for the next gradients; those of a step and of the one before are there at most."""
    if not free:
        free.append(memory)
