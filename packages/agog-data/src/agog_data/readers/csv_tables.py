"""CSV tables: batches of named columns, from files of comma-separated values."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from agog_core import DType, convert_to_tensor, dtypes
from agog_core.files import find
from agog_data.dataset import Dataset
from agog_data.readers.csv_fields import CsvColumns, converter, split_record
from agog_data.readers.csv_files import CsvDataset, read_record
from agog_data.readers.streams import ByteStream, Damage, compression, most_bytes

# A column is of the first of these that all its fields are of.
_INFERRED = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)
_FUNCTION = "make_csv_dataset"


def make_csv_dataset(
    file_pattern: Any,
    batch_size: Any,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: Any = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = 1,
    num_parallel_reads: Any = 1,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    *,
    max_bytes: int | None = None,
) -> Dataset:
    """A dataset of batches of named columns, from files of comma-separated values.

    Args:
        file_pattern: a path with ``*``, ``?`` and ``[...]``, or a list of such.
        batch_size: how many records are in a batch.
        column_names: the names of all columns; None to read them from the first record of the first file.
        column_defaults: for each selected column what `CsvDataset` takes; None to infer dtypes from the first records:
            int32, int64, float32, float64 or string, with zero or an empty string for empty fields.
        label_name: the name of the column that is the label; None for none.
        select_columns: the numbers or names of the columns to take; None for all.
        field_delim: the character between fields.
        use_quote_delim: whether fields may be in double quotes.
        na_value: what stands for an empty field besides nothing.
        header: whether the first record of each file has the names.
        num_epochs: how many times the records are repeated; None for no end. Only then the last batch is full.
        shuffle: whether the records are shuffled.
        shuffle_buffer_size, shuffle_seed: see `Dataset.shuffle`.
        prefetch_buffer_size: how many batches are read ahead.
        num_parallel_reads: how many files are read in turns.
        num_rows_for_inference: how many records dtypes are inferred from; None for all.
        compression_type: ``"GZIP"``, ``"ZLIB"``, or ``""`` or None for no compression.
        max_bytes: how many bytes a record may have; see `CsvDataset`.

    Returns:
        A dataset of dicts of tensors of shape (batch_size,), or, with a label, of pairs of a dict and a tensor.

    Raises:
        ValueError: there is no such file, the names of two files differ, or an argument names no column.
        DataLossError: the compression of a file is broken.
        ResourceExhaustedError: a record is too long.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/table.csv"
    >>> with open(path, "w") as file:
    ...     _ = file.write("x,y,kind\\n1,0.5,a\\n2,1.5,b\\n")
    >>> for features, label in make_csv_dataset(path, 2, label_name="kind", num_epochs=1, shuffle=False):
    ...     print(features["x"].numpy(), features["y"].numpy(), label.numpy())
    [1 2] [0.5 1.5] [b'a' b'b']
    """
    files = sorted(find([os.fspath(pattern) for pattern in _listed(file_pattern)]))
    if not files:
        raise ValueError(f"{_FUNCTION}: no file matches {file_pattern!r}.")
    most = most_bytes(_FUNCTION, max_bytes)
    kind = compression(_FUNCTION, compression_type)
    table = _Table(files, field_delim, use_quote_delim, na_value, header, kind, most)
    names = table.names() if column_names is None else list(column_names)
    if len(set(names)) < len(names):
        raise ValueError(f"{_FUNCTION}: the names of columns must differ; they are {names}.")
    selected = _selected(names, select_columns)
    chosen = [names[number] for number in selected]
    if label_name is not None and label_name not in chosen:
        raise ValueError(f"{_FUNCTION}: label_name must be one of {chosen}; got {label_name!r}.")
    if column_defaults is None:
        column_defaults = table.infer(len(names), selected, num_rows_for_inference)
    dataset: Dataset = CsvDataset(
        files,
        column_defaults,
        compression_type,
        header=header,
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=selected,
        num_parallel_reads=num_parallel_reads,
        max_bytes=most,
    )
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    dataset = dataset.repeat(num_epochs).batch(batch_size, drop_remainder=num_epochs is None)

    def named(*columns: Any) -> Any:
        features = OrderedDict(zip(chosen, columns, strict=True))
        return features if label_name is None else (features, features.pop(label_name))

    return dataset.map(named).prefetch(prefetch_buffer_size)


def _listed(file_pattern: Any) -> Sequence[Any]:
    return file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]


def _selected(names: list[str], select_columns: Sequence[Any] | None) -> list[int]:
    if select_columns is None:
        return list(range(len(names)))
    for column in select_columns:
        if column not in (names if isinstance(column, str) else range(len(names))):
            raise ValueError(f"{_FUNCTION}: select_columns has {column!r}; the {len(names)} columns are {names}.")
    numbers = sorted({names.index(column) if isinstance(column, str) else int(column) for column in select_columns})
    if len(numbers) < len(select_columns):
        raise ValueError(f"{_FUNCTION}: select_columns has a column twice: {list(select_columns)}.")
    return numbers


class _Table:
    """Files of one table, of which only the first records are read."""

    def __init__(
        self,
        files: list[str],
        field_delim: str,
        quotes: bool,
        na_value: str,
        header: bool,
        compression_type: str,
        most: int,
    ) -> None:
        self._files = files
        self._delimiter = field_delim.encode()
        self._quotes = quotes
        self._missing = {b"", na_value.encode()}
        self._header = header
        self._compression = compression_type
        self._most = most
        self._format = CsvColumns(_FUNCTION, [], field_delim, quotes)

    def names(self) -> list[str]:
        """The names of the columns, which all files have."""
        if not self._header:
            raise ValueError(f"{_FUNCTION}: column_names must be given for files without a header.")
        first = self._names_of(self._files[0])
        for file in self._files[1:]:
            if (names := self._names_of(file)) != first:
                raise ValueError(
                    f"{_FUNCTION}: all files must have the same columns; {self._files[0]} has {first} and {file} has "
                    f"{names}."
                )
        return first

    def _names_of(self, file: str) -> list[str]:
        record = self._read(ByteStream(_FUNCTION, file, self._compression))
        if record is None:
            raise ValueError(f"{_FUNCTION}: {file} has no header; it is empty.")
        return [field.decode() for field in split_record(record, self._delimiter, self._quotes)]

    def _read(self, stream: ByteStream) -> bytes | None:
        begin = stream.offset
        try:
            return read_record(stream, self._format, self._most)
        except Damage as damage:
            raise damage.error(f"{_FUNCTION}: {stream.path}: at byte {begin}: {damage.reason}.") from damage

    def infer(self, count: int, selected: list[int], rows: int | None) -> list[Any]:
        """The default of each selected column, of the dtype that the first records have."""
        kinds = [0] * len(selected)
        for file in self._files:
            stream = ByteStream(_FUNCTION, file, self._compression)
            if self._header:
                self._read(stream)
            while rows is None or rows > 0:
                record = self._read(stream)
                if record is None:
                    break
                fields = split_record(record, self._delimiter, self._quotes)
                if len(fields) != count:
                    raise ValueError(f"{_FUNCTION}: {file} has a record of {len(fields)} fields; {count} are expected.")
                for position, number in enumerate(selected):
                    if fields[number] not in self._missing:
                        kinds[position] = _kind(fields[number], kinds[position])
                rows = None if rows is None else rows - 1
        return [_empty(_INFERRED[kind]) for kind in kinds]


def _empty(dtype: DType) -> Any:
    return convert_to_tensor("" if dtype is dtypes.string else 0, dtype)


def _kind(field: bytes, kind: int) -> int:
    """The number of the first dtype, not before ``kind``, that a field is of."""
    while not _is_of(field, _INFERRED[kind]):
        kind += 1
    return kind


def _is_of(field: bytes, dtype: DType) -> bool:
    try:
        value = converter(dtype)(field)
    except ValueError:
        return False
    # A number beyond float32 is one of float64.
    return dtype is not dtypes.float32 or abs(value) <= 3.4e38 or abs(value) == float("inf") or value != value
