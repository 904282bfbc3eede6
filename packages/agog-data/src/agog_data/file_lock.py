"""File locks: for one process, and one object in it. A lock ends with its process, even after a crash."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


class FileLock:
    """A lock on a file beside what is protected; it is made, and removed by `release`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Take the lock, if nobody holds it, and say whether it is held now. Raises OSError if the file cannot be
        made."""
        while True:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            if not _try_lock(handle):
                os.close(handle)
                return False
            # The holder before may have removed the file after we opened it: then others lock a new one.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), os.stat(self._path)):
                    self._handle = handle
                    return True
            os.close(handle)

    def release(self) -> None:
        """Give the lock back, and remove the file."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with suppress(OSError):  # Windows keeps a file that is open; it does no harm
                os.unlink(self._path)
            os.close(handle)
