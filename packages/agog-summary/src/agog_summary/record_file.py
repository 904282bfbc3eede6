"""Record files: the target of tensorboardX's record writer."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

from agog_core import errors
from agog_core.files import is_url

_ERRORS: dict[int | None, type[errors.OpError]] = {
    errno.ENOENT: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EROFS: errors.PermissionDeniedError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EDQUOT: errors.ResourceExhaustedError,
    errno.EFBIG: errors.ResourceExhaustedError,
    errno.EMFILE: errors.ResourceExhaustedError,
    errno.ENFILE: errors.ResourceExhaustedError,
}
_SCHEME = "agog-summary"


def file_error(doing: str, path: str, error: OSError) -> errors.OpError:
    """TensorFlow's error for one of the operating system; ``doing`` is what was tried."""
    kind = _ERRORS.get(error.errno, errors.FailedPreconditionError)
    if isinstance(error, ConnectionError):
        kind = errors.UnavailableError
    return kind(f"Summaries: {doing} {path!r} failed: {error.strerror or error}.")


class RecordFile:
    """A file, which is there and empty, that takes what was written to it when it is flushed: all of it, or nothing.

    A part that a full disk cut off is taken back, so that the records before stay readable, and the next flush tries
    again.
    """

    def __init__(self, path: str) -> None:
        # Unbuffered: only so is it known what has reached the file when writing fails.
        self._file = open(path, "r+b", buffering=0)  # noqa: SIM115  # close closes it
        self._waiting = bytearray()

    def write(self, data: bytes) -> None:
        """Keep data for the next flush."""
        self._waiting += data

    def flush(self) -> None:
        """Write what waits. Raises OSError if the operating system refuses, as where the disk is full."""
        start = self._file.tell()
        try:
            rest = memoryview(bytes(self._waiting))
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            self._file.seek(start)
            self._file.truncate()
            raise
        self._waiting.clear()

    def fileno(self) -> int:
        """The file's number, by which tensorboardX brings it to disk."""
        return self._file.fileno()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class _Factory:
    """The factory of files for tensorboardX."""

    def __init__(self, next_file: Callable[[], str]) -> None:
        self._next_file = next_file

    def open(self, path: str) -> Any:
        place = path.partition(":")[2]
        if not is_url(place):
            return RecordFile(place)
        from agog_summary.remote_records import RemoteRecordFile  # here, because most programs have no URLs

        return RemoteRecordFile(place, self._next_file)

    def directory_check(self, path: str) -> None:
        pass


def record_writer(path: str, next_file: Callable[[], str]) -> Any:
    """tensorboardX's writer of records, to a `RecordFile`: a file that is there and empty. At a URL ``next_file`` makes
    another one when this is large."""
    from tensorboardX.record_writer import RecordWriter, register_writer_factory

    register_writer_factory(_SCHEME, _Factory(next_file))
    return RecordWriter(f"{_SCHEME}:{path}")
