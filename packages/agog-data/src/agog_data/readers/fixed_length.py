"""Fixed-length records: files of records of one length, between a header and a footer."""

from __future__ import annotations

from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_core.files import file_path, is_file, status
from agog_data.arguments import integer, positive
from agog_data.dataset import Dataset
from agog_data.readers.files import Files, Format, RecordFile, paths
from agog_data.readers.streams import ByteStream, Damage, block_size, compression


class FixedLengthRecordDataset(Dataset):
    """The records of files in which all have one length, as scalar strings; `decode_raw` makes numbers of them.

    Args:
        filenames: a path, a list or tensor of paths, or a dataset of paths.
        record_bytes: the length of a record.
        header_bytes: how many bytes at the beginning of each file are left out; None for 0.
        footer_bytes: how many at its end; None for 0.
        buffer_size: how many bytes are read at a time; 0 or None for a number chosen here.
        compression_type: ``"GZIP"``, ``"ZLIB"``, or ``""`` or None for no compression.

    Raises:
        TypeError: the filenames are no strings.
        InvalidArgumentError: a number is too small, or there is no such compression. So does iterating, where the
            records of a file do not fill it; of a compressed file this is known only at its end.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/numbers"
    >>> with open(path, "wb") as file:
    ...     _ = file.write(b"header" + b"0102")
    >>> [record.numpy() for record in FixedLengthRecordDataset(path, 2, header_bytes=6)]
    [b'01', b'02']
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
    ) -> None:
        name = "FixedLengthRecordDataset"
        length = positive(name, "record_bytes", record_bytes)
        header, footer = (
            _size(name, argument, value)
            for argument, value in (("header_bytes", header_bytes), ("footer_bytes", footer_bytes))
        )
        block = block_size(name, buffer_size)
        format = _FixedLengthFormat(name, (header, length, footer), block, compression(name, compression_type))
        super().__init__(Files(paths(name, filenames), format))


def _size(name: str, argument: str, value: Any) -> int:
    size = 0 if value is None else integer(name, argument, value)
    if size < 0:
        raise InvalidArgumentError(f"{name}: {argument} must not be negative; got {size}.")
    return size


class _FixedLengthFormat(Format):
    def __init__(self, name: str, lengths: tuple[int, int, int], block_size: int, compression_type: str) -> None:
        super().__init__(name)
        self._lengths = lengths
        self._block_size = block_size
        self._compression = compression_type

    def open(self, path: str) -> RecordFile:
        stream = ByteStream(self.name, path, self._compression, self._block_size)
        path = file_path(self.name, path)
        if not self._compression and is_file(path):
            header, length, footer = self._lengths
            size = status(path).size
            body = size - header - footer
            if body < 0 or body % length:
                stream.close()
                raise InvalidArgumentError(f"{self.name}: {path}: {_problem(self._lengths, size)}.")
        return _FixedLengthFile(stream, self._lengths)


def _problem(lengths: tuple[int, int, int], size: int) -> str:
    header, length, footer = lengths
    return (
        f"its {size} bytes are no whole number of records of {length} bytes, between a header of {header} bytes and a "
        f"footer of {footer}"
    )


class _FixedLengthFile(RecordFile):
    def __init__(self, stream: ByteStream, lengths: tuple[int, int, int]) -> None:
        super().__init__(stream)
        self._lengths = lengths
        self._ahead = b""  # the end of the file is a footer, so that many bytes are read ahead

    @property
    def offset(self) -> int:
        return self.stream.offset - len(self._ahead)

    def read(self) -> bytes | None:
        header, length, footer = self._lengths
        if not self.stream.offset and len(self.stream.take(header)) < header:
            raise self._damage()
        data = self._ahead + self.stream.take(length + footer - len(self._ahead))
        if len(data) < length + footer:
            if len(data) != footer:
                raise self._damage()
            return None
        self._ahead = data[length:]
        return data[:length]

    def _damage(self) -> Damage:
        return Damage(_problem(self._lengths, self.stream.offset), error=InvalidArgumentError)
