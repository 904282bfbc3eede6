"""TFRecord files: records of any bytes, each with its length and checksums.

The format, after TensorFlow 1.12's guide "Importing data" and its ``tf.python_io``: for each record its length, of 64
bits; the masked CRC-32C of these eight bytes, of 32 bits; the bytes; their masked CRC-32C, of 32 bits. All numbers are
little-endian.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_data.arguments import positive
from agog_data.dataset import Dataset
from agog_data.readers.files import Files, Format, RecordFile, Skipping, paths
from agog_data.readers.record_writer import TFRecordOptions
from agog_data.readers.streams import ByteStream, Damage, TooLong, block_size, compression

HEADER = struct.Struct("<QI")
CHECKSUM = struct.Struct("<I")
_MAX_BYTES = 1 << 31


class TFRecordDataset(Dataset):
    """The records of TFRecord files, as scalar strings.

    Args:
        filenames: a path, a list or tensor of paths, or a dataset of paths.
        compression_type: ``"GZIP"``, ``"ZLIB"``, or ``""`` or None for no compression.
        buffer_size: how many bytes are read at a time; 0 or None for a number chosen here.
        num_parallel_reads: how many files are read in turns, one record of each; None for one after the other. No
            threads are used; `Dataset.prefetch` reads ahead.
        on_corrupt: the reaction to a damaged record: ``"raise"`` for `DataLossError`; ``"skip"`` to leave it out, count
            it in `skipped_records` and warn once. After a damaged length, compression or end of a file the next record
            cannot be found; then the rest of the file counts as one.
        expected_records: how many records the files hold together; when they end with another number, `DataLossError`
            is raised. Without it, a file that was cut between two records looks complete.
        max_bytes: how many bytes a record may have; None for 2**31, two GiB. A small file that is compressed can
            hold a record of any size.

    Raises:
        TypeError: the filenames are no strings.
        InvalidArgumentError: another argument is none of its values.
        ResourceExhaustedError: while iterating: a record is longer. The rest of the file is left out.
        ImportError: google-crc32c is not installed.

    >>> import tempfile
    >>> from agog_data.readers.record_writer import TFRecordWriter
    >>> path = tempfile.mkdtemp() + "/two.tfrecord"
    >>> with TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    ...     writer.write(b"two")
    >>> [record.numpy() for record in TFRecordDataset(path)]
    [b'one', b'two']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        on_corrupt: str = "raise",
        expected_records: Any = None,
        *,
        max_bytes: int | None = None,
    ) -> None:
        if on_corrupt not in ("raise", "skip"):
            raise InvalidArgumentError(f"TFRecordDataset: on_corrupt must be 'raise' or 'skip'; got {on_corrupt!r}.")
        if on_corrupt == "skip" and expected_records is not None:
            raise InvalidArgumentError(
                "TFRecordDataset: expected_records counts undamaged files; it does not go with on_corrupt='skip'."
            )
        self._skipping = Skipping()
        turns = 1 if num_parallel_reads is None else num_parallel_reads
        super().__init__(
            Files(
                paths("TFRecordDataset", filenames),
                TFRecordFormat("TFRecordDataset", compression_type, buffer_size, max_bytes),
                positive("TFRecordDataset", "num_parallel_reads", turns),
                self._skipping if on_corrupt == "skip" else None,
                None if expected_records is None else int(expected_records),
            )
        )

    @property
    def skipped_records(self) -> int:
        """How many damaged records all iterators over this dataset have left out so far."""
        return self._skipping.count


class TFRecordFormat(Format):
    """How TFRecord files are read; ``name`` is who reads, for errors. Other arguments: see `TFRecordDataset`."""

    def __init__(
        self, name: str, compression_type: Any = None, buffer_size: Any = None, max_bytes: int | None = None
    ) -> None:
        from agog_data.readers.checksum import masked  # here, because it needs a package that may be missing

        super().__init__(name)
        self._masked = masked
        self._compression = compression(name, compression_type)
        self._block_size = block_size(name, buffer_size)
        self._most = _MAX_BYTES if max_bytes is None else positive(name, "max_bytes", max_bytes)

    def open(self, path: str) -> RecordFile:
        stream = ByteStream(self.name, path, self._compression, self._block_size)
        return TFRecordFile(stream, self._masked, self._most)


class TFRecordFile(RecordFile):
    """A TFRecord file; ``masked`` is the checksum, ``most`` how many bytes a record may have."""

    def __init__(self, stream: ByteStream, masked: Any, most: int) -> None:
        super().__init__(stream)
        self._masked = masked
        self._most = most

    def read(self) -> bytes | None:
        take, masked = self.stream.take, self._masked
        header = take(12)
        if len(header) < 12:
            if not header:
                return None
            raise Damage(f"the file ends within its length, {len(header)} bytes after its beginning")
        length, checksum = HEADER.unpack(header)
        if masked(header[:8]) != checksum:
            raise Damage("its length does not fit the checksum of the length")
        data = take(min(length, self._most) + 4)
        if length > self._most and len(data) == self._most + 4:
            raise TooLong("record", self._most)
        if len(data) < length + 4:
            raise Damage(f"the file ends too early; {length + 4} bytes should follow the length, {len(data)} do")
        record = data[:-4]
        if masked(record) != CHECKSUM.unpack_from(data, length)[0]:
            raise Damage(f"its {length} bytes do not fit their checksum", resumes=True)
        return record


def tf_record_iterator(path: Any, options: Any = None, *, max_bytes: int | None = None) -> Iterator[bytes]:
    """Read the records of one TFRecord file.

    Args:
        path: the file.
        options: `TFRecordOptions`, or what `TFRecordDataset` takes as ``compression_type``.
        max_bytes: how many bytes a record may have; see `TFRecordDataset`.

    Yields:
        The records, as bytes.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: a record is damaged; the text names it, and the byte where it begins.
        ResourceExhaustedError: a record is longer than ``max_bytes``.
        ImportError: google-crc32c is not installed.

    >>> import tempfile
    >>> from agog_data.readers.record_writer import TFRecordWriter
    >>> path = tempfile.mkdtemp() + "/one.tfrecord"
    >>> with TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> list(tf_record_iterator(path))
    [b'one']
    """
    name = TFRecordOptions.get_compression_type_string(options)
    file = TFRecordFormat("tf_record_iterator", name, None, max_bytes).open(os.fsdecode(path))
    try:
        while True:
            begin = file.stream.offset
            try:
                record = file.read()
            except Damage as damage:
                raise damage.error(
                    f"tf_record_iterator: {file.stream.path}: record {file.number} (the first is 0), at byte {begin}: "
                    f"{damage.reason}."
                ) from damage
            if record is None:
                return
            file.number += 1
            yield record
    finally:
        file.stream.close()
