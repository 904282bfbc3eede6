"""Event files: the records of summaries that TensorBoard reads."""

from __future__ import annotations

import socket
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections import deque
from functools import partial
from typing import Any

from agog_core.errors import FailedPreconditionError, OpError
from agog_core.files import join, make_folders, open_file, remove
from agog_summary.record_file import file_error, record_writer


class Sink(ABC):
    """The target of a writer's events: a file or a database."""

    def write(self, step: int, **content: Any) -> None:
        """Append an event of this moment that holds ``summary``, ``graph_def`` or ``session_log``."""
        from tensorboardX.proto.event_pb2 import Event

        self.append(Event(wall_time=time.time(), step=step, **content))

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether `close` was called."""

    @abstractmethod
    def append(self, event: Any) -> None:
        """Append an event, a message."""

    @abstractmethod
    def flush(self) -> None:
        """Bring all events to disk; nothing if it is closed."""

    @abstractmethod
    def reopen(self) -> None:
        """Go on where it is closed, a file with another one; nothing if it is open."""

    @abstractmethod
    def close(self) -> None:
        """Flush and close it; nothing if it is closed."""


class EventFile(Sink):
    """A new file of events, which begins with the version of its format.

    Events wait in memory until there are too many, or the oldest has waited too long, or `flush` or `close` is called.
    A file that is left open is closed when its last user is gone, or the program ends. Threads may share it. Raises
    OpError if the file cannot be made or written, as where the disk is full.
    """

    def __init__(self, folder: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        self.max_queue = max_queue
        self.flush_seconds = flush_millis / 1000
        self._folder, self._suffix = folder, suffix
        self._lock = threading.Lock()
        with self._lock:
            self._open()

    def _open(self) -> None:
        from tensorboardX.proto.event_pb2 import Event

        self.path = _new_file(self._folder, self._suffix)
        self._waiting: deque[Any] = deque()
        self._records = record_writer(self.path, partial(_new_file, self._folder, self._suffix))
        self._finish = weakref.finalize(self, _close, self.path, self._records, self._waiting)
        self._waiting.append(Event(wall_time=time.time(), file_version="brain.Event:2"))
        try:
            self._flush()
        except OpError:
            self._finish.detach()
            self._records.close()
            remove(self.path)
            raise

    @property
    def closed(self) -> bool:
        return not self._finish.alive

    def append(self, event: Any) -> None:
        with self._lock:
            if self.closed:
                raise FailedPreconditionError(
                    f"The summary writer of {self.path} is closed; its init() begins another file, as "
                    "create_file_writer does."
                )
            self._waiting.append(event)
            full = len(self._waiting) > self.max_queue or time.time() - self._flushed > self.flush_seconds
        if full:
            self.flush()

    def flush(self) -> None:
        with self._lock:
            if not self.closed:
                self._flush()

    def _flush(self) -> None:
        _write(self.path, self._records, self._waiting)
        self._flushed = time.time()

    def reopen(self) -> None:
        with self._lock:
            if self.closed:
                self._open()

    def close(self) -> None:
        with self._lock:
            self._finish()


def _new_file(folder: str, suffix: str) -> str:
    """The path of a new empty file, named as TensorBoard expects it."""
    try:
        make_folders(folder)
    except OSError as error:
        raise file_error("making the folder", folder, error) from error
    seconds = int(time.time())
    while True:
        path = join(folder, f"events.out.tfevents.{seconds:010d}.{socket.gethostname()}{suffix}")
        try:
            open_file(path, "xb").close()
            return path
        except FileExistsError:  # another writer began in the same second
            seconds += 1
        except OSError as error:
            raise file_error("making the file", path, error) from error


def _write(path: str, records: Any, waiting: deque[Any]) -> None:
    while waiting:
        records.write(waiting.popleft().SerializeToString())
    try:
        records.flush()
    except OSError as error:
        raise file_error("writing to", path, error) from error


def _close(path: str, records: Any, waiting: deque[Any]) -> None:
    try:
        _write(path, records, waiting)
    finally:
        records.close()
