"""Table writer: the bytes of a table, as `table` reads them, in uncompressed blocks."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from agog_checkpoint.tensorflow.checksum import masked
from agog_checkpoint.tensorflow.protobuf import encoded_varint
from agog_checkpoint.tensorflow.table_end import FOOTER_SIZE, MAGIC

_BLOCK_SIZE = 4096
_KEYS_BETWEEN_RESTARTS = 16
_PLAIN = b"\0"


def encoded_table(pairs: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A table of pairs, which are sorted by their keys."""
    out = bytearray()
    index = _Block(1)
    block, last = _Block(_KEYS_BETWEEN_RESTARTS), b""
    for key, value in pairs:
        block.add(key, value)
        last = key
        if block.size > _BLOCK_SIZE:
            index.add(last, _appended(block, out))
            block = _Block(_KEYS_BETWEEN_RESTARTS)
    if block.size:
        index.add(last, _appended(block, out))
    places = _appended(_Block(1), out) + _appended(index, out)
    return bytes(out) + places.ljust(FOOTER_SIZE - len(MAGIC), b"\0") + MAGIC


def _appended(block: _Block, out: bytearray) -> bytes:
    """Append a block with its compression and checksum: its place."""
    content = block.encoded()
    place = encoded_varint(len(out)) + encoded_varint(len(content))
    out += content + _PLAIN + struct.pack("<I", masked(content + _PLAIN))
    return place


class _Block:
    """Pairs whose keys leave out the beginning that they share with the key before, but for every so many."""

    def __init__(self, keys_between_restarts: int) -> None:
        self._content = bytearray()
        self._restarts = [0]
        self._keys_between_restarts = keys_between_restarts
        self._count = 0
        self._key = b""

    @property
    def size(self) -> int:
        """How many bytes the pairs take."""
        return len(self._content)

    def add(self, key: bytes, value: bytes) -> None:
        """Add a pair, whose key is greater than that before."""
        shared = 0
        if self._count % self._keys_between_restarts:
            while shared < min(len(key), len(self._key)) and key[shared] == self._key[shared]:
                shared += 1
        elif self._count:
            self._restarts.append(self.size)
        for length in (shared, len(key) - shared, len(value)):
            self._content += encoded_varint(length)
        self._content += key[shared:] + value
        self._key = key
        self._count += 1

    def encoded(self) -> bytes:
        """The pairs, and the places of the keys that leave nothing out."""
        return bytes(self._content) + struct.pack(f"<{len(self._restarts) + 1}I", *self._restarts, len(self._restarts))
