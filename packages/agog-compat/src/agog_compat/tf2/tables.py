"""Tables: ``tf.lookup``, the tables of ``tf.contrib.lookup`` under the names and arguments of TensorFlow 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_compat.lookup.hashing import IdTableWithHashBuckets
from agog_compat.lookup.initializers import KeyValueTensorInitializer, TableInitializerBase, TextFileIndex
from agog_compat.lookup.initializers import TextFileInitializer as OlderTextFileInitializer
from agog_compat.lookup.mutable import MutableDenseHashTable
from agog_compat.lookup.mutable import MutableHashTable as OlderMutableHashTable
from agog_compat.lookup.tables import HashTable, LookupInterface
from agog_core.tensors.tensor import Tensor

__all__ = [
    "DenseHashTable",
    "KeyValueTensorInitializer",
    "MutableHashTable",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
]


class TextFileInitializer(OlderTextFileInitializer):
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
        """See `KeyValueTensorInitializer.entries`."""
        keys, values = super().entries()
        return keys, values + self._offset if self._offset else values


class _Subscripted(LookupInterface):
    """What tables have beside those of TensorFlow 1: ``table[keys]``, and ``len(table)``."""

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

    def __len__(self) -> int:
        return int(self.size())

    def __bool__(self) -> bool:
        return True


class StaticHashTable(_Subscripted, HashTable):
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


class StaticVocabularyTable(_Subscripted, IdTableWithHashBuckets):
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


class MutableHashTable(_Subscripted, OlderMutableHashTable):
    """Values by keys, which can be added and removed.

    Args:
        key_dtype: the dtype of the keys.
        value_dtype: the dtype of the values.
        default_value: the value of keys that are not there; its shape is that of all values.
        name: the table's name.

    >>> table = MutableHashTable("string", "int64", -1)
    >>> table.insert(["a"], [5])
    >>> print(table.lookup(["a", "b"]))
    tf.Tensor([ 5 -1], shape=(2,), dtype=int64)
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, name=name, checkpoint=checkpoint)

    def remove(self, keys: Any, name: str | None = None) -> None:
        """Remove keys; those that are not there are no error.

        Args:
            keys: a tensor of keys.
        """
        for key in np.ravel(self._checked(keys).numpy()).tolist():
            self._entries.values.pop(key, None)


class DenseHashTable(_Subscripted, MutableDenseHashTable):
    """See `MutableHashTable`.

    Args:
        key_dtype: the dtype of the keys.
        value_dtype: the dtype of the values.
        default_value: the value of keys that are not there.
        empty_key: a key that is never used.
        deleted_key: another one; it is not needed here.
        initial_num_buckets: not used.
        name: the table's name.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any = None,
        initial_num_buckets: int | None = None,
        name: str = "DenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(
            key_dtype, value_dtype, default_value, empty_key, initial_num_buckets, name=name, checkpoint=checkpoint
        )

    remove = MutableHashTable.remove
    erase = MutableHashTable.remove
