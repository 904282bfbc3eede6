"""Streams: captured output of the process, for tests."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any


class CapturedWrites:
    """What was written into a stream so far."""

    def __init__(self, stream: Any, file: IO[str]) -> None:
        self._stream, self._file = stream, file
        self._text: str | None = None

    def contents(self) -> str:
        """The text."""
        if self._text is not None:
            return self._text
        self._stream.flush()
        with open(self._file.name, encoding="utf-8") as file:
            return file.read()

    def end(self) -> None:
        """Keep the text: the file goes."""
        self._text = self.contents()


@contextmanager
def captured(stream: Any) -> Iterator[CapturedWrites]:
    """Let a stream's file descriptor be a file inside of a block.

    Returns:
        A context manager that gives what is written.
    """
    descriptor = stream.fileno()
    stream.flush()
    kept = os.dup(descriptor)
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as file:
        writes = CapturedWrites(stream, file)
        try:
            os.dup2(file.fileno(), descriptor)
            yield writes
        finally:
            writes.end()
            os.dup2(kept, descriptor)
            os.close(kept)
