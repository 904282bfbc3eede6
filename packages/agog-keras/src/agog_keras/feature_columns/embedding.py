"""Embedding: dense columns of categories: trained vectors, and one-hot ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import agog_core as ag
from agog_checkpoint.reader import load_variable
from agog_core import Tensor
from agog_data.examples.features import FixedLenFeature, VarLenFeature
from agog_keras.feature_columns.column import CategoricalColumn, Categories, DenseColumn, checked_categories
from agog_keras.feature_columns.features import Features
from agog_layers.layer.layer import Layer
from agog_layers.weights import initializers

__all__ = ["embedding_column", "indicator_column", "shared_embedding_columns", "shared_embeddings"]

COMBINERS = ("mean", "sqrtn", "sum")


def combined(table: Tensor, categories: Categories, combiner: str, max_norm: float | None = None) -> Tensor:
    """Combine the rows of a table that belong to the categories of each example; zeros if there are none.

    As in TensorFlow, a category whose weight is not above 0 counts for sums alone.
    """
    ids, present, weights = categories
    counts = present & (ids >= 0)
    if weights is not None and combiner != "sum":
        counts = counts & (weights > 0.0)
    rows = ag.gather(table, ag.maximum(ids, 0))
    if max_norm is not None:
        rows = ag.clip_by_norm(rows, max_norm, axes=[-1])
    factors = ag.cast(counts, rows.dtype) if weights is None else ag.where(counts, weights, ag.zeros_like(weights))
    total = ag.reduce_sum(rows * ag.expand_dims(factors, -1), 1)
    if combiner == "sum":
        return total
    scale = ag.reduce_sum(factors, 1) if combiner == "mean" else ag.sqrt(ag.reduce_sum(ag.square(factors), 1))
    return ag.div_no_nan(total, ag.expand_dims(scale, -1))


def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> EmbeddingColumn:
    """Make a column of vectors, one for each category, that are trained.

    Args:
        categorical_column: the column of the categories.
        dimension: how long a vector is.
        combiner: what an example with several categories has: the ``"mean"`` or ``"sum"`` of their vectors, or
            ``"sqrtn"``: the sum divided by the root of their number.
        initializer: an initializer of the table, or its name; None for a truncated normal distribution of standard
            deviation ``1 / sqrt(dimension)``.
        ckpt_to_load_from: a checkpoint in which the table is; None for none.
        tensor_name_in_ckpt: the table's name there.
        max_norm: the largest L2 norm of a vector; longer ones are scaled down. None for any.
        trainable: whether the table is trained.

    Returns:
        A dense column.

    Raises:
        ValueError: the column is not categorical, the dimension is not positive, there is no such combiner, or of the
            checkpoint and the name one is missing.

    >>> from agog_keras.feature_columns import DenseFeatures, categorical_column_with_identity
    >>> column = embedding_column(categorical_column_with_identity("day", 7), 3, initializer="ones")
    >>> print(DenseFeatures([column])({"day": [[2]]}))
    tf.Tensor([[1. 1. 1.]], shape=(1, 3), dtype=float32)
    """
    checked_categories("embedding_column", categorical_column)
    _check("embedding_column", dimension, combiner, ckpt_to_load_from, tensor_name_in_ckpt)
    return EmbeddingColumn(
        categorical_column,
        dimension,
        combiner,
        None if initializer is None else initializers.get(initializer),
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )


def _check(function: str, dimension: Any, combiner: str, checkpoint: Any, tensor: Any) -> None:
    if not isinstance(dimension, int) or dimension < 1:
        raise ValueError(f"{function}: dimension must be a positive integer; got {dimension!r}.")
    if combiner not in COMBINERS:
        raise ValueError(f"{function}: combiner must be 'mean', 'sqrtn' or 'sum'; got {combiner!r}.")
    if (checkpoint is None) is not (tensor is None):
        raise ValueError(
            f"{function}: give ckpt_to_load_from and tensor_name_in_ckpt, or neither; got {checkpoint!r} and "
            f"{tensor!r}."
        )


class ColumnOfCategories(DenseColumn):
    """Base of dense columns that are made of a categorical one."""

    categorical_column: CategoricalColumn

    @property
    def is_sequence(self) -> bool:  # type: ignore[override]  # what others keep is told here
        return self.categorical_column.is_sequence

    @property
    def parse_example_spec(self) -> dict[str, FixedLenFeature | VarLenFeature]:
        return self.categorical_column.parse_example_spec

    def of_each(self, features: Features, function: Callable[[Categories], Tensor]) -> Tensor:
        """A function's result for the categories of each example; of a sequence, of each step's."""
        categories = self.categorical_column.categories(features)
        if not self.is_sequence:
            return function(categories)
        shape = categories.ids._shape
        flat = [None if each is None else ag.reshape(each, [-1, 1]) for each in categories]
        found = function(Categories(*flat))  # type: ignore[arg-type]  # the first two are never None
        return ag.reshape(found, [*shape, *found._shape[1:]])


@dataclass(frozen=True)
class EmbeddingColumn(ColumnOfCategories):
    """See `embedding_column`."""

    categorical_column: CategoricalColumn
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool

    @property
    def name(self) -> str:  # type: ignore[override]  # what others keep is told here
        """The column's name."""
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self) -> ag.TensorShape:
        return ag.TensorShape([self.dimension])

    def weights(self, layer: Layer) -> ag.Variable:
        """Make the table."""
        return made_table(layer, f"{self.name}/embedding_weights", self.categorical_column.num_buckets, self)

    def dense(self, features: Features, weights: ag.Variable | None) -> Tensor:
        assert weights is not None
        table = weights.value()
        return self.of_each(features, lambda each: combined(table, each, self.combiner, self.max_norm))


def made_table(layer: Layer, name: str, rows: int, like: Any) -> ag.Variable:
    """The table of vectors of a column, or of what several share."""
    initializer = like.initializer
    if like.ckpt_to_load_from is not None:
        initializer = initializers.Constant(load_variable(like.ckpt_to_load_from, like.tensor_name_in_ckpt))
    elif initializer is None:
        initializer = initializers.TruncatedNormal(0.0, 1.0 / math.sqrt(like.dimension))
    return layer.add_weight(name, (rows, like.dimension), "float32", initializer, trainable=like.trainable)


class SharedTable(Layer):
    """A table of vectors that several columns share; see `shared_embeddings`."""

    def __init__(
        self,
        num_buckets: int,
        dimension: int,
        initializer: Any = None,
        ckpt_to_load_from: str | None = None,
        tensor_name_in_ckpt: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.num_buckets, self.dimension = num_buckets, dimension
        self.initializer = None if initializer is None else initializers.get(initializer)
        self.ckpt_to_load_from, self.tensor_name_in_ckpt = ckpt_to_load_from, tensor_name_in_ckpt

    def table(self) -> ag.Variable:
        """The table, made when it is first asked for."""
        if not self.built:
            self.embedding_weights = made_table(self, "embedding_weights", self.num_buckets, self)
            self.built = True
        return self.embedding_weights


def shared_embeddings(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> list[SharedEmbeddingColumn]:
    """Make columns of vectors that several categorical columns share: one table, and as many categories in each.

    Args:
        categorical_columns: the columns of the categories, all of one kind.
        shared_embedding_collection_name: the table's name; None for one made of the columns' names.
        Other arguments: see `embedding_column`.

    Returns:
        A dense column for each.

    Raises:
        ValueError: a column is not categorical, or they are of different kinds or numbers of categories.

    >>> from agog_keras.feature_columns import DenseFeatures, categorical_column_with_identity
    >>> watched = categorical_column_with_identity("watched", 100)
    >>> liked = categorical_column_with_identity("liked", 100)
    >>> layer = DenseFeatures(shared_embeddings([watched, liked], 8))
    >>> layer({"watched": [[3]], "liked": [[5]]}).shape, len(layer.weights)
    (TensorShape([1, 16]), 1)
    """
    columns = [checked_categories("shared_embeddings", column) for column in categorical_columns]
    _check("shared_embeddings", dimension, combiner, ckpt_to_load_from, tensor_name_in_ckpt)
    ordered = sorted(columns, key=lambda column: column.name)
    first = _inner(ordered[0])
    for column in ordered[1:]:
        if type(_inner(column)) is not type(first) or column.num_buckets != first.num_buckets:
            raise ValueError(
                "shared_embeddings: categorical_columns must be of one kind, with as many categories; got "
                f"{first.name!r} with {first.num_buckets} and {column.name!r} with {column.num_buckets}."
            )
    name = shared_embedding_collection_name or "_".join([*(each.name for each in ordered), "shared_embedding"])
    table = SharedTable(
        first.num_buckets,
        dimension,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        name=name,
        trainable=trainable,
    )
    return [SharedEmbeddingColumn(column, table, combiner, max_norm) for column in columns]


shared_embedding_columns = shared_embeddings


def _inner(column: Any) -> CategoricalColumn:
    """The weighted column of a column with weights; other columns themselves."""
    inner: CategoricalColumn = getattr(column, "categorical_column", column)
    return inner


@dataclass(frozen=True)
class SharedEmbeddingColumn(ColumnOfCategories):
    """See `shared_embeddings`."""

    categorical_column: CategoricalColumn
    shared: SharedTable
    combiner: str
    max_norm: float | None

    @property
    def name(self) -> str:  # type: ignore[override]
        """The column's name."""
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self) -> ag.TensorShape:
        return ag.TensorShape([self.shared.dimension])

    def weights(self, layer: Layer) -> ag.Variable:
        """See `DenseColumn.weights`; the layer's, though others have it too."""
        return self.shared.table()

    def dense(self, features: Features, weights: ag.Variable | None) -> Tensor:
        table = self.shared.table().value()
        return self.of_each(features, lambda each: combined(table, each, self.combiner, self.max_norm))


def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """Make a column of numbers that say how often an example has each category.

    Args:
        categorical_column: the column of the categories; where it has weights, they are added up.

    Returns:
        A dense column.

    Raises:
        ValueError: the column is not categorical.

    >>> from agog_keras.feature_columns import DenseFeatures, categorical_column_with_identity
    >>> column = indicator_column(categorical_column_with_identity("day", 3))
    >>> print(DenseFeatures([column])({"day": [[2, 2, -1]]}))
    tf.Tensor([[0. 0. 2.]], shape=(1, 3), dtype=float32)
    """
    return IndicatorColumn(checked_categories("indicator_column", categorical_column))


@dataclass(frozen=True)
class IndicatorColumn(ColumnOfCategories):
    """See `indicator_column`."""

    categorical_column: CategoricalColumn

    @property
    def name(self) -> str:  # type: ignore[override]
        """The column's name."""
        return f"{self.categorical_column.name}_indicator"

    @property
    def variable_shape(self) -> ag.TensorShape:
        return ag.TensorShape([self.categorical_column.num_buckets])

    def dense(self, features: Features, weights: ag.Variable | None) -> Tensor:
        return self.of_each(features, self._counted)

    def _counted(self, categories: Categories) -> Tensor:
        each = ag.cast(categories.present, "float32")
        factors = each if categories.weights is None else each * categories.weights
        ones = ag.one_hot(categories.ids, self.categorical_column.num_buckets)
        return ag.reduce_sum(ones * ag.expand_dims(factors, -1), 1)
