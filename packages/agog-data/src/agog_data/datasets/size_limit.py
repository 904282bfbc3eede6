"""Size limit: of streams that are decompressed, because a small file may hold any number of bytes."""

from __future__ import annotations

from typing import IO

from agog_core import errors


class SizeLimit:
    """A decompressed stream of at most so many bytes: a small file may hold any number of them."""

    def __init__(self, name: str, stream: IO[bytes], most: int) -> None:
        self._name = name
        self._stream = stream
        self._most = most
        self.tell = stream.tell

    def read(self, size: int) -> bytes:
        """Read at most so many bytes."""
        self._check(max(self.tell(), 0) + size)
        return self._stream.read(size)

    def seek(self, position: int) -> int:
        """Go to a place."""
        self._check(position)
        return self._stream.seek(position)

    def _check(self, end: int) -> None:
        if end > self._most:
            raise errors.ResourceExhaustedError(
                f"{self._name}: it has more than {self._most} bytes, decompressed; max_bytes=... allows more."
            )
