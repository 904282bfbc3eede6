"""Stores: a store of objects in memory, as S3 is one, whose requests fail by a plan. It needs the package fsspec."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from fsspec import register_implementation
from fsspec.implementations.memory import MemoryFileSystem

_SCHEME = "failing"


class Crash(BaseException):
    """The end of the process: no later request of it reaches the store."""


class Faults:
    """Counts requests, and lets some fail.

    Args:
        step: the number of the first request that fails.
        fault: the error; "before" or "after" for a crash.
        times: how many requests fail with an error.
        is_done: whether a request that fails with an error is done all the same, and its answer lost.
        applies: whether a request of the present thread counts.
    """

    def __init__(
        self,
        step: int = -1,
        fault: Exception | str = "before",
        times: int = 1,
        is_done: bool = False,
        applies: Callable[[], bool] = lambda: True,
    ) -> None:
        self.step, self.fault, self.times, self.is_done, self.applies = step, fault, times, is_done, applies
        self.steps: list[str] = []
        self.bytes_read: list[int] = []

    def act(self, name: str, request: Callable[[], Any]) -> Any:
        """Do a request, or fail."""
        if not self.applies():
            return request()
        number = len(self.steps)
        self.steps.append(name)
        if isinstance(self.fault, Exception):
            if self.step <= number < self.step + self.times:
                if self.is_done:
                    request()
                raise self.fault
            return request()
        if 0 <= self.step < number or (number == self.step and self.fault == "before"):
            raise Crash
        result = request()
        if number == self.step:
            raise Crash
        return result


class FailingStore(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
    """``failing://``: files in memory, and S3's conditional requests. What fails is in `faults`."""

    protocol = (_SCHEME, "s3")
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    faults: ClassVar[Faults] = Faults()
    lock: ClassVar[Any] = threading.RLock()

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.replace(f"{_SCHEME}://", "memory://")))

    def info(self, path: str, **options: Any) -> Any:
        return self.faults.act("info", lambda: self._info(path))

    def _info(self, path: str) -> Any:
        with self.lock:
            found = super().info(path)
            if found["type"] == "file":
                found["ETag"] = self._tag(path)
        return found

    def _tag(self, path: str) -> str:
        return hashlib.sha256(self.store[self._strip_protocol(path)].getvalue()).hexdigest()

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        def request() -> Any:
            with self.lock:
                return super(FailingStore, self).ls(path, detail=detail)

        return self.faults.act("ls", request)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> Any:
        found = self.faults.act("cat_file", lambda: super(FailingStore, self).cat_file(path, start, end))
        self.faults.bytes_read.append(len(found))
        return found

    def pipe_file(
        self, path: str, value: bytes, mode: str = "overwrite", IfMatch: str | None = None, **options: Any
    ) -> None:
        def request() -> None:
            with self.lock:
                is_there = self._strip_protocol(path) in self.store
                if (mode == "create" and is_there) or (
                    IfMatch is not None and (not is_there or self._tag(path) != IfMatch)
                ):
                    raise FileExistsError(path)
                super(FailingStore, self).pipe_file(path, value)

        self.faults.act("pipe_file", request)

    def rm_file(self, path: str) -> None:
        self.faults.act("rm_file", lambda: self.store.pop(self._strip_protocol(path), None))


@contextmanager
def failing_store(faults: Faults | None = None) -> Iterator[type[FailingStore]]:
    """An empty store at ``failing://`` within the block."""
    register_implementation(_SCHEME, FailingStore, clobber=True)
    before = FailingStore.faults
    FailingStore.faults = faults or Faults()
    try:
        yield FailingStore
    finally:
        FailingStore.faults = before
        FailingStore.store.clear()
        FailingStore.pseudo_dirs[:] = [""]
