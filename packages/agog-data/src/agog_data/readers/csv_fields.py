"""CSV fields: records to fields, and fields to numbers.

The format: Y. Shafranovich, "Common Format and MIME Type for Comma-Separated Values (CSV) Files", RFC 4180, 2005.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from agog_core import DType, Tensor, TensorLike, as_dtype, constant, dtypes
from agog_core.dispatch.devices.lookup import current_device
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.convert import at_each_run, convert_to_tensor, from_host


class Words(NamedTuple):
    """The errors for badly quoted fields, in TensorFlow's words, which programs match."""

    inside: str
    after: str
    open: str


_OF_RECORDS = Words(
    inside="Unquoted fields cannot have quotes/CRLFs inside",
    after="Quoted field has to end with quote followed by delim, CRLF, or EOF",
    open="Quoted field has to end with quote followed by delim, CRLF, or EOF",
)
OF_FILES = Words(
    inside="Unquoted fields cannot have quotes inside",
    after="Quote inside a string has to be escaped by another quote",
    open="Reached end of file without closing quoted field in record",
)
_INTEGERS = {dtypes.int32: 2**31, dtypes.int64: 2**63}
_DTYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """Make a tensor of each column of comma-separated values.

    Args:
        records: strings of any shape, each a record: a line without its end.
        record_defaults: for each column what stands in for an empty field: a scalar or a vector of one element; its
            dtype (float32, float64, int32, int64 or string) is that of the column. An empty vector for a column that
            must not be empty.
        field_delim: the character between fields.
        use_quote_delim: whether fields may be in double quotes, within which two quotes stand for one.
        na_value: what stands for an empty field besides nothing.
        select_cols: the numbers of the columns to take, rising; None for all.

    Returns:
        A tensor for each column, of the shape of ``records``.

    Raises:
        ValueError: the selected columns do not rise, or are not as many as the defaults.
        InvalidArgumentError: a record has another number of fields, is badly quoted, or a field is missing or is no
            number; the text names the record and the field.

    >>> [column.numpy().tolist() for column in decode_csv(["1,a", ",b"], [[7], [""]])]
    [[1, 7], [b'a', b'b']]
    """
    columns = CsvColumns("decode_csv", record_defaults, field_delim, use_quote_delim, na_value, select_cols)
    tensor = records if isinstance(records, Tensor) else constant(records)
    if tensor.dtype is not dtypes.string:
        raise InvalidArgumentError(f"decode_csv: records must hold strings; got dtype {tensor.dtype.name}.")
    return at_each_run(lambda tensor: _decoded(tensor, columns), tensor)


def _decoded(tensor: Tensor, columns: CsvColumns) -> list[Tensor]:
    rows = []
    for number, record in enumerate(tensor._host().reshape(-1).tolist()):
        try:
            if not record:
                raise ValueError(f"Expect {len(columns.dtypes)} fields but have 0 in record {number}: it is empty")
            rows.append(columns.values(record, f"record {number}"))
        except ValueError as error:
            raise InvalidArgumentError(f"decode_csv: record {number}: {error}.") from None
    found = []
    for position, dtype in enumerate(columns.dtypes):
        host = np.empty(len(rows), dtype.numpy_dtype)
        with np.errstate(over="ignore"):  # a large number is an infinite float32
            host[:] = [row[position] for row in rows]
        found.append(from_host(host.reshape(tensor._shape), current_device().table(dtype)))
    return found


class CsvColumns:
    """How the fields of records become values; ``function`` is the public name, for errors. Other arguments, and what
    is raised: see `decode_csv`. A default may also be a dtype, for a column that must not be empty."""

    def __init__(
        self,
        function: str,
        record_defaults: Sequence[Any],
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Sequence[int] | None = None,
        words: Words = _OF_RECORDS,
    ) -> None:
        delimiter = field_delim.encode()
        if len(delimiter) != 1 or delimiter in b'"\r\n':
            raise InvalidArgumentError(
                f"{function}: field_delim must be one character, no quote and no line end; got {field_delim!r}."
            )
        self._delimiter = delimiter
        self._quotes = bool(use_quote_delim)
        self._words = words
        self._missing = {b"", na_value.encode()}
        defaults = [_default(function, number, value) for number, value in enumerate(record_defaults)]
        self.dtypes = [dtype for dtype, _ in defaults]
        self._selected = None if select_cols is None else [int(number) for number in select_cols]
        if self._selected is not None:
            _check_selected(function, self._selected, len(defaults))
        self._converters = [converter(dtype) for dtype in self.dtypes]
        self._defaults = [default for _, default in defaults]

    def goes_on(self, line: bytes) -> bool:
        """Whether a line ends within quotes, so that its record has more lines."""
        try:
            if self._quotes:
                split_record(line.rstrip(b"\r\n"), self._delimiter, True)
        except _OpenQuoteError:
            return True
        except ValueError:  # what is wrong with the line is said when its values are asked for
            pass
        return False

    def values(self, record: bytes, place: str = "record") -> list[Any]:
        """The numbers and bytes of a record without its end. Raises ValueError if it does not fit, by the words of
        TensorFlow, which programs look for: ``place`` is the record's name."""
        fields = split_record(record, self._delimiter, self._quotes, self._words)
        numbers: Sequence[int] = range(len(self.dtypes)) if self._selected is None else self._selected
        if self._selected is None and len(fields) != len(numbers):
            count = f"more in {place}: {len(fields)}" if len(fields) > len(numbers) else f"{len(fields)} in {place}"
            raise ValueError(f"Expect {len(numbers)} fields but have {count}")
        if self._selected and len(fields) <= numbers[-1]:
            found_of_them = sum(number < len(fields) for number in numbers)
            raise ValueError(
                f"Expect {len(numbers)} fields but have {found_of_them} in {place}: field {numbers[-1]} is selected; "
                f"there are {len(fields)} fields, the first is 0"
            )
        found = []
        for number, convert, default in zip(numbers, self._converters, self._defaults, strict=True):
            field = fields[number]
            if field in self._missing:
                if default is None:
                    raise ValueError(f"Field {number} is required but missing in {place}! The first field is 0")
                found.append(default)
                continue
            try:
                found.append(convert(field))
            except ValueError as error:
                raise ValueError(f"Field {number} in {place} is {error}: the first field is 0") from None
        return found


def split_record(record: bytes, delimiter: bytes, quotes: bool, words: Words = _OF_RECORDS) -> list[bytes]:
    """The fields, without quotes, of a record without its end.

    Raises ValueError if quotes are not closed, or not where they may be.

    >>> split_record(b'1,"two, 2",', b",", True)
    [b'1', b'two, 2', b'']
    """
    if not quotes or b'"' not in record:
        if b"\n" in record or b"\r" in record:
            raise ValueError(f"{words.inside}: there is a line end in a field")
        return record.split(delimiter)
    fields = []
    start = 0
    while True:
        if record[start : start + 1] == b'"':
            end = _closing_quote(record, start + 1, words)
            fields.append(record[start + 1 : end].replace(b'""', b'"'))
            end += 1
        else:
            end = record.find(delimiter, start) % (len(record) + 1)
            fields.append(record[start:end])
            if any(each in fields[-1] for each in (b'"', b"\n", b"\r")):
                raise ValueError(f"{words.inside}: look at field {len(fields) - 1}")
        if end == len(record):
            return fields
        if record[end : end + 1] != delimiter:
            raise ValueError(f"{words.after}: field {len(fields) - 1} goes on after it")
        start = end + 1


class _OpenQuoteError(ValueError):
    """A record ends within quotes."""


def _closing_quote(record: bytes, start: int, words: Words) -> int:
    while True:
        end = record.find(b'"', start)
        if end < 0:
            raise _OpenQuoteError(f"{words.open}: one is not closed")
        if record[end + 1 : end + 2] != b'"':
            return end
        start = end + 2


def _check_selected(function: str, selected: Sequence[int], defaults: int) -> None:
    fault = None
    if len(selected) != defaults:
        fault = "Length of select_cols and record_defaults do not match."
    elif min(selected, default=0) < 0:
        fault = "select_cols contains negative values."
    elif list(selected) != sorted(set(selected)):
        fault = "select_cols is not strictly increasing."
    if fault is not None:
        raise ValueError(f"{function}: {fault} Got {list(selected)}, for {defaults} record_defaults.")


def _default(function: str, number: int, value: Any) -> tuple[DType, Any]:
    """The dtype of a column, and its default; None if it has none."""
    if isinstance(value, (DType, type)):
        dtype, host = as_dtype(value), np.empty(0)
    else:
        tensor = convert_to_tensor(value)
        dtype, host = tensor.dtype, tensor._host()
    if host.ndim > 1:
        raise InvalidArgumentError(
            f"{function}: Each record default should be at most rank 1. That of column {number} has shape {host.shape}."
        )
    if dtype not in _DTYPES or host.size > 1:
        raise InvalidArgumentError(
            f"{function}: the default of column {number} must be of dtype float32, float64, int32, int64 or string, "
            f"and have at most one element; got dtype {dtype.name} and shape {host.shape}."
        )
    return dtype, host.item() if host.size else None


def converter(dtype: DType) -> Callable[[bytes], Any]:
    """Make the function that makes a value of a field: float32, float64, int32, int64 or string.

    It raises ValueError if the field is no such value.

    >>> converter(dtypes.int32)(b" 12 ")
    12
    """
    if dtype is dtypes.string:
        return bytes
    if dtype in _INTEGERS:
        limit = _INTEGERS[dtype]

        def convert(field: bytes) -> Any:
            try:
                number = int(field)
            except ValueError:
                number = limit
            if not -limit <= number < limit or b"_" in field:
                raise ValueError(f"not a valid {dtype.name}: {field.decode(errors='replace')}")
            return number

        return convert

    def convert_float(field: bytes) -> Any:
        try:
            if b"_" not in field:
                return float(field)
        except ValueError:
            pass
        name = "float" if dtype is dtypes.float32 else "double"
        raise ValueError(f"not a valid {name}: {field.decode(errors='replace')}")

    return convert_float
