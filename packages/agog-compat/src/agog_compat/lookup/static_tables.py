"""Static tables: those of ``tf.lookup``, whose arguments are not those of ``tf.contrib.lookup``."""

from __future__ import annotations

from typing import Any

from agog_compat.lookup.hashing import IdTableWithHashBuckets
from agog_compat.lookup.initializers import KeyValueTensorInitializer, TableInitializerBase, TextFileIndex
from agog_compat.lookup.initializers import TextFileInitializer as ContribTextFileInitializer
from agog_compat.lookup.tables import HashTable, LookupInterface
from agog_core.tensors.tensor import Tensor

__all__ = [
    "KeyValueTensorInitializer",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
]


class TextFileInitializer(ContribTextFileInitializer):
    """Keys and values from the lines of a file.

    Args:
        filename: the file's path.
        key_dtype: the dtype of the keys.
        key_index: the column of the keys, from 0 on, or a constant of `TextFileIndex`.
        value_dtype: the dtype of the values.
        value_index: the column of the values, or a constant of `TextFileIndex`.
        vocab_size: how many lines the file must have; None for any number. Of a longer file the first are taken.
        delimiter: what separates columns.
        value_index_offset: what is added to values that are numbers of lines.

    Raises:
        ValueError: a dtype does not fit what is taken of the lines.
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
        value_index_offset: int = 0,
    ) -> None:
        super().__init__(filename, key_dtype, key_index, value_dtype, value_index, vocab_size, delimiter, name)
        self._offset = value_index_offset if value_index == TextFileIndex.LINE_NUMBER else 0

    def entries(self) -> tuple[Tensor, Tensor]:
        keys, values = super().entries()
        return keys, values + self._offset if self._offset else values


class Subscripted(LookupInterface):
    """What tables of ``tf.lookup`` can do beside those of ``tf.contrib.lookup``: ``table[keys]`` and ``len(table)``."""

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

    def __len__(self) -> int:
        return int(self.size())

    def __bool__(self) -> bool:
        return True


class StaticHashTable(Subscripted, HashTable):
    """Values by keys, which do not change.

    Args:
        initializer: `KeyValueTensorInitializer` or `TextFileInitializer`.
        default_value: the value of keys that are not there.
        name: the table's name.

    Raises:
        FailedPreconditionError: a key has two values.

    >>> table = StaticHashTable(KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1)
    >>> print(table[["b", "c"]])
    tf.Tensor([ 2 -1], shape=(2,), dtype=int32)
    """

    def __init__(
        self,
        initializer: TableInitializerBase,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(initializer, default_value, name=name)


class StaticVocabularyTable(Subscripted, IdTableWithHashBuckets):
    """Numbers of words: those of an initializer, and for other words one of some buckets, by a hash.

    Args:
        initializer: `KeyValueTensorInitializer` or `TextFileInitializer`, whose values are int64; or None.
        num_oov_buckets: how many buckets come after them, at least 1.
        lookup_key_dtype: the dtype of the keys where there is no initializer.
        name: the table's name.

    Raises:
        ValueError: there is no bucket.
        TypeError: the values are no int64.

    >>> words = KeyValueTensorInitializer(["a", "b"], [0, 1], value_dtype="int64")
    >>> print(StaticVocabularyTable(words, 1).lookup(["b", "zebra"]))
    tf.Tensor([1 2], shape=(2,), dtype=int64)
    """

    def __init__(
        self,
        initializer: TableInitializerBase | None,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        if num_oov_buckets < 1:
            raise ValueError(f"StaticVocabularyTable: num_oov_buckets must be at least 1; got {num_oov_buckets}.")
        table = None if initializer is None else HashTable(initializer, -1)
        super().__init__(table, num_oov_buckets, name=name, key_dtype=lookup_key_dtype)
