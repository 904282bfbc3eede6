"""Streams: the bytes of a file, compressed or not, one piece after the other."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Any

from agog_core.errors import DataLossError, InvalidArgumentError, OpError, ResourceExhaustedError
from agog_core.files import file_path, open_stream, translated_errors
from agog_data.arguments import integer, positive
from agog_data.preview import touch

_BLOCK = 1 << 18
_COMPRESSED_BLOCK = 1 << 16
_MAX_BYTES = 1 << 28
WINDOW_BITS = {"": None, "GZIP": 31, "ZLIB": 15}  # zlib's numbers for its own format and for gzip's


class Damage(Exception):
    """Bytes that are not what they must be: ``resumes`` says whether the record after them can be read, ``error`` is
    what is raised for them."""

    def __init__(self, reason: str, resumes: bool = False, error: type[OpError] = DataLossError) -> None:
        super().__init__(reason)
        self.reason = reason
        self.resumes = resumes
        self.error = error


class TooLong(Damage):
    """A line or record that has more bytes than ``max_bytes``."""

    def __init__(self, what: str, max_bytes: int) -> None:
        super().__init__(
            f"the {what} has more than {max_bytes} bytes; max_bytes=... allows more", error=ResourceExhaustedError
        )


def compression(stage: str, name: Any) -> str:
    """``"GZIP"``, ``"ZLIB"``, or ``""``, also for None, for no compression; InvalidArgumentError for another name."""
    found = "" if name is None else name
    if found not in WINDOW_BITS:
        raise InvalidArgumentError(f"{stage}: compression_type must be '', 'GZIP' or 'ZLIB'; got {name!r}.")
    return str(found)


def block_size(stage: str, buffer_size: Any) -> int:
    """How many bytes are to be read at a time, chosen here for 0 or None. Raises TypeError if it is no integer, and
    InvalidArgumentError if it is negative."""
    size = 0 if buffer_size is None else integer(stage, "buffer_size", buffer_size)
    if size < 0:
        raise InvalidArgumentError(f"{stage}: buffer_size must not be negative; got {size}.")
    return size or _BLOCK


def most_bytes(stage: str, max_bytes: Any) -> int:
    """How many bytes a line or record may have, chosen here for None. Raises InvalidArgumentError below 1."""
    return _MAX_BYTES if max_bytes is None else positive(stage, "max_bytes", max_bytes)


class ByteStream:
    """A file that is read from its beginning to its end, and is closed when nobody uses it any more. Raises
    NotFoundError if there is none. ``compression_type`` is as `compression` returns it."""

    def __init__(self, stage: str, path: str, compression_type: str = "", block_size: int = _BLOCK) -> None:
        self._stage = stage
        self.path = path
        self._block_size = block_size
        touch(path)
        with translated_errors(stage):
            self._file = open_stream(file_path(stage, path))
        bits = WINDOW_BITS[compression_type]
        self._input: Any = self._file if bits is None else _Inflated(self._file, bits)
        self._block = b""
        self._start = 0  # in the block
        self._base = 0  # where the block begins

    @property
    def offset(self) -> int:
        """Where the next byte is, in what the file holds when it is not compressed."""
        return self._base + self._start

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes, fewer at the end; no more memory is taken than for those that there are. Raises
        `Damage` where the compression is broken."""
        end = self._start + count
        if end > len(self._block):
            return self._take_across(count)
        found = self._block[self._start : end]
        self._start = end
        return found

    def _take_across(self, count: int) -> bytes:
        parts = [self._block[self._start :]]
        missing = count - len(parts[0])
        while missing > 0 and self.advance():
            parts.append(self._block[:missing])
            self._start = len(parts[-1])
            missing -= self._start
        return b"".join(parts)

    def advance(self) -> bool:
        """Read the next block, when nothing of this one is needed any more, and say whether there is one."""
        with translated_errors(self._stage):
            try:
                block = self._input.read(self._block_size)
            except OSError as error:
                error.filename = self.path
                raise
        self._base += len(self._block)
        self._block, self._start = block, 0
        return bool(block)

    def take_line(self, most: int) -> bytes:
        """The next line with its end, which is ``\\n``, ``\\r\\n`` or ``\\r``. See `take_until`."""
        line = self.take_until(b"\n", most, or_end=b"\r")
        is_more = line.endswith(b"\r") and (self._start < len(self._block) or self.advance())
        return line + self.take(1) if is_more and self._block[self._start] == ord("\n") else line

    def take_until(self, end: bytes, most: int, or_end: bytes | None = None) -> bytes:
        """The next bytes up to and with one byte, or another; without it at the end of the file, or after ``most``
        bytes without one.
        """
        parts = []
        while True:
            place = self._block.find(end, self._start, self._start + most)
            if or_end is not None:
                stop = place if place >= 0 else self._start + most
                earlier = self._block.find(or_end, self._start, stop)
                place = earlier if earlier >= 0 else place
            stop = place + 1 if place >= 0 else min(self._start + most, len(self._block))
            parts.append(self._block[self._start : stop])
            most -= stop - self._start
            self._start = stop
            if place >= 0 or not most or not self.advance():
                return parts[0] if len(parts) == 1 else b"".join(parts)

    def seek(self, offset: int) -> None:
        """Go to a place behind this one. In a compressed file, all before it must be decompressed."""
        if self._input is self._file:
            with translated_errors(self._stage):
                self._file.seek(offset)
            self._block, self._start, self._base = b"", 0, offset
        else:
            while self._base + len(self._block) < offset and self.advance():
                pass
            self._start = min(offset - self._base, len(self._block))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # it was opened
            self._file.close()


class _Inflated:
    """The contents of a compressed file. A file in gzip's format may have several parts, one after the other."""

    def __init__(self, file: io.RawIOBase, window_bits: int) -> None:
        import zlib  # here, because most files are not compressed

        self._new_decoder: Callable[[], Any] = partial(zlib.decompressobj, window_bits)
        self._error = zlib.error
        self._has_parts = window_bits == WINDOW_BITS["GZIP"]
        self._file = file
        self._decoder: Any = None  # none before the first byte: an empty file holds nothing
        self._waiting = b""  # compressed bytes that are read already

    def read(self, count: int) -> bytes:
        """At most this many bytes; none only at the end."""
        while True:
            data = self._waiting or self._file.read(_COMPRESSED_BLOCK)
            self._waiting = b""
            if self._decoder is None or self._decoder.eof:
                if not data:
                    return b""
                if self._decoder is not None and not self._has_parts:
                    raise Damage("there are bytes after the end of the compressed ones")
                self._decoder = self._new_decoder()
            try:
                found: bytes = self._decoder.decompress(data, count)
            except self._error as error:
                raise Damage(f"the compressed bytes are broken: {error}") from error
            self._waiting = self._decoder.unused_data if self._decoder.eof else self._decoder.unconsumed_tail
            if found:
                return found
            if not data and not self._decoder.eof:
                raise Damage("the compressed bytes end too early")
