"""Tables: ``tf.lookup``, values by keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core import Checkpointable, DType, Tensor, TensorLike, as_dtype, constant, convert_to_tensor, reshape
from agog_core.errors import FailedPreconditionError, InvalidArgumentError
from agog_core.host_files import translated_errors
from agog_core.ops.strings.hashing import string_to_hash_bucket_fast

__all__ = [
    "DenseHashTable",
    "KeyValueTensorInitializer",
    "MutableHashTable",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
]


class TextFileIndex:
    """What a column of a text file stands for, beside the columns' numbers: the whole line, or the line's number."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class KeyValueTensorInitializer:
    """The keys and values of a table.

    Args:
        keys: a vector of keys.
        values: a vector of as many values.
        key_dtype: the dtype of the keys; None for the tensor's.
        value_dtype: the dtype of the values; None for the tensor's.

    Raises:
        InvalidArgumentError: there are not as many keys as values.

    >>> KeyValueTensorInitializer(["a", "b"], [1, 2]).value_dtype.name
    'int32'
    """

    def __init__(
        self, keys: TensorLike, values: TensorLike, key_dtype: Any = None, value_dtype: Any = None, name: Any = None
    ) -> None:
        k, v = convert_to_tensor(keys, key_dtype), convert_to_tensor(values, value_dtype)
        if k._shape != v._shape or len(k._shape) != 1:
            raise InvalidArgumentError(
                f"KeyValueTensorInitializer: keys and values must be vectors of one length; got shapes {k.shape} and "
                f"{v.shape}."
            )
        self.key_dtype, self.value_dtype = k.dtype, v.dtype
        self.pairs = list(zip(k.numpy().tolist(), v.numpy().tolist(), strict=True))


class TextFileInitializer:
    """The keys and values of a table, from the lines of a text file.

    Args:
        filename: the file.
        key_dtype: the dtype of the keys.
        key_index: the column of the keys, or one of `TextFileIndex`.
        value_dtype: the dtype of the values.
        value_index: the column of the values, or one of `TextFileIndex`.
        vocab_size: how many lines the file has; None for any number.
        delimiter: what is between two columns.
        value_index_offset: what is added to the numbers of lines.

    Raises:
        InvalidArgumentError: the file has another number of lines, or a line has no such column.
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
        name: Any = None,
        value_index_offset: int = 0,
    ) -> None:
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        lines = _lines(filename)
        if vocab_size is not None and len(lines) != vocab_size:
            raise InvalidArgumentError(
                f"TextFileInitializer: {filename} has {len(lines)} lines; vocab_size is {vocab_size}."
            )

        def cell(number: int, line: bytes, index: int, dtype: DType) -> Any:
            if index == TextFileIndex.LINE_NUMBER:
                return number + value_index_offset
            columns = [line] if index == TextFileIndex.WHOLE_LINE else line.split(delimiter.encode())
            place = 0 if index == TextFileIndex.WHOLE_LINE else index
            if place >= len(columns):
                raise InvalidArgumentError(
                    f"TextFileInitializer: line {number + 1} of {filename} has {len(columns)} columns; column {index} "
                    "is asked for."
                )
            text = columns[place]
            return text if dtype.name == "string" else int(text) if dtype.is_integer else float(text)

        self.pairs = [
            (cell(n, line, key_index, self.key_dtype), cell(n, line, value_index, self.value_dtype))
            for n, line in enumerate(lines)
        ]


class _Table(Checkpointable):
    """Base of tables: a dict from keys to values, and what is answered where there is none."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str) -> None:
        self.name = name
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        default = convert_to_tensor(default_value, self._value_dtype)
        plain = default.numpy()
        self._default = plain if isinstance(plain, bytes) else plain.tolist()
        self._value_shape = tuple(default._shape)
        self._values: dict[Any, Any] = {}

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._value_dtype

    def size(self, name: str | None = None) -> Tensor:
        """Count the keys.

        Returns:
            A scalar of int64.
        """
        return constant(len(self._values), "int64")

    def lookup(self, keys: TensorLike, name: str | None = None) -> Tensor:
        """Find the values of keys.

        Args:
            keys: a tensor of keys.

        Returns:
            A tensor with a value for each key, and the default value where there is none.

        Raises:
            TypeError: the keys are of another dtype.
        """
        k = self._keys(keys)
        found = [self._values.get(key, self._default) for key in reshape(k, [-1]).numpy().tolist()]
        return reshape(constant(found, self._value_dtype), (*k._shape, *self._value_shape))

    def __getitem__(self, keys: TensorLike) -> Tensor:
        return self.lookup(keys)

    def __len__(self) -> int:
        return len(self._values)

    def __bool__(self) -> bool:
        return True

    def _keys(self, keys: TensorLike) -> Tensor:
        k = convert_to_tensor(keys, preferred_dtype=self._key_dtype)
        if k.dtype is not self._key_dtype:
            raise TypeError(
                f"{type(self).__name__} {self.name!r} has keys of dtype {self._key_dtype.name}; got {k.dtype.name}."
            )
        return k

    def checkpoint_state(self) -> dict[str, Any]:
        """See `Checkpointable.checkpoint_state`."""
        return {"pairs": [[_as_text(key), _as_text(value)] for key, value in self._values.items()]}

    def restore_checkpoint_state(self, state: Any) -> None:
        """See `Checkpointable.restore_checkpoint_state`."""
        of_keys, of_values = (dtype.name == "string" for dtype in (self._key_dtype, self._value_dtype))
        self._values = {_as_value(key, of_keys): _as_value(value, of_values) for key, value in state["pairs"]}


class StaticHashTable(_Table):
    """Values by keys, which do not change.

    Args:
        initializer: `KeyValueTensorInitializer` or `TextFileInitializer`.
        default_value: the value of keys that are not there.
        name: the table's name.

    Raises:
        FailedPreconditionError: a key has two values.

    >>> table = StaticHashTable(KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1)
    >>> print(table.lookup(["b", "c"]))
    tf.Tensor([ 2 -1], shape=(2,), dtype=int32)
    """

    def __init__(
        self, initializer: Any, default_value: Any, name: str | None = None, experimental_is_anonymous: bool = False
    ) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype, default_value, name or "hash_table")
        for key, value in initializer.pairs:
            if self._values.setdefault(key, value) != value:
                raise FailedPreconditionError(
                    f"StaticHashTable {self.name!r}: key {key!r} has the values {self._values[key]!r} and {value!r}."
                )


class StaticVocabularyTable(_Table):
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
        self, initializer: Any, num_oov_buckets: int, lookup_key_dtype: Any = None, name: str | None = None
    ) -> None:
        if num_oov_buckets < 1:
            raise ValueError(f"StaticVocabularyTable: num_oov_buckets must be at least 1; got {num_oov_buckets}.")
        dtype = lookup_key_dtype or (initializer.key_dtype if initializer else "string")
        super().__init__(dtype, "int64", -1, name or "vocabulary")
        if initializer is not None:
            if initializer.value_dtype.name != "int64":
                raise TypeError(
                    "StaticVocabularyTable: the initializer's values must be int64; got "
                    f"{initializer.value_dtype.name}."
                )
            self._values = dict(initializer.pairs)
        self._buckets = num_oov_buckets

    def lookup(self, keys: TensorLike, name: str | None = None) -> Tensor:
        """See `StaticHashTable.lookup`; words that are not there have numbers of buckets."""
        k = self._keys(keys)
        flat = reshape(k, [-1]).numpy().tolist()
        texts = [key if isinstance(key, bytes) else str(key).encode() for key in flat]
        buckets = string_to_hash_bucket_fast(constant(texts, "string"), self._buckets).numpy().tolist()
        first = len(self._values)
        pairs = zip(flat, buckets, strict=True)
        found = [self._values.get(key, first + bucket) for key, bucket in pairs]
        return reshape(constant(found, "int64"), k.shape)


class MutableHashTable(_Table):
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
        self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str = "MutableHashTable", **unused: Any
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, name)

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> None:
        """Add values, or put them in the place of others.

        Args:
            keys: a tensor of keys.
            values: a value for each.

        Raises:
            InvalidArgumentError: the shapes do not go together.
        """
        k, v = self._keys(keys), convert_to_tensor(values, self._value_dtype)
        if v._shape != (*k._shape, *self._value_shape):
            raise InvalidArgumentError(
                f"{type(self).__name__} {self.name!r}: insert takes values of shape {(*k._shape, *self._value_shape)} "
                f"for keys of shape {k.shape}; got {v.shape}."
            )
        flat = reshape(v, (-1, *self._value_shape)).numpy().tolist()
        self._values.update(zip(reshape(k, [-1]).numpy().tolist(), flat, strict=True))

    def remove(self, keys: TensorLike, name: str | None = None) -> None:
        """Remove keys; those that are not there are no error.

        Args:
            keys: a tensor of keys.
        """
        for key in reshape(self._keys(keys), [-1]).numpy().tolist():
            self._values.pop(key, None)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """List all keys and values.

        Returns:
            A vector of keys, and a tensor with a value for each.
        """
        values = reshape(constant(list(self._values.values()), self._value_dtype), (-1, *self._value_shape))
        return constant(list(self._values), self._key_dtype), values


class DenseHashTable(MutableHashTable):
    """See `MutableHashTable`; the keys that mark places as empty and deleted are not needed here.

    Args:
        key_dtype: the dtype of the keys.
        value_dtype: the dtype of the values.
        default_value: the value of keys that are not there.
        name: the table's name.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any = None,
        deleted_key: Any = None,
        initial_num_buckets: Any = None,
        name: str = "DenseHashTable",
        **unused: Any,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, name)

    def erase(self, keys: TensorLike, name: str | None = None) -> None:
        """See `MutableHashTable.remove`."""
        self.remove(keys)


def _lines(filename: Any) -> Sequence[bytes]:
    with translated_errors("TextFileInitializer"), open(filename, "rb") as file:
        return file.read().splitlines()


def _as_text(value: Any) -> Any:
    """A value as JSON holds it: bytes as text, one character for each."""
    if isinstance(value, list):
        return [_as_text(each) for each in value]
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _as_value(value: Any, is_string: bool) -> Any:
    if isinstance(value, list):
        return [_as_value(each, is_string) for each in value]
    return value.encode("latin-1") if is_string else value
