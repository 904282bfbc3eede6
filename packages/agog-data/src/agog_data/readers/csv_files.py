"""CSV files: their records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_core.errors import InvalidArgumentError
from agog_core.shapes import TensorShape, intern_shape
from agog_core.tensors.tensor import wrap
from agog_data.arguments import positive
from agog_data.dataset import Dataset
from agog_data.elements import ComponentSpec, Element
from agog_data.readers.csv_fields import OF_FILES, CsvColumns
from agog_data.readers.files import Files, Format, RecordFile, paths
from agog_data.readers.streams import ByteStream, Damage, TooLong, block_size, compression, most_bytes
from agog_data.stage import Scope


class CsvDataset(Dataset):
    """The records of files of comma-separated values, as tuples of scalars.

    Args:
        filenames: a path, a list or tensor of paths, or a dataset of paths.
        record_defaults: see `decode_csv`; also a dtype, for a column that must not be empty.
        compression_type: ``"GZIP"``, ``"ZLIB"``, or ``""`` or None for no compression.
        buffer_size: how many bytes are read at a time; None for a number chosen here.
        header: whether the first record of each file is left out.
        field_delim: the character between fields.
        use_quote_delim: whether fields may be in double quotes; such fields may hold line ends.
        na_value: what stands for an empty field besides nothing.
        select_cols: the numbers of the columns to take, rising; None for all.
        num_parallel_reads: how many files are read in turns, one record of each; None for one after the other.
        max_bytes: how many bytes a record may have, with its end; None for 2**28, a quarter of a GiB.

    Raises:
        TypeError: the filenames are no strings.
        InvalidArgumentError: another argument is none of its values. So does iterating at a record that does not fit;
            the text names file, record and byte, and the next record can be asked for.
        ResourceExhaustedError: while iterating: a record is longer, as where a quote is never closed. The rest of the
            file is left out.

    >>> import tempfile
    >>> from agog_core import string
    >>> path = tempfile.mkdtemp() + "/table.csv"
    >>> with open(path, "w") as file:
    ...     _ = file.write("name,age\\nAda,36\\nAlan,\\n")
    >>> for name, age in CsvDataset(path, [string, [-1]], header=True):
    ...     print(name.numpy(), age.numpy())
    b'Ada' 36
    b'Alan' -1
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: Any = None,
        buffer_size: Any = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Sequence[int] | None = None,
        num_parallel_reads: Any = None,
        *,
        max_bytes: int | None = None,
    ) -> None:
        name = "CsvDataset"
        columns = CsvColumns(name, record_defaults, field_delim, use_quote_delim, na_value, select_cols, OF_FILES)
        most = most_bytes(name, max_bytes)
        turns = 1 if num_parallel_reads is None else positive(name, "num_parallel_reads", num_parallel_reads)
        format = _CsvFormat(name, columns, bool(header), buffer_size, compression(name, compression_type), most)
        super().__init__(Files(paths(name, filenames), format, turns))


class _CsvFormat(Format):
    def __init__(
        self, name: str, columns: CsvColumns, header: bool, buffer_size: Any, compression_type: str, most: int
    ) -> None:
        super().__init__(name)
        self._columns = columns
        self._header = header
        self._buffer_size = buffer_size
        self._compression = compression_type
        self._most = most

    def open(self, path: str) -> RecordFile:
        size = block_size(self.name, self._buffer_size)
        if self._buffer_size is not None and not self._buffer_size:
            raise InvalidArgumentError(f"{self.name}: buffer_size should be positive; got 0.")
        stream = ByteStream(self.name, path, self._compression, size)
        return _CsvFile(stream, self._columns, self._header, self._most)

    def spec(self) -> Any:
        return tuple([ComponentSpec(dtype, TensorShape([])) for dtype in self._columns.dtypes])

    def maker(self, scope: Scope) -> Callable[[Any], Element]:
        device, shape = scope.device, intern_shape(())
        tables = [(dtype.numpy_dtype, device.table(dtype)) for dtype in self._columns.dtypes]
        columns = [(kind, table.device.from_host, table) for kind, table in tables]

        def make(values: list[Any]) -> Element:
            parts = zip(values, columns, strict=True)
            with np.errstate(over="ignore"):  # a large number is an infinite float32
                return tuple([wrap(put(np.array(x, kind)), table, shape) for x, (kind, put, table) in parts])

        return make


class _CsvFile(RecordFile):
    def __init__(self, stream: ByteStream, columns: CsvColumns, header: bool, most: int) -> None:
        super().__init__(stream)
        self._columns = columns
        self._header = header
        self._most = most

    def read(self) -> list[Any] | None:
        if self._header and not self.stream.offset:
            if read_record(self.stream, self._columns, self._most) is None:
                raise Damage("Can't read header of file: it is empty", error=InvalidArgumentError)
            self.begin = self.stream.offset
        record = read_record(self.stream, self._columns, self._most)
        if record is None:
            return None
        try:
            return self._columns.values(record)
        except ValueError as error:
            raise Damage(str(error), resumes=True, error=InvalidArgumentError) from None


def read_record(stream: ByteStream, columns: CsvColumns, most: int) -> bytes | None:
    """The next record without its end: a line, or more where line ends are in quotes. None at the end of the file.
    Raises `TooLong` where it has more than ``most`` bytes."""
    record = stream.take_line(most + 1)
    if len(record) <= most and b'"' in record and columns.goes_on(record):
        record = _whole(stream, record, most + 1)
    if len(record) > most:
        raise TooLong("record", most)
    return record.removesuffix(b"\n").removesuffix(b"\r") if record else None


def _whole(stream: ByteStream, begin: bytes, most: int) -> bytes:
    """A record whose first line ends within quotes, or the first ``most`` bytes of it. It goes from quote to quote, and
    so takes no step for a line without any."""
    record = bytearray(begin)
    while True:
        inside = stream.take_until(b'"', most - len(record))
        record += inside
        if not inside.endswith(b'"'):
            return bytes(record)
        rest = stream.take_line(most - len(record))
        record += rest
        if rest.count(b'"') % 2 == 0:
            return bytes(record)
