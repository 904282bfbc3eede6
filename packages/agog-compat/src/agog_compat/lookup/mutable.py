"""Mutable tables: tables that programs change, and that checkpoints save."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agog_compat.lookup.tables import LookupInterface
from agog_core import Checkpointable, Tensor, concat, constant, string
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.convert import at_each_run, convert_to_tensor

__all__ = ["MutableDenseHashTable", "MutableHashTable"]


class MutableHashTable(LookupInterface, Checkpointable):
    """A table into which entries can be put.

    Args:
        key_dtype: the dtype of the keys.
        value_dtype: the dtype of the values.
        default_value: the value of keys that are not in the table; its shape is that of all values.
        shared_name: not used; each table has entries of its own.
        name: the table's name.
        checkpoint: whether a checkpoint saves the entries.

    >>> table = MutableHashTable("string", "int64", -1)
    >>> table.insert(["a"], [1])
    >>> table.lookup(["a", "b"]).numpy().tolist()
    [1, -1]
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        shared_name: str | None = None,
        name: str | None = "MutableHashTable",
        checkpoint: bool = True,
    ) -> None:
        LookupInterface.__init__(self, key_dtype, value_dtype, name)
        kind = object if self._value_dtype is string else None
        self._default = np.asarray(constant(default_value, self._value_dtype).numpy(), kind)
        self._is_saved = checkpoint
        self._entries: _Entries = _Entries()

    def size(self, name: str | None = None) -> Tensor:
        return constant(len(self._entries.values), "int64")

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Put entries into the table; a key that is there gets the new value.

        Args:
            keys: a tensor of keys.
            values: a tensor with a value for each.

        Raises:
            TypeError: a dtype is another.
            ValueError: there is not a value of the right shape for each key.
        """
        key_tensor, value_tensor = self._checked(keys), self._checked(values, self._value_dtype)
        expected = [*key_tensor.shape.as_list(), *self._default.shape]
        if value_tensor.shape.as_list() != expected:
            raise ValueError(
                f"{self._name}.insert: keys of shape {key_tensor.shape} need values of shape {expected}; got "
                f"{value_tensor.shape}."
            )
        kind = object if self._value_dtype is string else None
        rows = np.asarray(value_tensor.numpy(), kind).reshape(-1, *self._default.shape)
        for place, key in enumerate(np.ravel(key_tensor.numpy()).tolist()):
            self._entries.values[key] = rows[place : place + 1].reshape(self._default.shape)

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        """The values of keys.

        Args:
            keys: a tensor of the keys' dtype.

        Returns:
            A tensor with a value in place of each key.

        Raises:
            TypeError: the keys have another dtype.
        """
        return at_each_run(self._found, self._checked(keys))

    def _found(self, keys: Tensor) -> Tensor:
        array = keys.numpy()
        found = [self._entries.values.get(key, self._default) for key in np.ravel(array).tolist()]
        return self._values(found, np.shape(array))

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All entries.

        Returns:
            The keys, a vector, and the values.
        """
        keys = list(self._entries.values)
        kind = object if self._key_dtype is string else self._key_dtype.as_numpy_dtype
        values = self._values(list(self._entries.values.values()), (len(keys),))
        return convert_to_tensor(np.array(keys, kind), self._key_dtype), values

    def _values(self, rows: list[Any], shape: tuple[int, ...]) -> Tensor:
        kind = object if self._value_dtype is string else self._value_dtype.as_numpy_dtype
        array = np.empty((len(rows), *self._default.shape), kind)
        for place, row in enumerate(rows):
            array[place : place + 1] = row
        return convert_to_tensor(array.reshape(*shape, *self._default.shape), self._value_dtype)

    def checkpoint_state(self) -> dict[str, Any]:
        """The entries, as far as they are saved; texts as Latin-1, which has a character for each byte."""
        if not self._is_saved:
            return {}
        values = [np.ravel(row).tolist() for row in self._entries.values.values()]
        return {
            "keys": [_as_json(key) for key in self._entries.values],
            "values": [[_as_json(element) for element in row] for row in values],
        }

    def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
        """Replace the entries by the saved ones."""
        rows = [
            np.array([_of_json(x, self._value_dtype) for x in row], self._default.dtype).reshape(self._default.shape)
            for row in state["values"]
        ]
        keys = [_of_json(key, self._key_dtype) for key in state["keys"]]
        self._entries.values = dict(zip(keys, rows, strict=True))


class MutableDenseHashTable(MutableHashTable):
    """A `MutableHashTable` whose `export` has empty buckets too, as the two arrays have that TensorFlow keeps it in.

    Args:
        key_dtype: the dtype of the keys.
        value_dtype: the dtype of the values.
        default_value: the value of keys that are not in the table.
        empty_key: a key that is never used.
        initial_num_buckets: how many entries `export` gives at first; twice as many when four fifths are taken.
        shared_name: not used.
        name: the table's name.
        checkpoint: whether a checkpoint saves the entries.

    Raises:
        InvalidArgumentError: from `insert` and `lookup`, where the empty key is among the keys.

    >>> table = MutableDenseHashTable("int64", "float32", 0.0, empty_key=0)
    >>> table.insert([5], [1.5])
    >>> table.lookup([5, 6]).numpy().tolist()
    [1.5, 0.0]
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        initial_num_buckets: int | None = None,
        shared_name: str | None = None,
        name: str | None = "MutableDenseHashTable",
        checkpoint: bool = True,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, shared_name, name, checkpoint)
        self._empty = np.asarray(constant(empty_key, self._key_dtype).numpy()).item()
        self._buckets = 131_072 if initial_num_buckets is None else initial_num_buckets

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        super().insert(keys, values, name)
        while len(self._entries.values) > 0.8 * self._buckets:
            self._buckets *= 2

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All buckets.

        Returns:
            The keys, a vector that ends with the empty key time and again, and the values; the default goes with those.
        """
        keys, values = super().export(name)
        free = self._buckets - len(self._entries.values)
        kind = object if self._key_dtype is string else self._key_dtype.as_numpy_dtype
        empty = convert_to_tensor(np.full(free, self._empty, kind), self._key_dtype)
        return concat([keys, empty], 0), concat([values, self._values(free * [self._default], (free,))], 0)

    def checkpoint_state(self) -> dict[str, Any]:
        """The entries, and how many buckets there are."""
        state = super().checkpoint_state()
        return {**state, "buckets": self._buckets} if state else state

    def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
        """Take over what was saved."""
        super().restore_checkpoint_state(state)
        self._buckets = state.get("buckets", self._buckets)

    def _checked(self, keys: Any, dtype: Any = None) -> Tensor:
        tensor = super()._checked(keys, dtype)
        if dtype is None and self._empty in np.ravel(tensor.numpy()).tolist():
            raise InvalidArgumentError(f"{self._name}: the empty key {self._empty!r} is among the keys.")
        return tensor


class _Entries:
    """The entries, in an object that is no part of its own for a checkpoint."""

    def __init__(self) -> None:
        self.values: dict[Any, Any] = {}


def _as_json(value: Any) -> Any:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _of_json(value: Any, dtype: Any) -> Any:
    return value.encode("latin-1") if dtype is string else value
