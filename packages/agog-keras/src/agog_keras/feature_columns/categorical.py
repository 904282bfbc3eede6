"""Categorical: columns of categories by number or by hash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import agog_core as ag
from agog_core import Tensor, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_data.examples.features import FixedLenFeature, VarLenFeature
from agog_keras.feature_columns.column import CategoricalColumn, Categories, checked_key
from agog_keras.feature_columns.features import Entries, Features

__all__ = ["categorical_column_with_hash_bucket", "categorical_column_with_identity"]


@dataclass(frozen=True)
class KeyedColumn(CategoricalColumn):
    """Base of the categorical columns that read one feature."""

    key: str

    @property
    def name(self) -> str:  # type: ignore[override]  # what others keep is told here
        """The column's name."""
        return self.key

    @property
    def kind(self) -> ag.DType:
        """The dtype of the feature."""
        raise NotImplementedError

    @property
    def parse_example_spec(self) -> dict[str, FixedLenFeature | VarLenFeature]:
        return {self.key: VarLenFeature(self.kind)}

    def transform(self, features: Features) -> Categories:
        """The categories of the feature's values."""
        values, present = features.entries(self.key)
        return Categories(self.numbers(Entries(self._checked(values), present)), present)

    def numbers(self, entries: Entries) -> Tensor:
        """The numbers of the categories of values, int64."""
        raise NotImplementedError

    def _checked(self, values: Tensor) -> Tensor:
        wants_strings = self.kind.name == "string"
        if wants_strings is not (values.dtype.name == "string") or not (wants_strings or values.dtype.is_integer):
            kind = "strings" if wants_strings else "integers"
            raise ValueError(
                f"Feature {self.key!r} must be of {kind} as its categorical column says; got dtype {values.dtype.name}."
            )
        return values


def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """Make a column of categories that are numbers from 0 to ``num_buckets - 1``.

    Args:
        key: the feature's key. In a tensor, -1 stands for no category.
        num_buckets: how many categories there are.
        default_value: the category of all other numbers; None makes them an error.

    Returns:
        A categorical column.

    Raises:
        ValueError: the key is no string, there is no category, or the default value is none of them.

    >>> from agog_keras.feature_columns import DenseFeatures, indicator_column
    >>> column = indicator_column(categorical_column_with_identity("day", 3))
    >>> print(DenseFeatures([column])({"day": [[2], [0]]}))
    tf.Tensor(
    [[0. 0. 1.]
     [1. 0. 0.]], shape=(2, 3), dtype=float32)
    """
    checked_key("categorical_column_with_identity", key)
    if num_buckets < 1:
        raise ValueError(
            f"categorical_column_with_identity {key!r}: num_buckets must be at least 1; got {num_buckets}."
        )
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"categorical_column_with_identity {key!r}: default_value must be from 0 to {num_buckets - 1}; got "
            f"{default_value}."
        )
    return IdentityCategoricalColumn(key, int(num_buckets), default_value)


@dataclass(frozen=True)
class IdentityCategoricalColumn(KeyedColumn):
    """See `categorical_column_with_identity`."""

    number_buckets: int
    default_value: int | None

    @property
    def num_buckets(self) -> int:
        return self.number_buckets

    @property
    def kind(self) -> ag.DType:
        return as_dtype("int64")

    def numbers(self, entries: Entries) -> Tensor:
        ids = ag.cast(entries.values, "int64")
        good = (ids >= 0) & (ids < self.num_buckets)
        if self.default_value is not None:
            return ag.where(good | ~entries.present, ids, self.default_value)
        if not bool(ag.reduce_all(good | ~entries.present)):
            raise InvalidArgumentError(
                f"Feature {self.key!r} must be from 0 to {self.num_buckets - 1} as its categorical column says; got "
                f"{ids.numpy().min()} to {ids.numpy().max()}. A default_value stands in for other numbers."
            )
        return ids


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = "string"
) -> HashedCategoricalColumn:
    """Make a column of strings or integers that a hash puts into buckets; several may come into one.

    Args:
        key: the feature's key. In a tensor, an empty string and -1 stand for no category.
        hash_bucket_size: the number of buckets.
        dtype: ``"string"`` or an integer's.

    Returns:
        A categorical column, whose buckets are those of `tf.strings.to_hash_bucket_fast`.

    Raises:
        ValueError: the key is no string, there is no bucket, or the dtype is another.

    >>> column = categorical_column_with_hash_bucket("word", 10)
    >>> column.num_buckets
    10
    """
    checked_key("categorical_column_with_hash_bucket", key)
    kind = as_dtype(dtype)
    if hash_bucket_size is None or hash_bucket_size < 1:
        raise ValueError(
            f"categorical_column_with_hash_bucket {key!r}: hash_bucket_size must be at least 1; got {hash_bucket_size}."
        )
    if kind.name != "string" and not kind.is_integer:
        raise ValueError(
            f"categorical_column_with_hash_bucket {key!r}: dtype must be string or an integer's; got {kind.name}."
        )
    return HashedCategoricalColumn(key, int(hash_bucket_size), kind)


@dataclass(frozen=True)
class HashedCategoricalColumn(KeyedColumn):
    """See `categorical_column_with_hash_bucket`."""

    hash_bucket_size: int
    dtype: ag.DType

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    @property
    def kind(self) -> ag.DType:
        return self.dtype

    def numbers(self, entries: Entries) -> Tensor:
        values = entries.values
        texts = values if values.dtype.name == "string" else ag.as_string(values)
        return ag.string_to_hash_bucket_fast(texts, self.hash_bucket_size)
