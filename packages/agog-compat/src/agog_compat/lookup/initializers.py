"""Initializers: the keys and values of tables, from tensors or a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_compat.gfile import GFile
from agog_core import DType, Tensor, as_dtype, convert_to_tensor, int64, string
from agog_core.calls.docstrings import documented_like
from agog_core.errors import InvalidArgumentError

__all__ = [
    "KeyValueTensorInitializer",
    "TableInitializerBase",
    "TextFileIdTableInitializer",
    "TextFileIndex",
    "TextFileInitializer",
    "TextFileStringTableInitializer",
]


class TableInitializerBase:
    """Base of what gives tables their keys and values.

    Args:
        key_dtype: the dtype of the keys.
        value_dtype: the dtype of the values.
    """

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self.key_dtype: DType = as_dtype(key_dtype)
        self.value_dtype: DType = as_dtype(value_dtype)

    def entries(self) -> tuple[Tensor, Tensor]:
        """The keys and the values.

        Returns:
            Two vectors of one length.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method entries.")


class KeyValueTensorInitializer(TableInitializerBase):
    """Keys and values from two vectors.

    Args:
        keys: the keys.
        values: as many values.
        key_dtype: the dtype to convert the keys to.
        value_dtype: the dtype to convert the values to.

    Raises:
        ValueError: there is not a value for each key.

    >>> KeyValueTensorInitializer(["a", "b"], [1, 2]).value_dtype
    tf.int32
    """

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: str | None = None
    ) -> None:
        self._keys = convert_to_tensor(keys, key_dtype)
        self._values = convert_to_tensor(values, value_dtype)
        if self._keys.shape != self._values.shape:
            raise ValueError(
                "KeyValueTensorInitializer: there must be a value for each key; got keys of shape "
                f"{self._keys.shape} and values of shape {self._values.shape}."
            )
        super().__init__(self._keys.dtype, self._values.dtype)

    def entries(self) -> tuple[Tensor, Tensor]:
        return self._keys, self._values


class TextFileIndex:
    """What of each line of a file is a key or a value, where it is no column.

    >>> TextFileIndex.WHOLE_LINE, TextFileIndex.LINE_NUMBER
    (-2, -1)
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(TableInitializerBase):
    """Keys and values from the lines of a file.

    Args:
        filename: the file's path.
        key_dtype: the dtype of the keys.
        key_index: the column of the keys, from 0 on, or a constant of `TextFileIndex`.
        value_dtype: the dtype of the values.
        value_index: the column of the values, or a constant of `TextFileIndex`.
        vocab_size: how many lines the file must have; None for any number. Of a longer file the first are taken.
        delimiter: what separates columns.

    Raises:
        ValueError: a dtype does not fit what is taken of the lines: numbers of lines are int64, and whole lines strings
            or integers.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("emerson\\nlake\\n"), file.flush()
    ...     made = TextFileInitializer(
    ...         file.name, "string", TextFileIndex.WHOLE_LINE, "int64", TextFileIndex.LINE_NUMBER
    ...     )
    ...     print(made.entries()[0])
    tf.Tensor([b'emerson' b'lake'], shape=(2,), dtype=string)
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._file = filename
        self._columns = (key_index, self.key_dtype), (value_index, self.value_dtype)
        self._size, self._delimiter = vocab_size, delimiter
        if not (isinstance(filename, Tensor) or filename):
            raise ValueError("TextFileInitializer: a filename is required.")
        if vocab_size is not None and vocab_size < 1:
            raise ValueError(f"TextFileInitializer: vocab_size must be positive or None; got {vocab_size}.")
        for what, (index, dtype) in zip(("key", "value"), self._columns, strict=True):
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"TextFileInitializer: the {what}'s index must be -2 or more; got {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype is not int64:
                raise ValueError(f"TextFileInitializer: numbers of lines are int64, but {what}_dtype is {dtype.name}.")
            if index == TextFileIndex.WHOLE_LINE and not (dtype is string or dtype.is_integer):
                raise ValueError(
                    f"TextFileInitializer: whole lines are strings or integers, but {what}_dtype is {dtype.name}."
                )

    def entries(self) -> tuple[Tensor, Tensor]:
        """See `TableInitializerBase.entries`.

        Raises:
            InvalidArgumentError: the file has fewer lines than it must, or a line has fewer columns, or no number where
                one is needed.
        """
        path = self._file.numpy() if isinstance(self._file, Tensor) else self._file
        with GFile(path, "rb") as file:
            lines = file.read().splitlines()
        if self._size is not None and len(lines) < self._size:
            raise InvalidArgumentError(
                f"TextFileInitializer: {path!r} must have {self._size} lines, by vocab_size; it has {len(lines)}."
            )
        found = [self._column(path, lines[: self._size], *column) for column in self._columns]
        return found[0], found[1]

    def _column(self, path: Any, lines: list[bytes], index: int, dtype: DType) -> Tensor:
        if index == TextFileIndex.LINE_NUMBER:
            return convert_to_tensor(np.arange(len(lines)), int64)
        texts = lines
        if index != TextFileIndex.WHOLE_LINE:
            rows = [line.split(self._delimiter.encode()) for line in lines]
            for number, row in enumerate(rows):
                if len(row) <= index:
                    raise InvalidArgumentError(
                        f"TextFileInitializer: line {number} of {path!r} has {len(row)} columns, but column {index} is "
                        f"asked for; the delimiter is {self._delimiter!r}."
                    )
            texts = [row[index] for row in rows]
        if dtype is string:
            return convert_to_tensor(np.array(texts, object), string)
        kind = int if dtype.is_integer else float
        try:
            return convert_to_tensor(np.array([kind(text) for text in texts], dtype.as_numpy_dtype), dtype)
        except ValueError as error:
            raise InvalidArgumentError(f"TextFileInitializer: {path!r} must hold {dtype.name}: {error}.") from error


class TextFileStringTableInitializer(TextFileInitializer):
    """Numbers of lines as keys and the lines as values.

    Args:
        filename: the file's path.
        key_column_index: the column of the keys, or a constant of `TextFileIndex`.
        value_column_index: the column of the values, or a constant of `TextFileIndex`.
        vocab_size: how many lines the file must have; None for any number.
        delimiter: what separates columns.

    >>> TextFileStringTableInitializer("words.txt").value_dtype
    tf.string
    """

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
    ) -> None:
        super().__init__(filename, int64, key_column_index, string, value_column_index, vocab_size, delimiter)


@documented_like(TextFileStringTableInitializer)
class TextFileIdTableInitializer(TextFileInitializer):
    """The lines as keys and their numbers as values.

    Args:
        key_dtype: the dtype of the keys.

    >>> TextFileIdTableInitializer("words.txt").value_dtype
    tf.int64
    """

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        key_dtype: Any = string,
    ) -> None:
        super().__init__(filename, key_dtype, key_column_index, int64, value_column_index, vocab_size, delimiter)
