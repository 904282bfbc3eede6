"""IDX: the file format of MNIST, a header with the shape, then the numbers.

The format, by Y. LeCun, C. Cortes and C. Burges, "The MNIST database of handwritten digits": two zero bytes, a byte for
the dtype, a byte for the number of axes, the sizes as big-endian 32-bit numbers, and the elements, big-endian, the last
axis fastest.
"""

from __future__ import annotations

import gzip
import math
import os
import zlib
from typing import IO, Any

import numpy as np

from agog_core import errors
from agog_data.arguments import positive
from agog_data.files import PathLike, opened, size_of

_DTYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_GZIP_MAGIC = b"\x1f\x8b"
_MOST_AXES = 64  # NumPy's limit
_CHUNK = 1 << 20
_MAX_BYTES = 1 << 32


def read(path: PathLike, magic: int | None = None, *, max_bytes: int | None = None) -> np.ndarray[Any, Any]:
    """Read an IDX file, compressed by gzip or not.

    Args:
        path: the file.
        magic: the magic number (the file's first four bytes) that is expected, such as 0x00000803 for uint8 with three
            axes; None for any.
        max_bytes: how many bytes a compressed file may have, decompressed; None for 2**32, four GiB. A small file can
            hold any number of them.

    Returns:
        A new array of uint8, int8, int16, int32, float32 or float64, in the machine's byte order.

    Raises:
        NotFoundError: there is no such file.
        PermissionDeniedError: it may not be read.
        ResourceExhaustedError: it is compressed, and has more than ``max_bytes``.
        DataLossError: it is not an IDX file, it has another magic number, bytes are missing or left over, or its
            compression is broken; the text says at which byte.
    """
    name = os.fspath(path)
    most = _MAX_BYTES if max_bytes is None else positive("read", "max_bytes", max_bytes)
    with opened(name) as file:
        return _Reader(name, file, most).array(magic)


class _Reader:
    """Reads a file from its beginning, and knows where it is."""

    def __init__(self, name: str, file: IO[bytes], most: int) -> None:
        self._name = name
        self._most = most
        self._compressed = file.read(2) == _GZIP_MAGIC
        file.seek(0)
        # What is compressed has a size that only its end tells.
        self._size = None if self._compressed else size_of(file)
        self._stream: IO[bytes] = gzip.GzipFile(fileobj=file) if self._compressed else file  # type: ignore[assignment]
        self._offset = 0

    def array(self, magic: int | None) -> np.ndarray[Any, Any]:
        dtype, shape = self._header(magic)
        elements = f"elements of shape {shape} and dtype {dtype.name}"
        data = self._read(math.prod(shape) * dtype.itemsize, f"{elements} from byte {self._offset} on")
        end = self._offset
        if self._chunk(1):
            size = "" if self._size is None else f"; the file has {self._size} bytes"
            raise self._error(f"the {elements} end here, but more follows{size}", end)
        try:
            return np.frombuffer(data, dtype).astype(dtype.newbyteorder("="), copy=False).reshape(shape)
        except ValueError as error:  # sizes that no array may have, beside a size of zero
            raise self._error(f"there can be no array of shape {shape}", 4) from error

    def _header(self, magic: int | None) -> tuple[np.dtype[Any], tuple[int, ...]]:
        start = self._read(4, "the magic number, 4 bytes from byte 0 on")
        found = int.from_bytes(start, "big")
        if magic is not None and found != magic:
            raise self._error(f"the magic number 0x{magic:08x} is expected; it is 0x{found:08x}", 0)
        if start[:2] != b"\0\0" or start[2] not in _DTYPES or start[3] > _MOST_AXES:
            codes = ", ".join(f"{code:02x}" for code in _DTYPES)
            raise self._error(
                f"an IDX file begins with 00 00, a dtype ({codes}) and a number of axes up to {_MOST_AXES:02x}; "
                f"this one begins with {start.hex(' ')}",
                0,
            )
        sizes = self._read(4 * start[3], f"the sizes of {start[3]} axes, {4 * start[3]} bytes from byte 4 on")
        return np.dtype(_DTYPES[start[2]]), tuple(np.frombuffer(sizes, ">u4").tolist())

    def _read(self, count: int, what: str) -> bytearray:
        if self._size is not None and count > self._size - self._offset:
            raise self._error(f"the file ends here, but {what} need {count} bytes", self._size)
        data = bytearray()
        while len(data) < count:
            chunk = self._chunk(min(count - len(data), _CHUNK))
            if not chunk:
                raise self._error(f"the data end here, but {what} need {count} bytes")
            data += chunk
            if self._compressed and self._offset > self._most:
                raise errors.ResourceExhaustedError(
                    f"{self._name}: {what} need {count} bytes, and at most {self._most} of a compressed file are read; "
                    "max_bytes=... allows more."
                )
        return data

    def _chunk(self, count: int) -> bytes:
        try:
            chunk = self._stream.read(count)
        except EOFError:
            raise self._error("the gzip stream is truncated") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self._error(f"the gzip stream is corrupt: {error}") from error
        self._offset += len(chunk)
        return chunk

    def _error(self, problem: str, offset: int | None = None) -> errors.DataLossError:
        where = f"byte {self._offset if offset is None else offset}"
        if self._compressed:
            where += " of the decompressed data"
        return errors.DataLossError(f"{self._name}: at {where}: {problem}.")
