"""Experimental tables: those of ``tf.lookup.experimental``, which programs change."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_compat.lookup.mutable import MutableDenseHashTable
from agog_compat.lookup.mutable import MutableHashTable as ContribMutableHashTable
from agog_compat.lookup.static_tables import Subscripted

__all__ = ["DenseHashTable", "MutableHashTable"]


class MutableHashTable(Subscripted, ContribMutableHashTable):
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


class DenseHashTable(Subscripted, MutableDenseHashTable):
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
