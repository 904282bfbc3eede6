"""Folder locks: one process at a time renames and deletes files of a folder."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from agog_core.errors import DeadlineExceededError

try:
    import fcntl
except ImportError:  # not a POSIX system, where folders cannot be locked
    fcntl = None  # type: ignore[assignment]

_LONGEST_WAIT = 600.0  # seconds
_PAUSE = 0.005
# The folders that this thread has locked: a signal handler may save in the midst of a save.
_held = threading.local()


@contextmanager
def folder_lock(folder: str) -> Iterator[None]:
    """Lock a folder while the ``with`` block runs, as soon as no other process or thread has locked it.

    Where the file system has no locks, nobody waits. Raises DeadlineExceededError if another one keeps it for too
    long, and OSError if the folder cannot be opened.
    """
    folders: list[str] = vars(_held).setdefault("folders", [])
    if fcntl is None or folder in folders:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        _take(handle, folder)
        folders.append(folder)
        try:
            yield
        finally:
            folders.remove(folder)
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)  # a process that was forked meanwhile has the handle too
    finally:
        os.close(handle)


def _take(handle: int, folder: str) -> None:
    end = time.monotonic() + _LONGEST_WAIT
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= end:
                raise DeadlineExceededError(
                    f"Checkpoint: another program has been putting files into the folder {folder!r} for "
                    f"{_LONGEST_WAIT:g} seconds. What was saved before is as it was. End that program, or save "
                    "elsewhere."
                ) from None
        except OSError:  # not every file system has locks
            return
        time.sleep(_PAUSE)
