"""A disk that fails at a step, or is not reached any more."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any

import pytest

from agog_checkpoint import commit


class Crash(BaseException):
    """The end of the process: nothing that it does afterwards reaches the disk."""


class Disk:
    """Counts what is done on the disk, and lets one step fail.

    Args:
        step: the number of the step.
        fault: an error number; "short" for a write of half the bytes; "before" or "after" for a crash.
    """

    def __init__(self, step: int, fault: int | str) -> None:
        self.step = step
        self.fault = fault
        self.steps: list[str] = []

    def act(self, name: str, action: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        number = len(self.steps)
        self.steps.append(name)
        crashes = self.fault in ("before", "after")
        if crashes and number > self.step:
            raise Crash
        if number == self.step:
            if isinstance(self.fault, int):
                raise OSError(self.fault, os.strerror(self.fault))
            if self.fault == "before":
                raise Crash
            if self.fault == "short" and name == "write":
                return action(memoryview(arguments[0])[: len(arguments[0]) // 2])
        result = action(*arguments, **options)
        if number == self.step and self.fault == "after":
            raise Crash
        return result

    def open(self, path: Any, mode: str) -> Any:
        disk, stream = self, io.FileIO(path, self.act("open", lambda: mode.replace("b", "")))

        class Raw(io.RawIOBase):
            def write(self, data: Any) -> int:
                return int(disk.act("write", stream.write, data))

            def seek(self, position: int, whence: int = 0) -> int:
                return int(disk.act("seek", stream.seek, position, whence))

            def tell(self) -> int:
                return stream.tell()

            def seekable(self) -> bool:
                return True

            def writable(self) -> bool:
                return True

            def fileno(self) -> int:
                return stream.fileno()

            def close(self) -> None:
                stream.close()

        raw = Raw()
        raw.name = path
        buffered = io.BufferedWriter(raw)
        return buffered

    def install(self, patch: pytest.MonkeyPatch) -> None:
        for name in ("replace", "unlink", "listdir", "mkdir"):
            patch.setattr(os, name, self.wrapped(name, getattr(os, name)))
        patch.setattr(os, "fsync", self.wrapped("fsync", lambda handle: None))
        patch.setattr(commit, "open", self.open, raising=False)

    def wrapped(self, name: str, action: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **options: self.act(name, action, *arguments, **options)
