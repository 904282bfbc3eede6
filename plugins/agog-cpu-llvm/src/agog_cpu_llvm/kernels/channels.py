"""Channels: loops over neighbouring numbers, a few vectors at a time, which kernels take through rows or windows."""

from __future__ import annotations

from collections.abc import Callable

from agog_cpu_llvm.tiles import Code, Index, Lanes, Mask

_CHUNKS = (4, 2, 1)  # vectors that go together


def each_chunk(code: Code, channels: Index, lanes: Lanes, body: Callable[[Index, list[Mask | None]], None]) -> None:
    """Write ``body(channel, masks)`` for channels by fours of vectors, by twos, and one by one."""
    first: Index = code.number(0)
    for vectors in _CHUNKS:
        width = vectors * lanes.count
        end = channels if vectors == 1 else first + (channels - first) // width * width
        with code.loop(first, end, width, may_be_empty=True) as loop:
            masks: list[Mask | None] = [None] * vectors if vectors > 1 else [lanes.first(channels - loop.index)]
            body(loop.index, masks)
        first = end
