"""Linear model: a layer with the weighted sum of features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agog_core import Tensor, TensorShape, add_n, nest
from agog_keras.feature_columns.column import CategoricalColumn, DenseColumn, checked_columns
from agog_keras.feature_columns.dense_features import ColumnLayer
from agog_keras.feature_columns.embedding import COMBINERS, combined
from agog_keras.feature_columns.features import Features

__all__ = ["LinearModel"]


class LinearModel(ColumnLayer):
    """Add up weights of features: of each category its own, of each number the product with it, and a bias.

    Args:
        feature_columns: dense and categorical columns.
        units: the number of outputs.
        sparse_combiner: how the weights of several categories of an example are combined: ``"sum"``, ``"mean"`` or
            ``"sqrtn"``; see `embedding_column`.
        trainable: whether the weights are trained.
        name: the layer's name.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: there is no column, one is something else, two have one name, or there is no such combiner.

    >>> from agog_keras.feature_columns import numeric_column
    >>> layer = LinearModel([numeric_column("price")])
    >>> print(layer({"price": [[1.0], [5.0]]}))
    tf.Tensor(
    [[0.]
     [0.]], shape=(2, 1), dtype=float32)
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        if sparse_combiner not in COMBINERS:
            raise ValueError(
                f"{self._title}: sparse_combiner must be 'mean', 'sqrtn' or 'sum'; got {sparse_combiner!r}."
            )
        kinds = (DenseColumn, CategoricalColumn)
        advice = "feature_columns must be dense or categorical columns"
        self.feature_columns = checked_columns(self._title, feature_columns, kinds, advice)
        self.units, self.sparse_combiner = units, sparse_combiner

    def build(self, input_shape: Any) -> None:
        """Make the weights, which are zeros, and those of the columns."""
        super().build(input_shape)
        self.kernels = {
            column.name: self.add_weight(f"{column.name}/weights", (_size(column), self.units), "float32", "zeros")
            for column in self.feature_columns
        }
        self.bias = self.add_weight("bias_weights", (self.units,), "float32", "zeros")

    @property
    def bias_variable(self) -> Any:
        """The bias."""
        return self.bias

    def call(self, features: Any) -> Tensor:
        """Add them up, of shape (batch, units)."""
        looked_at = Features(self._title, features)
        found = {column.name: self._weighed(column, looked_at) for column in self.feature_columns}
        self.check_batches(found)
        return add_n(list(found.values())) + self.bias

    def _weighed(self, column: Any, features: Features) -> Tensor:
        kernel = self.kernels[column.name].value()
        if isinstance(column, CategoricalColumn):
            return combined(kernel, column.categories(features), self.sparse_combiner)
        return self.dense(column, features) @ kernel

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shapes = nest.flatten(input_shape) if isinstance(input_shape, Mapping) else [TensorShape(input_shape)]
        return TensorShape([shapes[0][0], self.units])


def _size(column: Any) -> Any:
    """How many weights a column has for each output."""
    return column.num_buckets if isinstance(column, CategoricalColumn) else column.variable_shape.num_elements()
