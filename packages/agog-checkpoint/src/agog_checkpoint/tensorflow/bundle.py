"""Bundle: the second format ("V2") of TensorFlow's checkpoints, a table ``PREFIX.index`` and files of data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import BinaryIO

import numpy as np

from agog_checkpoint.regular_file import open_regular
from agog_checkpoint.tensorflow import strings
from agog_checkpoint.tensorflow.checkpoint import Array, TensorFlowCheckpoint
from agog_checkpoint.tensorflow.checksum import masked
from agog_checkpoint.tensorflow.location import INDEX_SUFFIX
from agog_checkpoint.tensorflow.messages import Place, Slice, TensorInfo, parse_entry
from agog_checkpoint.tensorflow.ordered_code import slice_key
from agog_checkpoint.tensorflow.protobuf import Message
from agog_checkpoint.tensorflow.table import Table
from agog_core.dtypes import DType, string
from agog_core.errors import UnimplementedError
from agog_core.files import is_file

HEADER_KEY = b""
LITTLE_ENDIAN = 0


def data_name(prefix: str, shard: int, shards: int) -> str:
    """The file of a shard's data."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


class Bundle(TensorFlowCheckpoint):
    """See `TensorFlowCheckpoint`."""

    def __init__(self, prefix: str) -> None:
        super().__init__(prefix, prefix + INDEX_SUFFIX)
        self._entries: dict[bytes, bytes] = {}
        self._parsed: dict[bytes, tuple[TensorInfo, Place]] = {}
        self._streams: dict[int, BinaryIO] = {}
        self._exit = ExitStack()
        with self._reading(None):
            with open_regular(prefix + INDEX_SUFFIX) as stream:
                self._entries.update(Table(stream))
            if HEADER_KEY not in self._entries:
                raise ValueError("it has no header")
            header = Message(self._entries.pop(HEADER_KEY))
            self._shards, byte_order = header.number(1), header.number(2)
            # The keys of slices begin with a zero, and are no names.
            self._names = {key.decode(): key for key in self._entries if key[0] != 0}
        if byte_order != LITTLE_ENDIAN:
            raise UnimplementedError(
                f"TensorFlow checkpoint: {self.prefix!r} was written on a machine with big-endian numbers, and agog "
                "reads little-endian ones; restore and save it with TensorFlow on such a machine."
            )

    def names(self) -> list[str]:
        """See `TensorFlowCheckpoint.names`."""
        return list(self._names)

    def close(self) -> None:
        """See `TensorFlowCheckpoint.close`."""
        self._streams.clear()
        self._exit.close()

    def _info(self, name: str) -> TensorInfo | None:
        if name not in self._names:
            return None
        with self._reading(name):
            return self._entry(self._names[name])[0]

    def _entry(self, key: bytes) -> tuple[TensorInfo, Place]:
        self._file = self.prefix + INDEX_SUFFIX
        if key not in self._parsed:
            self._parsed[key] = parse_entry(self._entries[key])
        return self._parsed[key]

    def _part(self, name: str, part: Slice | None, dtype: DType, shape: tuple[int, ...]) -> Array:
        info, place = self._entry(self._names[name]) if part is None else self._slice_entry(name, part)
        if info.shape != shape:
            raise ValueError(f"a slice has the shape {list(info.shape)}, but should have {list(shape)}")
        if dtype is string:
            return strings.decoded(self._bytes(place).tobytes(), info.size, place.checksum).reshape(shape)
        if place.size != info.size * dtype.size:
            raise ValueError(f"it has {place.size} bytes, but {dtype.name} {list(shape)} has {info.size * dtype.size}")
        raw = self._bytes(place)
        if masked(raw) != place.checksum:
            raise ValueError("its bytes have another checksum than was written")
        return raw.view(dtype.numpy_dtype).reshape(shape)

    def _most_elements(self, name: str, slices: Sequence[Slice]) -> int:
        shards = {self._slice_entry(name, part)[1].shard for part in slices}
        return sum(self._stream(shard).seek(0, os.SEEK_END) for shard in shards)

    def _slice_entry(self, name: str, part: Slice) -> tuple[TensorInfo, Place]:
        key = slice_key(name, part.extents)
        if key not in self._entries:
            raise ValueError(f"its slice {part} is missing")
        return self._entry(key)

    def _bytes(self, place: Place) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        """The bytes at a place, in memory of their own: tensors are not aligned in the file."""
        stream = self._stream(place.shard)
        if place.offset + place.size > stream.seek(0, os.SEEK_END):
            raise ValueError(f"the file ends before its {place.size} bytes from byte {place.offset} on")
        raw = np.empty(place.size, np.uint8)
        stream.seek(place.offset)
        if stream.readinto(raw.data) != place.size:  # type: ignore[attr-defined]  # a BufferedReader has it
            raise ValueError("the file was cut off meanwhile")
        return raw

    def _stream(self, shard: int) -> BinaryIO:
        self._file = data_name(self.prefix, shard, self._shards)
        if shard not in self._streams:
            if shard >= self._shards or not is_file(self._file):
                raise ValueError("the file does not exist")
            self._streams[shard] = self._exit.enter_context(open_regular(self._file))
        return self._streams[shard]
