"""Table: sorted pairs of keys and values in a file, of LevelDB's form (an "SSTable").

https://github.com/google/leveldb/blob/main/doc/table_format.md: blocks of pairs whose keys share their beginnings, each
with a byte for its compression and a masked CRC-32C behind it; a block with the last key and the place of each; and a
footer with the place of that, which ends with the magic number.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_left
from collections.abc import Iterator
from typing import BinaryIO

from agog_checkpoint.tensorflow.checksum import masked
from agog_checkpoint.tensorflow.protobuf import varint
from agog_checkpoint.tensorflow.snappy import decompressed
from agog_checkpoint.tensorflow.table_end import FOOTER_SIZE, MAGIC

TRAILER_SIZE = 5
PLAIN, SNAPPY = 0, 1
# Keys share beginnings, so few bytes may stand for many. Those of TensorFlow take a few times the bytes of their block.
_LARGEST_EXPANSION = 100

Pairs = list[tuple[bytes, bytes]]


class Table:
    """The table in an open file, whose blocks are read when they are asked for.

    Raises ValueError if the file is no table, or a block that is read is damaged.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._end = stream.seek(0, os.SEEK_END) - FOOTER_SIZE
        stream.seek(max(self._end, 0))
        footer = stream.read(FOOTER_SIZE)
        if len(footer) < FOOTER_SIZE or not footer.endswith(MAGIC):
            raise ValueError("it does not end with the magic number of a table: it is cut off, or no such file")
        _, at = varint(footer, 0)  # the place of the metaindex, which TensorFlow leaves empty
        _, at = varint(footer, at)
        index = self._block(*_place(footer, at))
        self._last_keys = [key for key, _ in index]
        self._places = [_place(value, 0) for _, value in index]
        self._recent: tuple[int, dict[bytes, bytes]] = (-1, {})

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        for place in self._places:
            yield from self._block(*place)

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, None where there is none."""
        number = bisect_left(self._last_keys, key)
        if number == len(self._places):
            return None
        if self._recent[0] != number:
            self._recent = number, dict(self._block(*self._places[number]))
        return self._recent[1].get(key)

    def _block(self, offset: int, size: int) -> Pairs:
        if offset + size + TRAILER_SIZE > self._end:
            raise ValueError(f"its block at byte {offset} should have {size} bytes, but the file ends before them")
        self._stream.seek(offset)
        raw = self._stream.read(size + TRAILER_SIZE)
        content, kind = raw[:size], raw[size]
        if struct.pack("<I", masked(raw[: size + 1])) != raw[size + 1 :]:
            raise ValueError(f"its block at byte {offset} has another checksum than was written")
        if kind not in (PLAIN, SNAPPY):
            raise ValueError(f"its block at byte {offset} has the unknown compression {kind}")
        return _pairs(content if kind == PLAIN else decompressed(content))


def _place(data: bytes, at: int) -> tuple[int, int]:
    offset, at = varint(data, at)
    size, _ = varint(data, at)
    return offset, size


def _pairs(block: bytes) -> Pairs:
    """The pairs of a block; at its end are the places where a key shares nothing, for searches, and their count."""
    restarts = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 - 4 * restarts
    if len(block) < 4 or end < 0:
        raise ValueError(f"a block of {len(block)} bytes should end with {restarts} restarts")
    found: Pairs = []
    at, key, rest = 0, b"", _LARGEST_EXPANSION * len(block)
    while at < end:
        shared, at = varint(block, at)
        own, at = varint(block, at)
        length, at = varint(block, at)
        if shared > len(key) or at + own + length > end:
            raise ValueError("a pair is cut off, or its key shares more than the one before has")
        following = key[:shared] + block[at : at + own]
        if found and following <= key:
            raise ValueError("the keys of a block are not sorted")
        key, at = following, at + own
        rest -= len(key)
        if rest < 0:
            raise ValueError(f"the keys of a block take more than {_LARGEST_EXPANSION} times its bytes")
        found.append((key, block[at : at + length]))
        at += length
    return found
