"""Remote files: readers and writers of files at URLs, with the methods of Python's files."""

from __future__ import annotations

import errno
import io
import os
import shutil
import tempfile
from contextlib import suppress
from typing import IO, Any, BinaryIO, cast

from agog_core.files import stores
from agog_core.files.retries import retried

_FIRST_BLOCK = 1 << 18
_LARGEST_BLOCK = 1 << 23
_ONE_REQUEST = 1 << 24  # bytes of a file that is put from memory


def open_remote(url: str, mode: str, encoding: str | None, newline: str | None) -> IO[Any]:
    """Open a file as Python's `open`."""
    plain = mode.replace("b", "").replace("t", "")
    if plain not in ("r", "w", "a", "x", "r+", "w+", "a+", "x+"):
        raise ValueError(f"invalid mode: {mode!r}")
    stream: Any = io.BufferedReader(RemoteReader(url), _FIRST_BLOCK) if plain == "r" else RemoteWriter(url, plain)
    if "b" in mode:
        return cast(IO[Any], stream)
    return io.TextIOWrapper(stream, encoding or "utf-8", newline=newline)


class RemoteReader(io.RawIOBase):
    """Reads a file block by block. Each block is a request of its own, so that it can be asked for again where the
    connection is lost, and several may read one file. Who reads on gets larger blocks. Raises OSError if there is no
    such file."""

    def __init__(self, url: str) -> None:
        self.name = url
        found = stores.fresh(url, "info")
        if found["type"] == "directory":
            raise IsADirectoryError(errno.EISDIR, "Is a directory", url)
        # Some servers of HTTP do not say how long a file is, and give it as a whole only.
        self._size: int | None = found["size"]
        self._whole: BinaryIO | None = _downloaded(url) if self._size is None else None
        self._block, self._begin = memoryview(b""), 0
        self._position = 0
        self._next = _FIRST_BLOCK

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = (0, self._position, self._length())[whence]
        self._position = max(0, base + offset)
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        """At most so many bytes, those of one block; none only at the end."""
        if size is None or size < 0:
            return self.readall()
        end = self._begin + len(self._block)
        if not self._begin <= self._position < end:
            self._fetch(is_next=self._position == end and end > 0)
        start = self._position - self._begin
        found = self._block[start : start + size]
        self._position += len(found)
        return bytes(found)

    def readinto(self, buffer: Any) -> int:
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        if self._whole is not None:
            self._whole.close()
        self._block = memoryview(b"")
        super().close()

    def _length(self) -> int:
        if self._whole is not None:
            return self._whole.seek(0, os.SEEK_END)
        return self._size or 0

    def _fetch(self, is_next: bool) -> None:
        """Make the block at the position the present one."""
        self._next = min(2 * self._next, _LARGEST_BLOCK) if is_next else _FIRST_BLOCK
        begin, end = self._position, min(self._position + self._next, self._length())
        if begin >= end:
            data = b""
        elif self._whole is not None:
            self._whole.seek(begin)
            data = self._whole.read(end - begin)
        else:
            data = stores.act(self.name, "cat_file", start=begin, end=end)
            if len(data) != end - begin:
                raise OSError(errno.EIO, f"it has changed: {end - begin} bytes are missing at {begin}", self.name)
        self._block, self._begin = memoryview(data), begin


class RemoteWriter(io.BufferedRandom):
    """A file of this machine that is put at a URL when it is flushed or closed, whole.

    So it can be written anywhere, and put again where the connection is lost; stores have no files that grow.
    """

    def __init__(self, url: str, mode: str) -> None:
        self.url = url
        self._is_changed = False
        if mode.startswith("x"):
            stores.put(url, b"", exclusive=True)
        handle, self._place = tempfile.mkstemp(prefix="agog-")
        super().__init__(cast(io.RawIOBase, io.FileIO(handle, "r+b")))
        try:
            self._fill(mode)
        except BaseException:
            self._is_changed = False
            self.close()
            raise

    def _fill(self, mode: str) -> None:
        if mode[0] in "ar":
            try:
                with RemoteReader(self.url) as source:
                    shutil.copyfileobj(source, self, _LARGEST_BLOCK)
                self._is_changed = False
            except FileNotFoundError:
                if mode.startswith("r"):
                    raise
                self._is_changed = True
            if mode.startswith("r"):
                self.seek(0)
        else:
            self._is_changed = mode.startswith("w")

    def write(self, data: Any) -> int:
        self._is_changed = True
        return super().write(data)

    def truncate(self, size: int | None = None) -> int:
        self._is_changed = True
        return super().truncate(size)

    def flush(self) -> None:
        super().flush()
        if self._is_changed:
            self._put()
            self._is_changed = False

    def _put(self) -> None:
        size = os.path.getsize(self._place)
        if size <= _ONE_REQUEST or "memory" in stores.protocols(stores.opened(self.url)[0]):
            with open(self._place, "rb") as source:
                stores.put(self.url, source.read())
        else:
            stores.put_file(self.url, self._place)

    def discard(self) -> None:
        """Close it, and put nothing."""
        self._is_changed = False
        self.close()

    def close(self) -> None:
        if self.closed:
            return
        try:
            self.flush()
        finally:
            self._is_changed = False
            super().close()
            with suppress(OSError):
                os.unlink(self._place)


def copy_of(url: str) -> BinaryIO:
    """A copy of a file on this machine, which has no name and goes when it is closed."""
    stream = tempfile.TemporaryFile(prefix="agog-")  # noqa: SIM115 (the caller closes it)
    try:
        with RemoteReader(url) as source:
            shutil.copyfileobj(source, stream, _LARGEST_BLOCK)
        stream.seek(0)
    except BaseException:
        stream.close()
        raise
    return cast(BinaryIO, stream)


def _downloaded(url: str) -> BinaryIO:
    """What `copy_of` returns, of a file whose length nobody knows before its end."""
    system, path = stores.opened(url)
    stream = tempfile.TemporaryFile(prefix="agog-")  # noqa: SIM115 (the caller closes it)

    def download() -> None:
        stream.seek(0)
        stream.truncate()
        with system.open(path, "rb") as source:
            shutil.copyfileobj(source, stream, _LARGEST_BLOCK)

    try:
        retried(url, download)
    except BaseException:
        stream.close()
        raise
    return cast(BinaryIO, stream)
