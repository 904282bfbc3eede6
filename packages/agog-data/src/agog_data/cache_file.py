"""Cache files: elements, one after the other, and an index behind them.

All numbers are little-endian. The file begins with `_BEGINNING`. Each element is a record: the CRC-32 of what follows
(u32), the length of its data (u64), and for each component the number of axes (u8), the sizes (u64 each) and the
values, for strings their lengths (u64 each) and their bytes. Behind the records are a description as JSON and the
offset of each record (u64 each); at the end are the description's length, the number of records (u64 each), the CRC-32
of all from the description on (u32), and `_END`. A file has its name only when it is complete.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import struct
import tempfile
import weakref
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

import numpy as np

from agog_core import DType, as_dtype, errors, string
from agog_core.files import exists, is_url, open_file
from agog_data.file_lock import FileLock

Array = np.ndarray[Any, Any]
_BEGINNING = b"agog cache 1\n\0\0\0"
_END = b"cache end\n"
_RECORD = struct.Struct("<IQ")
_LENGTH = struct.Struct("<Q")
_TRAILER = struct.Struct("<QQ")
_CHECKSUM = struct.Struct("<I")
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_TAIL = _TRAILER.size + _CHECKSUM.size + len(_END)


@contextmanager
def _named(path: str, doing: str) -> Iterator[None]:
    """Turn errors of the operating system into ours, which name the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise errors.NotFoundError(f"cache: {path} cannot be {doing}: there is no such file or folder.") from error
    except PermissionError as error:
        raise errors.PermissionDeniedError(f"cache: {path} cannot be {doing}: {error.strerror}.") from error
    except OSError as error:
        kind = errors.ResourceExhaustedError if error.errno in _NO_SPACE else errors.UnknownError
        raise kind(f"cache: {path} cannot be {doing}: {error.strerror or error}.") from error


class CacheWriter:
    """Writes a cache beside its place, under a lock, and moves it there when it is complete. Raises AlreadyExistsError
    if another iterator writes it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._partial = path + ".partial"
        self._dtypes: list[DType] | None = None
        self._offsets = array("Q")
        # At a URL there are no locks, but what is complete comes there by one request.
        self._lock = None if is_url(path) else FileLock(path + ".lock")
        with _named(path, "written"):
            if self._lock is not None and not self._lock.acquire():
                raise errors.AlreadyExistsError(
                    f"cache: another iterator is writing {path}. Until one has read all elements, only one may read "
                    "this dataset; others may use another file."
                )
            try:
                # Closed at the end of the epoch.
                self._file: Any = tempfile.TemporaryFile() if self._lock is None else open(self._partial, "wb")  # noqa: SIM115
                self._offset = self._file.write(_BEGINNING)
            except OSError:
                if self._lock is not None:
                    self._lock.release()
                raise
        self._abandon = weakref.finalize(self, _abandon, self._file, self._partial, self._lock)

    def add(self, arrays: list[Array], dtypes: list[DType]) -> None:
        """Write the components of an element. Raises InvalidArgumentError if the elements before had other
        dtypes."""
        if self._dtypes is None:
            self._dtypes = dtypes
        elif self._dtypes != dtypes:
            raise errors.InvalidArgumentError(
                f"cache: element {len(self._offsets)} has the dtypes {[dtype.name for dtype in dtypes]}; those before "
                f"have {[dtype.name for dtype in self._dtypes]}. A file needs equal dtypes."
            )
        data = b"".join([_encoded(*part) for part in zip(arrays, dtypes, strict=True)])
        length = _LENGTH.pack(len(data))
        self._offsets.append(self._offset)
        with _named(self._partial, "written"):
            self._offset += self._file.write(_CHECKSUM.pack(zlib.crc32(data, zlib.crc32(length))) + length)
            self._offset += self._file.write(data)

    def commit(self, description: dict[str, Any]) -> None:
        """Give the file its name; it holds the description, which JSON must be able to hold, and the dtypes."""
        named = [dtype.name for dtype in self._dtypes or ()]
        text = json.dumps({**description, "dtypes": named}, separators=(",", ":")).encode()
        offsets = np.array(self._offsets, "<u8").tobytes()
        index = text + offsets + _TRAILER.pack(len(text), len(self._offsets))
        with _named(self._path, "written"):
            self._file.write(index + _CHECKSUM.pack(zlib.crc32(index)) + _END)
            self._file.flush()
            if self._lock is None:
                self._send()
            else:
                os.fsync(self._file.fileno())
                self._file.close()
                os.replace(self._partial, self._path)
                _sync_folder(self._path)
        self.abandon()

    def _send(self) -> None:
        """Put the file at its URL, unless another one is there by now."""
        if not exists(self._path):
            self._file.seek(0)
            with open_file(self._path, "wb") as target:
                shutil.copyfileobj(self._file, target)

    def abandon(self) -> None:
        """Remove what is not complete, and give the lock back."""
        self._abandon()


def _abandon(file: IO[bytes], partial: str, lock: FileLock | None) -> None:
    with suppress(OSError):  # a full disk may fail again
        file.close()
    if lock is not None:
        with suppress(OSError):
            os.unlink(partial)
        lock.release()


def _sync_folder(path: str) -> None:
    if os.name == "posix":
        handle = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _encoded(host: Array, dtype: DType) -> bytes:
    head = struct.pack(f"<B{host.ndim}Q", host.ndim, *host.shape)
    if dtype is not string:
        return head + host.tobytes()
    items: list[bytes] = host.ravel().tolist()
    return head + np.array([len(item) for item in items], "<u8").tobytes() + b"".join(items)


class CacheReader:
    """The elements in a cache that is complete. Raises NotFoundError if there is none, and DataLossError if the
    file is damaged, or is no cache."""

    def __init__(self, path: str) -> None:
        self._path = path
        with _named(path, "read"):
            self._file = open_file(path, "rb")  # open as long as the iterator lives
            weakref.finalize(self, self._file.close)
            self._end = self._file.seek(0, os.SEEK_END)
            description, self._offsets = self._index()
        self.count = len(self._offsets) - 1
        self.dtypes = [as_dtype(name) for name in description.pop("dtypes")]
        self.description = description

    def _index(self) -> tuple[dict[str, Any], Array]:
        if self._end < len(_BEGINNING) + _TAIL or self._bytes(0, len(_BEGINNING)) != _BEGINNING:
            raise self._damaged("its beginning is not that of a cache, or it is too short")
        tail = self._bytes(self._end - _TAIL, _TAIL)
        if not tail.endswith(_END):
            raise self._damaged("its end is missing")
        length, count = _TRAILER.unpack_from(tail)
        begin = self._end - _TAIL - 8 * count - length
        if begin < len(_BEGINNING):
            raise self._damaged("its index is too large")
        index = self._bytes(begin, self._end - _CHECKSUM.size - len(_END) - begin)
        if _CHECKSUM.unpack_from(tail, _TRAILER.size)[0] != zlib.crc32(index):
            raise self._damaged("the checksum of its index is wrong")
        offsets = np.frombuffer(index, "<u8", count, length)
        return json.loads(index[:length]), np.append(offsets, np.uint64(begin))

    def read(self, number: int) -> list[Array]:
        """The components of an element, by its number. Raises DataLossError if the file is damaged there."""
        begin, end = int(self._offsets[number]), int(self._offsets[number + 1])
        with _named(self._path, "read"):
            record = self._bytes(begin, end - begin)
        checksum, length = _RECORD.unpack_from(record)
        if length != len(record) - _RECORD.size or zlib.crc32(record[_CHECKSUM.size :]) != checksum:
            raise self._damaged(f"the checksum of element {number}, at offset {begin}, is wrong")
        arrays, offset = [], _RECORD.size
        for dtype in self.dtypes:
            host, offset = _decoded(record, offset, dtype)
            arrays.append(host)
        return arrays

    def _bytes(self, offset: int, count: int) -> bytes:
        self._file.seek(offset)
        found: bytes = self._file.read(count)
        if len(found) != count:
            raise self._damaged("it has become shorter")
        return found

    def _damaged(self, reason: str) -> Exception:
        return errors.DataLossError(f"cache: {self._path} is damaged: {reason}. Remove it, and it is made again.")


def _decoded(record: bytes, offset: int, dtype: DType) -> tuple[Array, int]:
    axes = record[offset]
    shape = struct.unpack_from(f"<{axes}Q", record, offset + 1)
    offset += 1 + 8 * axes
    count = int(np.prod(shape, dtype=np.int64))
    if dtype is not string:
        host = np.frombuffer(record, dtype.numpy_dtype, count, offset)
        return host.reshape(shape), offset + host.nbytes
    lengths = np.frombuffer(record, "<u8", count, offset).tolist()
    offset += 8 * count
    items = np.empty(count, object)
    for place, length in enumerate(lengths):
        items[place] = record[offset : offset + length]
        offset += length
    return items.reshape(shape), offset
