"""Record writers, for TFRecord files; `agog_data.readers.tfrecord` has the format."""

from __future__ import annotations

import io
import os
import struct
from typing import Any

from agog_core import Tensor, string
from agog_core.errors import FailedPreconditionError
from agog_core.files import file_path, is_url, open_file, translated_errors
from agog_data.dataset import Dataset
from agog_data.elements import ComponentSpec
from agog_data.readers.streams import WINDOW_BITS, compression

_LARGEST_BUFFER = 1 << 18
_LENGTH = struct.Struct("<Q")
_CHECKSUM = struct.Struct("<I")


class TFRecordCompressionType:
    """The compressions of TFRecord files."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How a TFRecord file is compressed.

    Args:
        compression_type: one of `TFRecordCompressionType`, or ``""``, ``"GZIP"`` or ``"ZLIB"``; None for no
            compression.

    Raises:
        InvalidArgumentError: it is none of these.
    """

    compression_type_map = {  # noqa: RUF012  # TensorFlow's name and form
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(self, compression_type: Any = None) -> None:
        named = self.compression_type_map.get(compression_type, compression_type)
        compression("TFRecordOptions", named)
        self.compression_type = compression_type

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The name of a compression.

        Args:
            options: `TFRecordOptions`, one of `TFRecordCompressionType`, a name or None.

        Returns:
            ``""``, ``"GZIP"`` or ``"ZLIB"``.
        """
        found = options.compression_type if isinstance(options, TFRecordOptions) else options
        return compression("TFRecordOptions", cls.compression_type_map.get(found, found))


class TFRecordWriter:
    """A new TFRecord file; one that is there already is replaced. The end of a ``with`` block closes it.

    Records wait in memory until there are enough, or `flush` or `close` is called; at a URL all of them until `close`,
    in a temporary file of this machine. If a write fails, the file is
    truncated to its old end and the records stay in memory, so that `flush` can be tried again.

    Args:
        path: the file.
        options: `TFRecordOptions`, or ``"GZIP"`` or ``"ZLIB"``; None for no compression.

    Raises:
        NotFoundError: the folder does not exist.
        ImportError: google-crc32c is not installed.

    >>> import tempfile
    >>> from agog_data.readers.tfrecord import tf_record_iterator
    >>> path = tempfile.mkdtemp() + "/records"
    >>> with TFRecordWriter(path, "GZIP") as writer:
    ...     writer.write(b"some bytes")
    >>> list(tf_record_iterator(path, "GZIP"))
    [b'some bytes']
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        from agog_data.readers.checksum import masked  # here, because it needs a package that may be missing

        self._masked = masked
        self._path = file_path("TFRecordWriter", path)
        bits = WINDOW_BITS[TFRecordOptions.get_compression_type_string(options)]
        self._encoder = None if bits is None else _encoder(bits)
        self._waiting = bytearray()
        with translated_errors("TFRecordWriter"):
            self._file: Any = open_file(self._path, "wb") if is_url(self._path) else io.FileIO(self._path, "w")
        self._end = 0  # of what the file holds

    def write(self, record: Any) -> None:
        """Append a record.

        Args:
            record: bytes, a string, which is encoded as UTF-8, or a scalar tensor of strings.

        Raises:
            TypeError: it is something else.
            FailedPreconditionError: the file is closed.
        """
        data = _as_bytes(record)
        length = _LENGTH.pack(len(data))
        checksums = _CHECKSUM.pack(self._masked(length)), _CHECKSUM.pack(self._masked(data))
        self._append(b"".join((length, checksums[0], data, checksums[1])))
        if len(self._waiting) > _LARGEST_BUFFER:
            self._drain()

    def _append(self, data: bytes) -> None:
        if self._file.closed:
            raise FailedPreconditionError(f"TFRecordWriter: {self._path} is closed; make another writer.")
        self._waiting += data if self._encoder is None else self._encoder.compress(data)

    def flush(self) -> None:
        """Bring all records to the file.

        Raises:
            FailedPreconditionError: the file is closed, or the disk does not take them.
        """
        self._append(b"")
        if self._encoder is not None:
            from zlib import Z_SYNC_FLUSH

            self._waiting += self._encoder.flush(Z_SYNC_FLUSH)
        self._drain()

    def _drain(self) -> None:
        with translated_errors("TFRecordWriter"):
            try:
                data = bytes(self._waiting)
                written = 0
                while written < len(data):
                    written += self._file.write(data[written:]) or 0
            except BaseException as error:
                if isinstance(error, OSError):
                    error.filename = self._path
                self._cut()
                raise
        self._end += written
        self._waiting = bytearray()

    def _cut(self) -> None:
        """Take back the part of a record that has reached the file."""
        try:
            self._file.truncate(self._end)
            self._file.seek(self._end)
        except OSError:  # a pipe, which cannot take anything back
            pass

    def close(self) -> None:
        """Bring all records to the file and close it; nothing if it is closed.

        Raises:
            FailedPreconditionError: the disk does not take them; the file is closed all the same.
        """
        if self._file.closed:
            return
        try:
            if self._encoder is not None:
                self._waiting += self._encoder.flush()
            self._drain()
        finally:
            with translated_errors("TFRecordWriter"):
                self._file.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_end"):  # the file was opened
            self.close()


def _encoder(window_bits: int) -> Any:
    import zlib  # here, because most files are not compressed

    return zlib.compressobj(wbits=window_bits)


def _as_bytes(record: Any) -> bytes:
    value = record.numpy() if isinstance(record, Tensor) else record
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"TFRecordWriter: a record must be bytes; got {record!r} of type {type(record).__name__}.")


class DatasetWriter:
    """Writes the elements of a dataset as a TFRecord file: ``tf.data.experimental.TFRecordWriter``.

    Args:
        filename: the file.
        compression_type: ``"GZIP"``, ``"ZLIB"``, or ``""`` or None for no compression.

    Raises:
        InvalidArgumentError: there is no such compression.

    >>> import tempfile
    >>> from agog_data.readers.tfrecord import tf_record_iterator
    >>> path = tempfile.mkdtemp() + "/records"
    >>> DatasetWriter(path).write(Dataset.from_tensor_slices(["one", "two"]))
    >>> list(tf_record_iterator(path))
    [b'one', b'two']
    """

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._filename = filename
        self._compression = compression("TFRecordWriter", compression_type)

    def write(self, dataset: Dataset) -> None:
        """Write all elements.

        Args:
            dataset: a dataset of scalar strings.

        Raises:
            TypeError: it is something else.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(f"TFRecordWriter: a Dataset is expected; got {dataset!r} of type {type(dataset).__name__}.")
        spec = dataset._stage.spec()
        if not isinstance(spec, ComponentSpec) or spec.dtype is not string or spec.shape.ndims not in (0, None):
            shown = f"{dataset.output_types} of shape {dataset.output_shapes}"
            raise TypeError(f"TFRecordWriter: the elements must be scalar strings; they are {shown}.")
        name = self._filename.numpy() if isinstance(self._filename, Tensor) else self._filename
        with TFRecordWriter(os.fsdecode(name), self._compression) as writer:
            for record in dataset:
                writer.write(record)
