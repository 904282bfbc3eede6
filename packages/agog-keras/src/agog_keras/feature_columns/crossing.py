"""Crossing: columns of categories with weights, and of the combinations of categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

import agog_core as ag
from agog_core import Tensor, as_dtype
from agog_data.examples.features import FixedLenFeature, VarLenFeature
from agog_keras.feature_columns.categorical import HashedCategoricalColumn
from agog_keras.feature_columns.column import CategoricalColumn, Categories, checked_categories, checked_key
from agog_keras.feature_columns.features import Entries, Features

__all__ = ["crossed_column", "weighted_categorical_column"]

Array = np.ndarray[Any, Any]


def weighted_categorical_column(
    categorical_column: Any, weight_feature_key: str, dtype: Any = "float32"
) -> WeightedCategoricalColumn:
    """Make a column of categories that count as much as another feature says.

    Args:
        categorical_column: the column of the categories.
        weight_feature_key: the key of the feature with a weight for each category, at the same places.
        dtype: the dtype of parsed weights.

    Returns:
        A categorical column.

    Raises:
        ValueError: the column is not categorical, the key is no string, or the dtype is not of numbers.

    >>> from agog_keras.feature_columns import DenseFeatures, categorical_column_with_identity, indicator_column
    >>> words = categorical_column_with_identity("word", 3)
    >>> column = indicator_column(weighted_categorical_column(words, "frequency"))
    >>> print(DenseFeatures([column])({"word": [[2, 0]], "frequency": [[0.5, 3.0]]}))
    tf.Tensor([[3.  0.  0.5]], shape=(1, 3), dtype=float32)
    """
    checked_categories("weighted_categorical_column", categorical_column)
    checked_key("weighted_categorical_column", weight_feature_key)
    kind = as_dtype(dtype)
    if not (kind.is_floating or kind.is_integer):
        raise ValueError(f"weighted_categorical_column: dtype must be of floats or integers; got {kind.name}.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, kind)


@dataclass(frozen=True)
class WeightedCategoricalColumn(CategoricalColumn):
    """See `weighted_categorical_column`."""

    categorical_column: CategoricalColumn
    weight_feature_key: str
    dtype: ag.DType

    @property
    def name(self) -> str:  # type: ignore[override]  # what others keep is told here
        """The column's name."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    @property
    def parse_example_spec(self) -> dict[str, FixedLenFeature | VarLenFeature]:
        return {**self.categorical_column.parse_example_spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    def transform(self, features: Features) -> Categories:
        """The categories and their weights."""
        ids, present, _ = self.categorical_column.categories(features)
        weights, _ = features.entries(self.weight_feature_key, ignores=False)
        if weights.dtype.name == "string":
            raise ValueError(f"Feature {self.weight_feature_key!r} must be of numbers; got dtype string.")
        if weights._shape != ids._shape:
            raise ValueError(
                f"Feature {self.weight_feature_key!r} must have a weight for each category of "
                f"{self.categorical_column.name!r}, of shape {tuple(ids._shape)}; got shape {tuple(weights._shape)}."
            )
        return Categories(ids, present, ag.cast(weights, "float32"))


def crossed_column(keys: Sequence[Any], hash_bucket_size: int, hash_key: int | None = None) -> CrossedColumn:
    """Make a column of the combinations of categories, which a hash puts into buckets.

    Args:
        keys: two or more: keys of features of strings or integers, and categorical columns, but for hashed ones.
        hash_bucket_size: the number of buckets.
        hash_key: a number that chooses another hash; None for TensorFlow's.

    Returns:
        A categorical column, whose buckets are those of TensorFlow.

    Raises:
        ValueError: there are fewer than two, one is something else, or there is no bucket.

    >>> from agog_keras.feature_columns import DenseFeatures, indicator_column
    >>> column = crossed_column(["country", "language"], 10)
    >>> layer = DenseFeatures([indicator_column(column)])
    >>> layer({"country": [["ch"]], "language": [["fr"]]}).shape
    TensorShape([1, 10])
    """
    if hash_bucket_size is None or hash_bucket_size < 1:
        raise ValueError(f"crossed_column: hash_bucket_size must be at least 1; got {hash_bucket_size}.")
    if isinstance(keys, str) or len(keys) < 2:
        raise ValueError(f"crossed_column: keys must be a list of two or more; got {keys!r}.")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError(f"crossed_column: a key must be a string or a categorical column; got {key!r}.")
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                f"crossed_column: categorical_column_with_hash_bucket {key.key!r} would be hashed twice; give the key "
                f"{key.key!r} instead."
            )
    return CrossedColumn(tuple(keys), int(hash_bucket_size), hash_key)


# The hash of no category, in TensorFlow.
_FIRST = 0xDECAFCAFFE
_FACTOR = np.uint64(0xC6A4A7935BD1E995)


@dataclass(frozen=True)
class CrossedColumn(CategoricalColumn):
    """See `crossed_column`."""

    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None

    @property
    def name(self) -> str:  # type: ignore[override]
        """The column's name."""
        return "_X_".join(sorted(leaf if isinstance(leaf, str) else leaf.name for leaf in self._leaves()))

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    @property
    def parse_example_spec(self) -> dict[str, FixedLenFeature | VarLenFeature]:
        specs: dict[str, FixedLenFeature | VarLenFeature] = {}
        for key in self.keys:
            specs |= {key: VarLenFeature(as_dtype("string"))} if isinstance(key, str) else key.parse_example_spec
        return specs

    def transform(self, features: Features) -> Categories:
        """The hash of each combination; the last key's categories go round first."""
        leaves = self._leaves()
        # TensorFlow takes what is sparse there before what is dense.
        ordered = sorted(leaves, key=lambda leaf: isinstance(leaf, str) and not features.is_sparse(leaf))
        found = [self._entries(features, leaf) for leaf in ordered]
        present = reduce(_combined, [each.present for each in found])
        first = _FIRST if self.hash_key is None else self.hash_key

        def hashed(*hashes: Array) -> Array:
            total = np.full((len(hashes[0]), 1), first, np.uint64)
            for each in hashes:
                total = _joined(total[:, :, None], each[:, None, :]).reshape(len(total), -1)
            return (total % np.uint64(self.hash_bucket_size)).astype(np.int64)

        numbers = ag.py_func(hashed, [_hashes(each.values) for each in found], as_dtype("int64"))
        flat = [present._shape[0], ag.TensorShape(present._shape[1:]).num_elements()]
        return Categories(ag.reshape(numbers, flat), ag.reshape(present, flat))

    def _leaves(self) -> list[Any]:
        parts = (key._leaves() if isinstance(key, CrossedColumn) else [key] for key in self.keys)
        return [leaf for part in parts for leaf in part]

    def _entries(self, features: Features, leaf: Any) -> Entries:
        if isinstance(leaf, str):
            return features.entries(leaf, ignores=False)
        ids, present, weights = leaf.categories(features)
        if weights is not None:
            raise ValueError(f"crossed_column takes no weights; {leaf.name!r} has some.")
        return Entries(ids, present)


def _combined(left: Tensor, right: Tensor) -> Tensor:
    flat = ag.reshape(left, [left._shape[0], ag.TensorShape(left._shape[1:]).num_elements()])
    return ag.expand_dims(flat, 2) & ag.expand_dims(right, 1)


def _hashes(values: Tensor) -> Tensor:
    """The bits of each value: of strings their fingerprints, of integers themselves; uint64."""
    if values.dtype.name == "string":
        bits = ag.fingerprint(ag.reshape(values, [-1]))
        return ag.reshape(ag.py_func(lambda rows: rows.view("<u8"), [bits], as_dtype("uint64")), values._shape)
    if not values.dtype.is_integer:
        raise ValueError(f"crossed_column takes strings and integers; got a feature of dtype {values.dtype.name}.")
    return ag.cast(ag.cast(values, "int64"), "uint64")


def _joined(left: Array, right: Array) -> Array:
    """FingerprintCat64 of TensorFlow: one hash of two."""
    mixed = left ^ _FACTOR ^ (_shifted(right * _FACTOR) * _FACTOR)
    return _shifted(_shifted(mixed * _FACTOR) * _FACTOR)


def _shifted(value: Array) -> Array:
    mixed: Array = value ^ (value >> np.uint64(47))
    return mixed
