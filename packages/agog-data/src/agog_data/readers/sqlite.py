"""SQLite databases: the rows of a query."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from agog_core import DType, TensorShape, as_dtype, dtypes, errors
from agog_core.files import is_url
from agog_data.dataset import Dataset
from agog_data.elements import ComponentSpec
from agog_data.files import opened
from agog_data.readers.element_stream import Array, ElementStream, Parts, text

_INTEGERS = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16)
_DTYPES = (*_INTEGERS, dtypes.float32, dtypes.float64, dtypes.bool_, dtypes.string)


class SqlDataset(Dataset):
    """The rows that a query finds in a SQLite database, as tuples of scalars.

    The database is only read: a query that would write, attach another database or change a setting is refused. As in
    TensorFlow, a null is zero, False or the empty string; a query says otherwise with ``ifnull(column, value)``. To
    resume an iterator, the query is made again and as many rows are skipped, so it should have an ``ORDER BY``.

    Args:
        driver_name: ``"sqlite"``, the only one.
        data_source_name: the database's path.
        query: a statement that gives rows.
        output_types: a tuple with the dtype of each column: int8, int16, int32, int64, uint8, uint16, float32, float64,
            bool or string.

    Raises:
        NotFoundError: there is no such file.
        TypeError: ``output_types`` is no tuple of dtypes.
        InvalidArgumentError: the driver is another one, or a dtype is none of these. So does iterating if the query
            fails or does more than read, if the numbers of columns and dtypes differ, or at a value outside its dtype.

    >>> import sqlite3, tempfile
    >>> from agog_core import int32, string
    >>> path = tempfile.mkdtemp() + "/people.db"
    >>> with closing(sqlite3.connect(path)) as database, database:
    ...     _ = database.execute("CREATE TABLE people (name TEXT, age INTEGER)")
    ...     _ = database.executemany("INSERT INTO people VALUES (?, ?)", [("Ada", 36), ("Alan", 41)])
    >>> query = "SELECT name, age FROM people ORDER BY age DESC"
    >>> for name, age in SqlDataset("sqlite", path, query, (string, int32)):
    ...     print(name.numpy(), age.numpy())
    b'Alan' 41
    b'Ada' 36
    """

    def __init__(self, driver_name: str, data_source_name: Any, query: str, output_types: Any) -> None:
        if driver_name != "sqlite":
            raise errors.InvalidArgumentError(f"SqlDataset: the only driver is 'sqlite'; got {driver_name!r}.")
        if not isinstance(output_types, tuple) or not output_types:
            raise TypeError(f"SqlDataset: output_types must be a tuple of dtypes; got {output_types!r}.")
        columns = [as_dtype(each) for each in output_types]
        for number, dtype in enumerate(columns):
            if dtype not in _DTYPES:
                names = ", ".join(each.name for each in _DTYPES)
                raise errors.InvalidArgumentError(
                    f"SqlDataset: column {number} is to have dtype {dtype.name}; columns have {names}."
                )
        name = os.fsdecode(data_source_name)
        if is_url(name):
            raise errors.UnimplementedError(
                f"SqlDataset: {name!r} is a URL, and SQLite reads files of this machine only; copy it from there, by "
                "tf.io.gfile.copy."
            )
        with opened(name):  # SQLite would say less of why it cannot
            pass
        super().__init__(_Query(name, query, columns))


class _Query(ElementStream):
    def __init__(self, name: str, query: str, columns: list[DType]) -> None:
        super().__init__("sql", [name])
        self._query = query
        self._columns = columns

    def spec(self) -> Any:
        return tuple([ComponentSpec(dtype, TensorShape([])) for dtype in self._columns])

    def read(self, file: int, position: int) -> Parts:
        import sqlite3

        from agog_data.readers.sqlite_access import Access

        makers = [_maker(dtype) for dtype in self._columns]
        access: Access | None = None
        where = Path(self.files[file]).absolute().as_uri() + "?mode=ro"
        try:
            # An iterator may be asked on one thread and, in turn, on another.
            connection = sqlite3.connect(where, uri=True, check_same_thread=False, isolation_level=None)
            with closing(connection) as database:
                access = Access(database)
                database.text_factory = bytes
                rows = database.execute(self._query)
                found = len(rows.description or ())
                if found != len(makers):
                    raise self._error(f"the query gives {found} columns, and output_types has {len(makers)}")
                for number, row in enumerate(rows):
                    if number >= position:
                        columns = enumerate(zip(row, makers, strict=True))
                        yield [self._value(number, *each) for each in columns], number + 1
        except (sqlite3.Error, sqlite3.Warning) as error:
            if access is not None and access.refused is not None:
                raise self._error(
                    f"the query {self._query!r} is refused, because a query may only read: {access.refused}"
                ) from error
            raise self._error(f"the query {self._query!r} failed: {str(error).rstrip('.')}") from error

    def _value(self, row: int, column: int, pair: tuple[Any, Callable[[Any], Array]]) -> Array:
        value, make = pair
        try:
            return make(value)
        except (ValueError, OverflowError, TypeError):
            raise self._error(
                f"row {row}, column {column} holds {value!r}, which is no {self._columns[column].name}"
            ) from None

    def _error(self, reason: str) -> errors.InvalidArgumentError:
        return errors.InvalidArgumentError(f"SqlDataset: {self.files[0]}: {reason}.")


def _maker(dtype: DType) -> Callable[[Any], Array]:
    """A function from a column's value (None, int, float or bytes) to an array."""
    if dtype is dtypes.string:
        return lambda value: text(b"" if value is None else value if type(value) is bytes else str(value).encode())
    if dtype is dtypes.bool_:
        return lambda value: np.array(bool(_number(value)))
    if dtype in _INTEGERS:
        return lambda value: np.array(_whole(value), dtype.numpy_dtype)
    return lambda value: np.array(_number(value), dtype.numpy_dtype)


def _number(value: Any) -> Any:
    if type(value) is bytes:
        raise TypeError
    return 0 if value is None else value


def _whole(value: Any) -> int:
    number = _number(value)
    if number != int(number):
        raise ValueError
    return int(number)
