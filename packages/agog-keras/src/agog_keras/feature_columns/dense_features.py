"""Dense features: a layer from the features of a batch to one tensor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

from agog_core import SparseTensor, Tensor, TensorShape, Variable, concat, convert_to_tensor, float32, nest, reshape
from agog_keras.feature_columns.column import DenseColumn, checked_dense_columns
from agog_keras.feature_columns.embedding import SharedEmbeddingColumn, SharedTable
from agog_keras.feature_columns.features import Features
from agog_layers.arguments.signature import NOT_GIVEN
from agog_layers.layer.layer import Layer
from agog_layers.layer.symbolic import Symbolic
from agog_layers.serialization.description import revive

__all__ = ["DenseFeatures", "FeatureLayer"]


class ColumnLayer(Layer):
    """Base of layers on features by their keys, a dict of tensors, dense or sparse."""

    computes_in: ClassVar[str | None] = "variable_dtype"  # what is cast is the result

    feature_columns: tuple[Any, ...]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._dtype = self._dtype or float32  # and not that of a feature

    def __call__(self, inputs: Any = NOT_GIVEN, *args: Any, **kwargs: Any) -> Any:
        """See `Layer.__call__`; a list among the features is one tensor."""
        if inputs is NOT_GIVEN:
            return super().__call__(*args, **kwargs)
        if not isinstance(inputs, Mapping):
            Features(self._title, inputs)  # says what is wrong
        return super().__call__({key: _tensor(value) for key, value in inputs.items()}, *args, **kwargs)

    def build(self, input_shape: Any) -> None:
        """Make the weights of the columns."""
        self.column_weights = {column.name: column.weights(self) for column in self._dense_columns()}
        self.shared_tables = [c.shared for c in self.feature_columns if isinstance(c, SharedEmbeddingColumn)]
        self.built = True

    def dense(self, column: DenseColumn, features: Features) -> Tensor:
        """A column's result for the features, as a vector for each example or step."""
        weights: Variable | None = self.column_weights[column.name]
        numbers = column.dense(features, weights)
        kept = numbers._shape[: len(numbers._shape) - len(column.variable_shape)]
        return reshape(numbers, [*kept, column.variable_shape.num_elements()])

    def check_batches(self, tensors: Mapping[str, Tensor]) -> None:
        """Raise a ValueError if what columns give is not of the same number of examples."""
        sizes = {name: tensor._shape[0] for name, tensor in tensors.items()}
        if len(set(sizes.values())) > 1:
            listed = ", ".join(f"{name!r} {size}" for name, size in sizes.items())
            raise ValueError(f"{self._title}: all features must have as many examples; got {listed}.")

    def _dense_columns(self) -> list[DenseColumn]:
        return [column for column in self.feature_columns if isinstance(column, DenseColumn)]

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """See `Layer.from_config`; tables of one name are one again."""
        layer = super().from_config({**config, "feature_columns": revive(config["feature_columns"])})
        tables: dict[str, SharedTable] = {}
        layer.feature_columns = tuple(
            replace(each, shared=tables.setdefault(each.shared.name, each.shared))
            if isinstance(each, SharedEmbeddingColumn)
            else each
            for each in layer.feature_columns
        )
        return layer


def _tensor(value: Any) -> Any:
    return value if isinstance(value, (SparseTensor, Symbolic)) else convert_to_tensor(value)


class DenseFeatures(ColumnLayer):
    """Make one tensor of features: what dense columns give, side by side in the order of the columns' names.

    Args:
        feature_columns: dense columns, such as `numeric_column` and `embedding_column` give.
        trainable: whether the tables of vectors are trained.
        name: the layer's name.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: there is no column, one is not dense, or two have one name.

    >>> from agog_keras.feature_columns import numeric_column
    >>> layer = DenseFeatures([numeric_column("width"), numeric_column("height")])
    >>> print(layer({"width": [1.0, 2.0], "height": [3.0, 4.0]}))
    tf.Tensor(
    [[3. 1.]
     [4. 2.]], shape=(2, 2), dtype=float32)
    """

    def __init__(
        self, feature_columns: Iterable[Any], trainable: bool = True, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.feature_columns = checked_dense_columns(self._title, feature_columns)
        for column in self._dense_columns():
            if column.is_sequence:
                raise ValueError(f"{self._title}: {column.name!r} is a sequence; use SequenceFeatures.")

    def call(self, features: Any, cols_to_output_tensors: dict[Any, Any] | None = None) -> Tensor:
        """Make the tensor, of shape (batch, n); what each column gave is put into ``cols_to_output_tensors``."""
        looked_at = Features(self._title, features)
        found = {column.name: self.dense(column, looked_at) for column in self._dense_columns()}
        self.check_batches(found)
        if cols_to_output_tensors is not None:
            cols_to_output_tensors |= {column: found[column.name] for column in self.feature_columns}
        return concat(list(found.values()), 1)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        count = sum(column.variable_shape.num_elements() or 0 for column in self._dense_columns())
        shapes = nest.flatten(input_shape) if isinstance(input_shape, Mapping) else [TensorShape(input_shape)]
        return TensorShape([shapes[0][0], count])


FeatureLayer = DenseFeatures
