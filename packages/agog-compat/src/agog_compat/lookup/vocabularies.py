"""Vocabularies: tables from words to numbers and back, from a list or a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_compat.lookup.hashing import FastHashSpec, HasherSpec, IdTableWithHashBuckets
from agog_compat.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)
from agog_compat.lookup.tables import HashTable
from agog_core import as_dtype, convert_to_tensor, int64, string
from agog_core.calls.docstrings import documented_like

__all__ = [
    "index_table_from_file",
    "index_table_from_tensor",
    "index_to_string",
    "index_to_string_table_from_file",
    "index_to_string_table_from_tensor",
    "string_to_index",
]


def index_table_from_tensor(
    vocabulary_list: Any = None,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: Any = string,
    name: str | None = None,
    *,
    mapping: Any = None,
) -> Any:
    """A table from words to their places in a list.

    Args:
        vocabulary_list: the words, strings or integers.
        num_oov_buckets: how many further numbers words that are not there get, by their hash.
        default_value: the number that they get where there is none.
        hasher_spec: the hash.
        dtype: the dtype of the words.
        name: the table's name.
        mapping: another name of ``vocabulary_list``.

    Returns:
        A table.

    Raises:
        ValueError: there is no list, a negative number of buckets, or the words are of another kind than ``dtype``.
        TypeError: the words are neither strings nor integers.

    >>> index_table_from_tensor(["emerson", "lake", "palmer"]).lookup(["lake", "and"]).numpy().tolist()
    [1, -1]
    """
    words = vocabulary_list if mapping is None else mapping
    if words is None:
        raise ValueError("index_table_from_tensor: vocabulary_list must be specified.")
    _check_buckets("index_table_from_tensor", num_oov_buckets)
    wanted = as_dtype(dtype)
    if not (wanted is string or wanted.is_integer):
        raise TypeError(f"index_table_from_tensor: only integer and string keys are supported; got {wanted.name}.")
    keys = convert_to_tensor(words)
    if keys.dtype.is_integer != wanted.is_integer or (wanted is string) != (keys.dtype is string):
        raise ValueError(f"index_table_from_tensor: expected words of dtype {wanted.name}; got {keys.dtype.name}.")
    entries = KeyValueTensorInitializer(
        convert_to_tensor(keys.numpy(), wanted), np.arange(keys.size), value_dtype=int64
    )
    return _with_buckets(HashTable(entries, default_value, name=name), num_oov_buckets, hasher_spec)


@documented_like(index_table_from_tensor)
def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: Any = string,
    name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:
    """A table from the lines of a file to their numbers.

    Args:
        vocabulary_file: the file's path.
        vocab_size: how many lines are taken; None for all.
        default_value: the number that other words get where there are no further numbers.
        key_dtype: the dtype of the words, a string or an integer.
        key_column_index: the column of the words, or a constant of `TextFileIndex`.
        value_column_index: the column of the numbers, or a constant of `TextFileIndex`.
        delimiter: what separates columns.

    Raises:
        ValueError: there is no file, a negative number of buckets, or a size that is not positive.
        TypeError: the words are neither strings nor integers.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("emerson\\nlake\\n"), file.flush()
    ...     table = index_table_from_file(file.name, num_oov_buckets=1)
    >>> table.lookup(["lake", "and"]).numpy().tolist()
    [1, 2]
    """
    if isinstance(vocabulary_file, str | bytes | None) and not vocabulary_file:
        raise ValueError("index_table_from_file: vocabulary_file must be specified and must not be empty.")
    _check_buckets("index_table_from_file", num_oov_buckets)
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"index_table_from_file: vocab_size must be greater than 0; got {vocab_size}.")
    wanted = as_dtype(key_dtype)
    if not (wanted is string or wanted.is_integer):
        raise TypeError(f"index_table_from_file: only integer and string keys are supported; got {wanted.name}.")
    entries = TextFileIdTableInitializer(
        vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, key_dtype=wanted
    )
    return _with_buckets(HashTable(entries, default_value, name=name), num_oov_buckets, hasher_spec)


def index_to_string_table_from_tensor(
    vocabulary_list: Any = None, default_value: Any = "UNK", name: str | None = None, *, mapping: Any = None
) -> HashTable:
    """A table from places in a list to the words there.

    Args:
        vocabulary_list: the words.
        default_value: what other numbers get.
        name: the table's name.
        mapping: another name of ``vocabulary_list``.

    Returns:
        A table of int64 keys.

    Raises:
        ValueError: there is no list.

    >>> index_to_string_table_from_tensor(["emerson", "lake"]).lookup([1, 5]).numpy().tolist()
    [b'lake', b'UNK']
    """
    words = vocabulary_list if mapping is None else mapping
    if words is None:
        raise ValueError("index_to_string_table_from_tensor: vocabulary_list must be specified.")
    values = convert_to_tensor(words, string)
    entries = KeyValueTensorInitializer(np.arange(values.size), values, int64)
    return HashTable(entries, default_value, name=name)


@documented_like(index_to_string_table_from_tensor)
def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: int | None = None,
    default_value: Any = "UNK",
    name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> HashTable:
    """A table from the numbers of a file's lines to the lines.

    Args:
        vocabulary_file: the file's path.
        vocab_size: how many lines are taken; None for all.
        key_column_index: the column of the numbers, or a constant of `TextFileIndex`.
        value_column_index: the column of the words, or a constant of `TextFileIndex`.
        delimiter: what separates columns.

    Raises:
        ValueError: there is no file, or a size that is not positive.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("emerson\\nlake\\n"), file.flush()
    ...     table = index_to_string_table_from_file(file.name)
    >>> table.lookup([0, 9]).numpy().tolist()
    [b'emerson', b'UNK']
    """
    if isinstance(vocabulary_file, str | bytes | None) and not vocabulary_file:
        raise ValueError("index_to_string_table_from_file: vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"index_to_string_table_from_file: vocab_size must be greater than 0; got {vocab_size}.")
    entries = TextFileStringTableInitializer(
        vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter
    )
    return HashTable(entries, default_value, name=name)


def string_to_index(tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None) -> Any:
    """The places of words in a list.

    Args:
        tensor: words.
        mapping: the list.
        default_value: what other words get.

    Returns:
        Numbers of int64 in place of the words.

    >>> string_to_index(["b", "z"], ["a", "b"]).numpy().tolist()
    [1, -1]
    """
    return index_table_from_tensor(mapping, default_value=default_value).lookup(tensor)


def index_to_string(tensor: Any, mapping: Any, default_value: Any = "UNK", name: str | None = None) -> Any:
    """The words at places of a list.

    Args:
        tensor: numbers of int64.
        mapping: the list.
        default_value: what other numbers get.

    Returns:
        Words in place of the numbers.

    >>> index_to_string([1, 7], ["a", "b"]).numpy().tolist()
    [b'b', b'UNK']
    """
    return index_to_string_table_from_tensor(mapping, default_value).lookup(tensor)


def _check_buckets(function: str, count: int) -> None:
    if count < 0:
        raise ValueError(f"{function}: num_oov_buckets must be greater or equal than 0; got {count}.")


def _with_buckets(table: HashTable, count: int, hasher_spec: HasherSpec) -> Any:
    return IdTableWithHashBuckets(table, count, hasher_spec) if count else table
