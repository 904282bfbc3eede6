"""Sequence features: columns of sequences, and a layer from them to one tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import agog_core as ag
from agog_core import Tensor, as_dtype
from agog_core.calls.docstrings import documented_like
from agog_data.examples.features import FixedLenFeature, VarLenFeature
from agog_keras.feature_columns.categorical import (
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
)
from agog_keras.feature_columns.column import (
    CategoricalColumn,
    Categories,
    DenseColumn,
    checked_dense_columns,
    checked_key,
)
from agog_keras.feature_columns.dense_features import ColumnLayer
from agog_keras.feature_columns.features import Features
from agog_keras.feature_columns.vocabulary import (
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)

__all__ = [
    "SequenceFeatures",
    "sequence_categorical_column_with_hash_bucket",
    "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list",
    "sequence_numeric_column",
]


@dataclass(frozen=True)
class SequenceCategoricalColumn(CategoricalColumn):
    """A column of categories of which each example has a sequence."""

    categorical_column: CategoricalColumn

    is_sequence = True

    @property
    def name(self) -> str:  # type: ignore[override]  # what others keep is told here
        """The column's name."""
        return self.categorical_column.name

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    @property
    def parse_example_spec(self) -> dict[str, FixedLenFeature | VarLenFeature]:
        return self.categorical_column.parse_example_spec

    def transform(self, features: Features) -> Categories:
        """The categories, one for each step."""
        return self.categorical_column.categories(features)


def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """Make a column of sequences of numbers. See `categorical_column_with_identity`.

    Args:
        key: the feature's key.
        Other arguments: see `categorical_column_with_identity`.

    Returns:
        A categorical column for `indicator_column`, `embedding_column` and `SequenceFeatures`.
    """
    return SequenceCategoricalColumn(categorical_column_with_identity(key, num_buckets, default_value))


@documented_like(sequence_categorical_column_with_identity)
def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = "string"
) -> SequenceCategoricalColumn:
    """Make a column of sequences that a hash puts into buckets. See `categorical_column_with_hash_bucket`.

    Args:
        Other arguments: see `categorical_column_with_hash_bucket`.
    """
    return SequenceCategoricalColumn(categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


@documented_like(sequence_categorical_column_with_identity)
def sequence_categorical_column_with_vocabulary_list(
    key: str, vocabulary_list: Sequence[Any], dtype: Any = None, default_value: int = -1, num_oov_buckets: int = 0
) -> SequenceCategoricalColumn:
    """Make a column of sequences of what a list names. See `categorical_column_with_vocabulary_list`.

    Args:
        Other arguments: see `categorical_column_with_vocabulary_list`.
    """
    column = categorical_column_with_vocabulary_list(key, vocabulary_list, dtype, default_value, num_oov_buckets)
    return SequenceCategoricalColumn(column)


@documented_like(sequence_categorical_column_with_identity)
def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = "string",
) -> SequenceCategoricalColumn:
    """Make a column of sequences of what a file names. See `categorical_column_with_vocabulary_file`.

    Args:
        Other arguments: see `categorical_column_with_vocabulary_file`.
    """
    column = categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
    )
    return SequenceCategoricalColumn(column)


def sequence_numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: float = 0.0,
    dtype: Any = "float32",
    normalizer_fn: Callable[[Tensor], Tensor] | None = None,
) -> SequenceNumericColumn:
    """Make a column of sequences of numbers, or of arrays of numbers.

    Args:
        key: the feature's key; also the column's name.
        shape: the shape of the numbers of a step.
        default_value: what fills up the shorter sequences of a batch.
        dtype: the dtype of parsed examples.
        normalizer_fn: a function of the feature's tensor.

    Returns:
        A dense column for `SequenceFeatures`.

    Raises:
        ValueError: the key is no string, or a size is not positive.
        TypeError: the function is none.
    """
    checked_key("sequence_numeric_column", key)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        raise ValueError(f"sequence_numeric_column {key!r}: shape must hold positive sizes; got {shape!r}.")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"sequence_numeric_column {key!r}: normalizer_fn must be a function; got {normalizer_fn!r}.")
    return SequenceNumericColumn(key, sizes, default_value, as_dtype(dtype), normalizer_fn)


@dataclass(frozen=True)
class SequenceNumericColumn(DenseColumn):
    """See `sequence_numeric_column`."""

    key: str
    shape: tuple[int, ...]
    default_value: float
    dtype: ag.DType
    normalizer_fn: Callable[[Tensor], Tensor] | None

    is_sequence = True

    @property
    def name(self) -> str:  # type: ignore[override]
        """The column's name."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, FixedLenFeature | VarLenFeature]:
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def variable_shape(self) -> ag.TensorShape:
        return ag.TensorShape(self.shape)

    def transform(self, features: Features) -> tuple[Tensor, Tensor]:
        """The numbers of each step, and which steps are there."""
        values, present = features.entries(self.key, ignores=False)
        numbers = ag.cast(values, "float32")
        if self.normalizer_fn is not None:
            numbers = ag.cast(self.normalizer_fn(numbers), "float32")
        filled = ag.where(present, numbers, ag.constant(self.default_value, "float32"))
        each = self.variable_shape.num_elements() or 1
        if values._shape[1] % each:
            raise ValueError(
                f"Feature {self.key!r} must have a multiple of {each} numbers, those of a step of its "
                f"sequence_numeric_column; got {values._shape[1]}."
            )
        steps = [values._shape[0], values._shape[1] // each]
        return ag.reshape(filled, [*steps, *self.shape]), ag.reduce_max(
            ag.cast(ag.reshape(present, [*steps, each]), "int64"), -1
        )

    def dense(self, features: Features, weights: ag.Variable | None) -> Tensor:
        numbers: Tensor = features.of(self)[0]
        return numbers


class SequenceFeatures(ColumnLayer):
    """Make one tensor of sequences: what sequence columns give, side by side in the order of the columns' names.

    Args:
        feature_columns: `sequence_numeric_column`, and `embedding_column` and `indicator_column` of the categorical
            columns of sequences.
        trainable: whether the tables of vectors are trained.
        name: the layer's name.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: there is no column, one is of no sequences, or two have one name.

    >>> from agog_keras.feature_columns import indicator_column
    >>> layer = SequenceFeatures([indicator_column(sequence_categorical_column_with_identity("word", 3))])
    >>> numbers, lengths = layer({"word": [[2, 0], [1, -1]]})
    >>> print(numbers.shape, lengths.numpy())
    (2, 2, 3) [2 1]
    """

    def __init__(
        self, feature_columns: Iterable[Any], trainable: bool = True, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.feature_columns = checked_dense_columns(self._title, feature_columns)
        for column in self._dense_columns():
            if not column.is_sequence:
                raise ValueError(
                    f"{self._title}: {column.name!r} is of no sequences; make it with sequence_numeric_column or a "
                    "sequence_categorical_column."
                )

    def call(self, features: Any) -> tuple[Tensor, Tensor]:
        """Make the tensor, of shape (batch, steps, n), and the length of each sequence, int64."""
        looked_at = Features(self._title, features)
        found = {column.name: self.dense(column, looked_at) for column in self._dense_columns()}
        self.check_batches(found)
        steps = {name: tensor._shape[1] for name, tensor in found.items()}
        if len(set(steps.values())) > 1:
            listed = ", ".join(f"{name!r} {count}" for name, count in steps.items())
            raise ValueError(f"{self._title}: all sequences must have as many steps; got {listed}.")
        present = [_present(column, looked_at) for column in self._dense_columns()]
        lengths = ag.reduce_max(ag.concat([ag.expand_dims(ag.reduce_sum(each, 1), 0) for each in present], 0), 0)
        return ag.concat(list(found.values()), -1), lengths


def _present(column: Any, features: Features) -> Tensor:
    """Which steps are there, as ones and zeros of int64."""
    if isinstance(column, SequenceNumericColumn):
        there: Tensor = features.of(column)[1]
        return there
    return ag.cast(column.categorical_column.categories(features).present, "int64")
