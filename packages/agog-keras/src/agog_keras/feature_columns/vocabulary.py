"""Vocabulary: columns of categories from a list or a file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from agog_core import DType, Tensor, as_dtype, as_string, py_func, reshape, string_to_hash_bucket_fast, where
from agog_core.files import file_path, open_file
from agog_keras.feature_columns.categorical import KeyedColumn
from agog_keras.feature_columns.column import checked_key
from agog_keras.feature_columns.features import Entries

__all__ = ["categorical_column_with_vocabulary_file", "categorical_column_with_vocabulary_list"]


def categorical_column_with_vocabulary_list(
    key: str, vocabulary_list: Sequence[Any], dtype: Any = None, default_value: int = -1, num_oov_buckets: int = 0
) -> VocabularyColumn:
    """Make a column of categories that a list names.

    Args:
        key: the feature's key. In a tensor, an empty string and -1 stand for no category.
        vocabulary_list: strings or integers; the first one has the number 0.
        dtype: ``"string"`` or an integer's; None for the list's.
        default_value: the number of all others; -1 for no category.
        num_oov_buckets: how many further categories others have, by their hash; not together with a default value.

    Returns:
        A categorical column.

    Raises:
        ValueError: the key is no string; the list is empty, has something twice, or is of another dtype; or both a
            default value and buckets are given.

    >>> from agog_keras.feature_columns import DenseFeatures, indicator_column
    >>> column = indicator_column(categorical_column_with_vocabulary_list("color", ["red", "green"], num_oov_buckets=1))
    >>> print(DenseFeatures([column])({"color": [["green"], ["gray"]]}))
    tf.Tensor(
    [[0. 1. 0.]
     [0. 0. 1.]], shape=(2, 3), dtype=float32)
    """
    what = f"categorical_column_with_vocabulary_list {checked_key('categorical_column_with_vocabulary_list', key)!r}"
    terms = tuple(_term(each) for each in vocabulary_list)
    if not terms:
        raise ValueError(f"{what}: vocabulary_list is empty; give at least one term.")
    twice = [term for term, count in Counter(terms).items() if count > 1]
    if twice:
        raise ValueError(f"{what}: vocabulary_list has {twice[0]!r} twice.")
    kind = as_dtype(dtype or ("string" if isinstance(terms[0], str) else "int64"))
    if not all(isinstance(term, str if kind.name == "string" else int) for term in terms):
        raise ValueError(f"{what}: vocabulary_list must hold terms of dtype {kind.name}; got {list(terms)!r}.")
    _check_others(what, default_value, num_oov_buckets)
    return VocabularyColumn(key, terms, kind, default_value, num_oov_buckets)


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str | os.PathLike[str],
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = "string",
) -> VocabularyColumn:
    """Make a column of categories that a file names, one in each line.

    Args:
        key: the feature's key. In a tensor, an empty string and -1 stand for no category.
        vocabulary_file: the file's name.
        vocabulary_size: how many lines are read; None for all.
        num_oov_buckets: how many further categories others have, by their hash; not together with a default value.
        default_value: the number of all others; None or -1 for no category.
        dtype: ``"string"`` or an integer's.

    Returns:
        A categorical column, which holds what is in the file now.

    Raises:
        ValueError: the key is no string, the file has fewer lines, or both a default value and buckets are given.
        OSError: the file cannot be read.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     print("red", "green", sep="\\n", file=file, flush=True)
    ...     categorical_column_with_vocabulary_file("color", file.name).num_buckets
    2
    """
    what = f"categorical_column_with_vocabulary_file {checked_key('categorical_column_with_vocabulary_file', key)!r}"
    if not vocabulary_file:
        raise ValueError(f"{what}: vocabulary_file is missing.")
    with open_file(file_path(what, vocabulary_file), encoding="utf-8") as file:
        lines = file.read().splitlines()
    if vocabulary_size is not None and not 1 <= vocabulary_size <= len(lines):
        raise ValueError(
            f"{what}: vocabulary_size must be from 1 to {len(lines)}, the lines of {os.fspath(vocabulary_file)!r}; got "
            f"{vocabulary_size}."
        )
    kind = as_dtype(dtype)
    terms = tuple(lines[:vocabulary_size]) if kind.name == "string" else tuple(map(int, lines[:vocabulary_size]))
    number = -1 if default_value is None else default_value
    _check_others(what, number, num_oov_buckets)
    return VocabularyColumn(key, terms, kind, number, num_oov_buckets)


def _term(value: Any) -> Any:
    plain = value.item() if hasattr(value, "item") else value
    return plain.decode("utf-8") if isinstance(plain, bytes) else plain


def _check_others(what: str, default_value: int, num_oov_buckets: int) -> None:
    if num_oov_buckets < 0:
        raise ValueError(f"{what}: num_oov_buckets must be at least 0; got {num_oov_buckets}.")
    if num_oov_buckets and default_value != -1:
        raise ValueError(
            f"{what}: give num_oov_buckets or default_value; got {num_oov_buckets} buckets and default_value "
            f"{default_value}."
        )


@dataclass(frozen=True)
class VocabularyColumn(KeyedColumn):
    """See `categorical_column_with_vocabulary_list`."""

    vocabulary_list: tuple[Any, ...]
    dtype: DType
    default_value: int
    num_oov_buckets: int

    @property
    def num_buckets(self) -> int:
        return len(self.vocabulary_list) + self.num_oov_buckets

    @property
    def kind(self) -> DType:
        return self.dtype

    @cached_property
    def _places(self) -> dict[Any, int]:
        """The number of each term, strings as the bytes that tensors hold."""
        terms = (term.encode() if isinstance(term, str) else term for term in self.vocabulary_list)
        return {term: number for number, term in enumerate(terms)}

    def numbers(self, entries: Entries) -> Tensor:
        values, size = entries.values, len(self.vocabulary_list)
        known = self._places

        def look_up(array: Any) -> Any:
            places = [known.get(term, self.default_value) for term in array.ravel().tolist()]
            return np.array(places, np.int64)

        found = reshape(py_func(look_up, [reshape(values, [-1])], as_dtype("int64")), values._shape)
        if not self.num_oov_buckets:
            return found
        texts = values if values.dtype.name == "string" else as_string(values)
        return where(found < 0, string_to_hash_bucket_fast(texts, self.num_oov_buckets) + size, found)
