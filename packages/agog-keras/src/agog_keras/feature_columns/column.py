"""Column: the base of all feature columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

from agog_core import Tensor, TensorShape, Variable, as_dtype
from agog_data.examples.features import FixedLenFeature, VarLenFeature
from agog_keras.feature_columns.features import Features
from agog_layers.layer.layer import Layer
from agog_layers.serialization.description import Configured, revive

__all__ = ["CategoricalColumn", "DenseColumn", "FeatureColumn"]


class Categories(NamedTuple):
    """The categories of each example.

    ``ids`` has the numbers, int64 of shape (batch, n); negative ones are of no category. ``present`` says which of them
    an example has, the others fill up; ``weights`` has a weight for each, or is None.
    """

    ids: Tensor
    present: Tensor
    weights: Tensor | None = None


class FeatureColumn(Configured):
    """Base of feature columns; columns with equal arguments are equal."""

    described_kind: ClassVar[str] = "column"

    name: str

    @property
    def parse_example_spec(self) -> dict[str, FixedLenFeature | VarLenFeature]:
        """The features that the column reads, as `tf.parse_example` takes them."""
        raise NotImplementedError

    def transform(self, features: Features) -> Any:
        """The column's result for the features of a batch; `Features.of` keeps it."""
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Make a column of what `get_config` returned."""
        values = {name: _tuples(revive(value)) for name, value in config.items()}
        return cls(**{name: as_dtype(value) if name == "dtype" else value for name, value in values.items()})


class DenseColumn(FeatureColumn):
    """Base of columns that give numbers for each example."""

    # Whether each example may have any number of entries, in order.
    is_sequence: ClassVar[bool] = False

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of the numbers of one example."""
        raise NotImplementedError

    def weights(self, layer: Layer) -> Variable | None:
        """Make the column's weights as the layer's; None for a column without."""
        return None

    def dense(self, features: Features, weights: Variable | None) -> Tensor:
        """The numbers of a batch, of shape (batch, *variable_shape)."""
        raise NotImplementedError


class CategoricalColumn(FeatureColumn):
    """Base of columns that give categories for each example."""

    # Whether the entries are in an order that counts.
    is_sequence: ClassVar[bool] = False

    @property
    def num_buckets(self) -> int:
        """How many categories there are."""
        raise NotImplementedError

    def categories(self, features: Features) -> Categories:
        """The categories of a batch."""
        found: Categories = features.of(self)
        return found


def checked_key(function: str, key: Any) -> str:
    """The key of a feature; a ValueError if it is no string."""
    if not isinstance(key, str):
        raise ValueError(f"{function}: key must be a string; got {key!r} of type {type(key).__name__}.")
    return key


def checked_categories(function: str, column: Any) -> CategoricalColumn:
    """A categorical column; a ValueError if it is something else."""
    if not isinstance(column, CategoricalColumn):
        raise ValueError(
            f"{function}: categorical_column must be a categorical column, such as "
            f"categorical_column_with_identity gives; got {column!r}."
        )
    return column


def checked_columns(what: str, columns: Any, kinds: Any, advice: str) -> tuple[Any, ...]:
    """Feature columns in the order of their names; a ValueError for others, and for two of one name."""
    if isinstance(columns, Mapping):
        raise ValueError(f"{what}: feature_columns must be a list of columns; got a dict.")
    listed: list[Any] = [columns] if isinstance(columns, FeatureColumn) else list(columns)
    if not listed:
        raise ValueError(f"{what}: feature_columns is empty; give at least one column.")
    names: set[str] = set()
    for column in listed:
        if not isinstance(column, kinds):
            raise ValueError(f"{what}: {advice}; got {column!r}.")
        if column.name in names:
            raise ValueError(f"{what}: two columns have the name {column.name!r}; leave one out.")
        names.add(column.name)
    return tuple(sorted(listed, key=lambda column: column.name))


def checked_dense_columns(what: str, columns: Any) -> tuple[Any, ...]:
    """Dense columns in the order of their names; a ValueError for others, and for two of one name."""
    advice = "feature_columns must be dense columns; wrap a categorical one with embedding_column or indicator_column"
    return checked_columns(what, columns, (DenseColumn,), advice)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
