"""Parquet and Arrow IPC files: a row is a dict of tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from agog_core import errors
from agog_core.files import is_url
from agog_data.arguments import positive
from agog_data.dataset import Dataset
from agog_data.extras import missing
from agog_data.files import opened, path_names
from agog_data.readers.arrow_columns import Column, column_spec, filler, same_spec
from agog_data.readers.element_stream import Array, ElementStream, Parts

_PARQUET, _IPC_FILE = b"PAR1", b"ARROW1"
_ROWS = 4096  # of Parquet, decoded at a time


class ArrowDataset(Dataset):
    """The rows of Parquet files, and of files in Arrow's IPC format (also called Feather), in order.

    An element is a dict with a tensor for each column. Numbers and booleans keep their dtypes, strings and binary data
    become strings, and lists become vectors, of a fixed size if the list has one. The files are read as they are
    needed, a part of a row group or a record batch at a time.

    Args:
        paths: a path, or a list or tensor of paths of files with the same columns.
        columns: the names of the columns that are read, in their order; None for all.
        fill: what stands for a null, by the name of the column; in lists, for a null among its numbers. A null in
            another column is an error.
        batch_size: None for rows. A number for batches of that many rows, with fewer at the end of a file; much faster
            than `batch`: rows are never cut out. Lists whose size varies cannot be in batches.

    Raises:
        ImportError: the package pyarrow is not installed.
        NotFoundError: there is no such file, or no such column.
        DataLossError: a file is broken.
        InvalidArgumentError: a column has a type that no tensor has, or ``batch_size`` is below 1; while iterating,
            also: there is a null.

    >>> import tempfile, pyarrow, pyarrow.parquet
    >>> path = f"{tempfile.mkdtemp()}/points.parquet"
    >>> table = pyarrow.table({"x": [1.0, None, 3.0], "name": ["a", "b", "c"]})
    >>> pyarrow.parquet.write_table(table, path)
    >>> for batch in ArrowDataset(path, fill={"x": -1.0}).batch(3):
    ...     print(batch["x"].numpy().tolist(), batch["name"].numpy().tolist())
    [1.0, -1.0, 3.0] [b'a', b'b', b'c']
    """

    def __init__(
        self,
        paths: Any,
        columns: Sequence[str] | None = None,
        fill: Mapping[str, Any] | None = None,
        batch_size: int | None = None,
    ) -> None:
        names = path_names("ArrowDataset", paths)
        chosen, values = None if columns is None else list(columns), dict(fill or {})
        if batch_size is None:
            super().__init__(ArrowRows(names, chosen, values))
        else:
            size = positive("ArrowDataset", "batch_size", batch_size)
            super().__init__(ArrowBatches(names, chosen, values, size))


class ArrowRows(ElementStream):
    """The rows of files; ``columns`` is None for all of the first file, ``fill`` says for columns what stands for a
    null."""

    def __init__(self, files: list[str], columns: list[str] | None, fill: dict[str, Any]) -> None:
        super().__init__("arrow", files)
        with _table(files[0]) as table:
            self._columns = list(table.schema.names) if columns is None else columns
            self._specs = {name: column_spec(files[0], table.schema, name) for name in self._columns}
            if not self._columns or fill.keys() - self._specs.keys():
                raise errors.InvalidArgumentError(
                    f"ArrowDataset: {files[0]}: at least one column, and in fill only columns that are read, are "
                    f"expected; the columns are {self._columns}, and fill has {list(fill)}."
                )
            self._fill = {name: filler(files[0], table.schema, name, value) for name, value in fill.items()}

    def spec(self) -> Any:
        return self._specs

    def read(self, file: int, position: int) -> Parts:
        for begin, rows, columns in self._columns_from(file, position):
            for row in rows:
                yield [column.row(row) for column in columns], begin + row + 1

    def _columns_from(self, file: int, position: int) -> Iterator[tuple[int, range, list[Column]]]:
        """Parts of all columns: the number of their first row in the file, their rows from a position on, and them."""
        name, order = self.files[file], sorted(self._columns)
        with _table(name) as table:
            for column in order:
                found = column_spec(name, table.schema, column)
                same_spec(name, column, found, self.files[0], self._specs[column])
            for begin, batch in table.batches(self._columns, position):
                columns = [Column(name, column, begin, batch[column], self._fill.get(column)) for column in order]
                yield begin, range(max(position - begin, 0), batch.num_rows), columns


class ArrowBatches(ArrowRows):
    """The rows of files, ``size`` at a time."""

    def __init__(self, files: list[str], columns: list[str] | None, fill: dict[str, Any], size: int) -> None:
        super().__init__(files, columns, fill)
        self.name = "arrow_batches"
        self._size = size
        for name, spec in self._specs.items():
            if not spec.shape.is_fully_defined():
                raise errors.InvalidArgumentError(
                    f"ArrowDataset: {files[0]}: the column {name!r} has lists whose size varies, which cannot be in "
                    "batches. Leave out batch_size, or the column with columns=[...]."
                )

    def spec(self) -> Any:
        return {name: spec.batched(None) for name, spec in self._specs.items()}

    def read(self, file: int, position: int) -> Parts:
        parts: list[list[Array]] = []
        missing, end = self._size, position
        for begin, rows, columns in self._columns_from(file, position):
            row = rows.start
            while row < rows.stop:
                stop = min(row + missing, rows.stop)
                parts.append([column.rows(row, stop) for column in columns])
                missing -= stop - row
                row, end = stop, begin + stop
                if not missing:
                    yield _joined(parts), end
                    parts, missing = [], self._size
        if parts:
            yield _joined(parts), end


def _joined(parts: list[list[Array]]) -> list[Array]:
    return parts[0] if len(parts) == 1 else [np.concatenate(column) for column in zip(*parts, strict=True)]


class _Table:
    """An open file, in the format that its first bytes tell."""

    def __init__(self, arrow: Any, source: Any, magic: bytes) -> None:
        self._parquet: Any = None
        self._ipc: Any = None
        if magic.startswith(_PARQUET):
            self._parquet = arrow.parquet.ParquetFile(source)
            self.schema = self._parquet.schema_arrow
        else:
            self._ipc = (arrow.ipc.open_file if magic == _IPC_FILE else arrow.ipc.open_stream)(source)
            self.schema = self._ipc.schema

    def batches(self, columns: list[str], position: int) -> Iterator[tuple[int, Any]]:
        """Record batches from a row on, or from some rows before it on, each with the number of its first row."""
        begin, groups = 0, []
        if self._parquet is not None:
            sizes = [self._parquet.metadata.row_group(group).num_rows for group in range(self._parquet.num_row_groups)]
            groups = list(range(len(sizes)))
            while groups and begin + sizes[groups[0]] <= position:
                begin += sizes[groups.pop(0)]
        for batch in self._ipc_batches() if self._parquet is None else self._parquet_batches(groups, columns):
            if begin + batch.num_rows > position:
                yield begin, batch
            begin += batch.num_rows

    def _ipc_batches(self) -> Iterator[Any]:
        count = getattr(self._ipc, "num_record_batches", None)
        for batch in self._ipc if count is None else map(self._ipc.get_batch, range(count)):
            batch.validate(full=True)  # what was read is not looked at before, and may point anywhere
            yield batch

    def _parquet_batches(self, groups: list[int], columns: list[str]) -> Iterator[Any]:
        for group in groups:  # one after the other, because given together they are all read first
            yield from self._parquet.iter_batches(_ROWS, row_groups=[group], columns=columns, use_threads=False)


@contextmanager
def _table(name: str) -> Iterator[_Table]:
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        missing("ArrowDataset", "pyarrow", "arrow", error)
    with opened(name, local=True) as file:
        magic = file.read(len(_IPC_FILE))
        file.seek(0)
        try:
            if magic.startswith(_PARQUET):
                yield _Table(pyarrow, file, magic)
            else:
                # Mapped, a file cannot have memory allocated for more bytes than it has.
                with pyarrow.memory_map(f"/dev/fd/{file.fileno()}" if is_url(name) else name) as source:
                    yield _Table(pyarrow, source, magic)
        except (pyarrow.ArrowException, OSError, ValueError, LookupError, MemoryError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # the file's, not Arrow's
                raise
            raise errors.DataLossError(f"{name}: it is no whole Parquet or Arrow file: {error}") from error
