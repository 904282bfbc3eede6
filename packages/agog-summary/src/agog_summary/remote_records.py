"""Remote records: event files at URLs, whose stores have no files that grow.

What is flushed is put as the whole of a file, until that is large; then another one follows, which TensorBoard reads
after it, as it does with those of programs that went on. So no flush sends more than one such file.
"""

from __future__ import annotations

from collections.abc import Callable

from agog_core.files.stores import put

_LARGE = 1 << 20  # bytes


class RemoteRecordFile:
    """Takes what is written to it when it is flushed: all of it, or nothing. ``next_file`` makes another empty file and
    returns its URL; a file begins with ``begin``, the first record."""

    def __init__(self, url: str, next_file: Callable[[], str]) -> None:
        self._url, self._next_file = url, next_file
        self._begin = b""
        self._content = b""  # of the present file
        self._waiting = bytearray()

    def write(self, data: bytes) -> None:
        """Keep data for the next flush."""
        self._waiting += data

    def flush(self) -> None:
        """Put what waits. Raises OSError if the store refuses it."""
        if not self._waiting:
            return
        if not self._begin:
            self._begin = bytes(self._waiting)  # the version of the format is flushed by itself
        if len(self._content) > _LARGE:
            self._url, self._content = self._next_file(), self._begin
        content = self._content + self._waiting
        put(self._url, content)
        self._content = content
        self._waiting.clear()

    def close(self) -> None:
        """Nothing is open."""
