"""CSV examples: features and a target in each row, for ``tf.contrib.learn``."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agog_core import errors
from agog_core.calls.docstrings import documented_like
from agog_data.arguments import integer
from agog_data.datasets.fetching import get_file
from agog_data.datasets.npz import Array
from agog_data.files import PathLike, opened

__all__ = ["Dataset", "load_csv_with_header", "load_csv_without_header", "maybe_download"]


class Dataset(NamedTuple):
    """Examples.

    Attributes:
        data: the features, of shape (n, features).
        target: what is to be predicted, of shape (n,).
    """

    data: Array
    target: Array


def load_csv_with_header(
    filename: PathLike, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Read a file whose first row begins with the numbers of examples and of features.

    Args:
        filename: the file's path.
        target_dtype: the dtype of the target.
        features_dtype: the dtype of the features.
        target_column: which field of a row is the target.

    Returns:
        A named tuple ``(data, target)``, of shape (n, features) and (n,).

    Raises:
        NotFoundError: there is no such file.
        DataLossError: it has other rows than the first one says, or fields that are not of these dtypes.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "own.csv"
    >>> _ = file.write_text("2,3,red,blue\\n1.5,2,3,0\\n4,5,6,1\\n")
    >>> load_csv_with_header(file, int, float).target
    array([0, 1])
    """
    name = "load_csv_with_header"
    rows = _rows(name, filename)
    header = rows[0] if rows else []
    try:
        count, features = int(header[0]), int(header[1])
    except (IndexError, ValueError):
        raise errors.DataLossError(
            f"{name}: {filename}: line 1: the numbers of examples and of features are expected first; it is {header}."
        ) from None
    if len(rows) - 1 != count:
        raise errors.DataLossError(f"{name}: {filename}: line 1 says {count} examples; there are {len(rows) - 1}.")
    return _examples(name, filename, rows[1:], 2, features, target_dtype, features_dtype, target_column)


@documented_like(load_csv_with_header)
def load_csv_without_header(
    filename: PathLike, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Read a file all of whose rows are examples.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: it has no rows, rows of several lengths, or fields that are not of these dtypes.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "own.csv"
    >>> _ = file.write_text("0,1.5,2\\n1,4,5\\n")
    >>> load_csv_without_header(file, int, float, target_column=0).data.tolist()
    [[1.5, 2.0], [4.0, 5.0]]
    """
    name = "load_csv_without_header"
    rows = _rows(name, filename)
    if not rows:
        raise errors.DataLossError(f"{name}: {filename}: there are no rows.")
    return _examples(name, filename, rows, 1, len(rows[0]) - 1, target_dtype, features_dtype, target_column)


def maybe_download(filename: str, work_directory: PathLike, source_url: str) -> str:
    """Fetch a file into a folder, if it is not there yet.

    Args:
        filename: its name there.
        work_directory: the folder, which is made.
        source_url: its address.

    Returns:
        Its path.

    Raises:
        UnavailableError: it cannot be fetched.
        PermissionDeniedError: the folder cannot be written.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "own.csv").write_text("1,2")
    >>> maybe_download("own.csv", folder, "https://example.org/own.csv") == str(folder / "own.csv")
    True
    """
    return get_file(filename, source_url, cache_subdir=Path(work_directory).absolute())


def _rows(function: str, filename: PathLike) -> list[list[str]]:
    with opened(str(filename)) as stream, io.TextIOWrapper(stream, "utf-8", newline="") as text:
        try:
            return [row for row in csv.reader(text) if row]
        except (csv.Error, UnicodeDecodeError) as error:
            raise errors.DataLossError(f"{function}: {filename}: it is no CSV file: {error}.") from error


def _examples(
    function: str, filename: PathLike, rows: list[list[str]], first: int, features: int, *kinds: Any
) -> Dataset:
    target_dtype, features_dtype, target_column = np.dtype(kinds[0]), np.dtype(kinds[1]), kinds[2]
    column = integer(function, "target_column", target_column)
    if not -features - 1 <= column <= features:
        raise errors.InvalidArgumentError(
            f"{function}: target_column must be from {-features - 1} to {features}; got {column}."
        )
    data, target = [], []
    for number, row in enumerate(rows, first):
        if len(row) != features + 1:
            raise errors.DataLossError(
                f"{function}: {filename}: row {number}: {features} features and a target are expected; it has "
                f"{len(row)} fields."
            )
        try:
            target.append(np.array(row.pop(column), target_dtype))
            data.append(np.array(row, features_dtype))
        except (ValueError, OverflowError) as error:
            raise errors.DataLossError(f"{function}: {filename}: row {number}: {error}.") from error
    return Dataset(np.array(data, features_dtype).reshape(len(rows), features), np.array(target, target_dtype))
