"""Tables: immutable tables of keys and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agog_compat.lookup.initializers import TableInitializerBase
from agog_core import DType, SparseTensor, Tensor, as_dtype, constant, string
from agog_core.errors import FailedPreconditionError
from agog_core.tensors.convert import computed, convert_to_tensor
from agog_core.tensors.host_functions import host_function

__all__ = ["HashTable", "LookupInterface"]


class LookupInterface:
    """Base of tables.

    Args:
        key_dtype: the dtype of the keys.
        value_dtype: the dtype of the values.
        name: the table's name.
    """

    def __init__(self, key_dtype: Any, value_dtype: Any, name: str | None) -> None:
        self._key_dtype: DType = as_dtype(key_dtype)
        self._value_dtype: DType = as_dtype(value_dtype)
        self._name = name or type(self).__name__

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._value_dtype

    @property
    def name(self) -> str:
        """The table's name."""
        return self._name

    @property
    def init(self) -> None:
        """None: a table has its entries from its construction on."""
        return None

    initializer = init

    def size(self, name: str | None = None) -> Tensor:
        """How many entries there are.

        Returns:
            A scalar int64.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method size.")

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys.

        Args:
            keys: a tensor of the keys' dtype, or a `SparseTensor`.

        Returns:
            Values in place of the keys.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method lookup.")

    def _checked(self, keys: Any, dtype: DType | None = None) -> Tensor:
        """Keys as a tensor, of the dtype that they must have."""
        wanted = dtype or self._key_dtype
        tensor = convert_to_tensor(keys) if hasattr(keys, "dtype") else convert_to_tensor(keys, wanted)
        if tensor.dtype is not wanted:
            raise TypeError(
                f"{self._name}: the keys must be of dtype {wanted.name}; got {tensor.dtype.name}. Cast them with "
                f"tf.cast(keys, tf.{wanted.name})."
            )
        return tensor


class HashTable(LookupInterface):
    """A table that stays as it was made.

    Args:
        initializer: where the keys and values are from, such as `KeyValueTensorInitializer`.
        default_value: the value of keys that are not in the table.
        shared_name: not used; each table has entries of its own.
        name: the table's name.

    Raises:
        FailedPreconditionError: a key has two values.

    >>> from agog_compat.lookup.initializers import KeyValueTensorInitializer
    >>> table = HashTable(KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    >>> table.lookup(constant(["b", "c"])).numpy().tolist(), int(table.size())
    ([2, -1], 2)
    """

    def __init__(
        self,
        initializer: TableInitializerBase,
        default_value: Any,
        shared_name: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype, name or "hash_table")
        self._default = constant(default_value, self._value_dtype).numpy()
        self._found: Callable[..., Any] | None = None  # made when it is first asked
        keys, values = initializer.entries()
        self._entries: dict[Any, Any] = {}
        for key, value in zip(keys.numpy().ravel().tolist(), values.numpy().ravel().tolist(), strict=True):
            if self._entries.setdefault(key, value) != value:
                raise FailedPreconditionError(
                    f"{self._name}: key {key!r} has two values, {self._entries[key]!r} and {value!r}."
                )

    @property
    def default_value(self) -> Tensor:
        """The value of keys that are not in the table."""
        return constant(self._default, self._value_dtype)

    def size(self, name: str | None = None) -> Tensor:
        return constant(len(self._entries), "int64")

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys.

        Args:
            keys: a tensor of the keys' dtype, or a `SparseTensor`.

        Returns:
            A tensor of the same shape, or a `SparseTensor` of the same indices.

        Raises:
            TypeError: the keys have another dtype.
        """
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, self.lookup(keys.values), keys.dense_shape)
        if self._found is None:
            default = self._default.item() if isinstance(self._default, np.generic) else self._default
            data = {"keys": list(self._entries), "values": list(self._entries.values()), "default": default}
            self._found = _found(**data, dtype=self._value_dtype)
        return computed(self._found, [self._checked(keys)], [self._value_dtype])[0]

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All entries.

        Returns:
            The keys and the values, two vectors.
        """
        keys, values = list(self._entries), list(self._entries.values())
        return _tensor(keys, self._key_dtype, (len(keys),)), _tensor(values, self._value_dtype, (len(keys),))


@host_function("lookup.table")
def _found(keys: list[Any], values: list[Any], default: Any, dtype: DType) -> Callable[..., Any]:
    """What finds values by keys, on the host."""
    entries = dict(zip(keys, values, strict=True))
    kind = object if dtype is string else dtype.as_numpy_dtype

    def found(host: Any) -> list[Any]:
        each = [entries.get(key, default) for key in np.ravel(host).tolist()]
        return [np.array(each, kind).reshape(np.shape(host))]

    return found


def _tensor(values: list[Any], dtype: DType, shape: tuple[int, ...]) -> Tensor:
    kind = object if dtype is string else dtype.as_numpy_dtype
    return convert_to_tensor(np.array(values, kind).reshape(shape), dtype)
