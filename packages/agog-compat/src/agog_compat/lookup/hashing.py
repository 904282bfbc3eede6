"""Hashing: tables with hash buckets for unknown keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from agog_compat.lookup.tables import HashTable, LookupInterface
from agog_core import SparseTensor, Tensor, as_dtype, constant, int64, not_equal, string, where
from agog_core.ops.strings.encoding import as_string
from agog_core.ops.strings.hashing import string_to_hash_bucket_fast, string_to_hash_bucket_strong
from agog_core.tensors.convert import at_each_run, convert_to_tensor

__all__ = ["FastHashSpec", "HasherSpec", "IdTableWithHashBuckets", "StrongHashSpec"]


class HasherSpec(NamedTuple):
    """Which hash a table takes.

    Args:
        hasher: ``"fasthash"`` or ``"stronghash"``.
        key: two integers for the strong hash.

    >>> HasherSpec("fasthash").key is None
    True
    """

    hasher: str
    key: Sequence[int] | None = None


FastHashSpec = HasherSpec("fasthash")


class StrongHashSpec(HasherSpec):
    """A keyed hash, secure against chosen inputs.

    Args:
        key: two integers.

    Raises:
        ValueError: these are not two.
        TypeError: one is no integer.

    >>> StrongHashSpec([123, 456]).hasher
    'stronghash'
    """

    def __new__(cls, key: Sequence[int]) -> StrongHashSpec:
        if len(key) != 2:
            raise ValueError(f"StrongHashSpec: key must be two integers; got {list(key)!r}.")
        if not all(isinstance(part, int) for part in key):
            raise TypeError(f"StrongHashSpec: key must be two integers; got {list(key)!r}.")
        return super().__new__(cls, "stronghash", list(key))


class IdTableWithHashBuckets(LookupInterface):
    """A table of numbers that gives each key it has not one of some numbers after its own, by the key's hash.

    Args:
        table: a table of int64 values; None where all keys are hashed.
        num_oov_buckets: how many further numbers there are.
        hasher_spec: the hash.
        name: the table's name.
        key_dtype: the dtype of the keys, a string or an integer; None for the table's, or string.

    Raises:
        TypeError: the values are no int64, or the keys no strings or integers.
        ValueError: there is neither a table nor a bucket.

    >>> table = IdTableWithHashBuckets(None, num_oov_buckets=3)
    >>> int(table.size()), 0 <= int(table.lookup(constant("a"))) < 3
    (3, True)
    """

    def __init__(
        self,
        table: HashTable | None,
        num_oov_buckets: int,
        hasher_spec: HasherSpec = FastHashSpec,
        name: str | None = None,
        key_dtype: Any = None,
    ) -> None:
        dtype = as_dtype(key_dtype or (table.key_dtype if table is not None else string))
        if not (dtype is string or dtype.is_integer):
            raise TypeError(f"IdTableWithHashBuckets: the keys must be strings or integers; got {dtype.name}.")
        if table is not None and table.value_dtype is not int64:
            raise TypeError(f"IdTableWithHashBuckets: the table's values must be int64; got {table.value_dtype.name}.")
        if table is None and not num_oov_buckets > 0:
            raise ValueError(
                f"IdTableWithHashBuckets: without a table num_oov_buckets must be positive; got {num_oov_buckets}."
            )
        if not isinstance(hasher_spec, HasherSpec) or hasher_spec.hasher not in ("fasthash", "stronghash"):
            raise TypeError(
                f"IdTableWithHashBuckets: hasher_spec must be FastHashSpec or StrongHashSpec(key); got {hasher_spec!r}."
            )
        super().__init__(dtype, int64, name)
        self._table, self._buckets, self._hasher = table, num_oov_buckets, hasher_spec

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries and buckets. See `LookupInterface.size`."""
        own = 0 if self._table is None else int(self._table.size())
        return constant(own + self._buckets, "int64")

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The numbers of keys.

        Args:
            keys: a tensor of the keys' dtype, or a `SparseTensor`.

        Returns:
            A tensor of the same shape, or a `SparseTensor` of the same indices.

        Raises:
            TypeError: the keys have another dtype.
        """
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, self.lookup(keys.values), keys.dense_shape)
        return at_each_run(self._found, self._checked(keys))

    def _found(self, tensor: Tensor) -> Tensor:
        if self._table is None:
            return self._hashed(tensor)
        found: Tensor = self._table.lookup(convert_to_tensor(tensor.numpy(), self._table.key_dtype))
        if self._buckets == 0:
            return found
        is_known = not_equal(found, self._table.default_value)
        return where(is_known, found, self._hashed(tensor) + self._table.size())

    def _hashed(self, keys: Tensor) -> Tensor:
        texts = keys if keys.dtype is string else as_string(keys)
        if self._hasher.key is None:
            return string_to_hash_bucket_fast(texts, self._buckets)
        return string_to_hash_bucket_strong(texts, self._buckets, self._hasher.key)
