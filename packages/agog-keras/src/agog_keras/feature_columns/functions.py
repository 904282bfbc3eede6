"""Functions: specs for parsers of examples, and layers of columns as functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agog_core import Tensor
from agog_data.examples.features import FixedLenFeature, VarLenFeature
from agog_keras.feature_columns.column import FeatureColumn
from agog_keras.feature_columns.dense_features import ColumnLayer, DenseFeatures
from agog_keras.feature_columns.linear_model import LinearModel
from agog_keras.feature_columns.sequence_features import SequenceFeatures
from agog_layers.tf_layers.variable_scope import variable_scope

__all__ = ["input_layer", "linear_model", "make_parse_example_spec", "sequence_input_layer"]


def make_parse_example_spec(feature_columns: Iterable[Any]) -> dict[str, FixedLenFeature | VarLenFeature]:
    """Say how `tf.parse_example` gets the features that columns read.

    Args:
        feature_columns: feature columns of any kind.

    Returns:
        A dict of keys to features.

    Raises:
        ValueError: one is no feature column, or two read one feature in different ways.

    >>> from agog_keras.feature_columns import numeric_column
    >>> make_parse_example_spec([numeric_column("price")])
    {'price': FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)}
    """
    specs: dict[str, FixedLenFeature | VarLenFeature] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"make_parse_example_spec: feature_columns must be feature columns; got {column!r}.")
        for key, spec in column.parse_example_spec.items():
            if specs.setdefault(key, spec) != spec:
                raise ValueError(
                    f"make_parse_example_spec: feature {key!r} is read in two ways: as {specs[key]} and as {spec}."
                )
    return specs


def input_layer(
    features: Any,
    feature_columns: Iterable[Any],
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> Tensor:
    """Run a new `DenseFeatures` layer, whose variables an active `EagerVariableStore` keeps by name.

    Args:
        features: a dict of tensors, dense or sparse.
        feature_columns: dense columns.
        trainable: whether the tables of vectors are trained.
        cols_to_vars: a dict that gets the list of variables of each column.
        cols_to_output_tensors: a dict that gets the tensor of each column.

    Returns:
        A tensor of shape (batch, n).

    Raises:
        ValueError: there is no column, one is not dense, or a feature is missing.

    >>> from agog_keras.feature_columns import numeric_column
    >>> print(input_layer({"price": [1.0, 2.0]}, [numeric_column("price")]))
    tf.Tensor(
    [[1.]
     [2.]], shape=(2, 1), dtype=float32)
    """
    with variable_scope(None, default_name="input_layer"):
        layer = DenseFeatures(feature_columns, trainable, "input_layer")
        outputs: Tensor = layer(features, cols_to_output_tensors=cols_to_output_tensors)
    if cols_to_vars is not None:
        cols_to_vars |= {column: _made(layer, column) for column in layer.feature_columns}
    return outputs


def linear_model(
    features: Any,
    feature_columns: Iterable[Any],
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
) -> Tensor:
    """Run a new `LinearModel` layer, whose variables an active `EagerVariableStore` keeps by name.

    Args:
        features: a dict of tensors, dense or sparse.
        feature_columns: dense and categorical columns.
        units: the number of outputs.
        sparse_combiner: how the weights of several categories of an example are combined.
        trainable: whether the weights are trained.
        cols_to_vars: a dict that gets the list of variables of each column, and the bias as ``"bias"``.

    Returns:
        A tensor of shape (batch, units).

    Raises:
        ValueError: there is no column, one is something else, or a feature is missing.

    >>> from agog_keras.feature_columns import numeric_column
    >>> print(linear_model({"price": [1.0, 2.0]}, [numeric_column("price")]))
    tf.Tensor(
    [[0.]
     [0.]], shape=(2, 1), dtype=float32)
    """
    with variable_scope(None, default_name="linear_model"):
        layer = LinearModel(feature_columns, units, sparse_combiner, trainable, "linear_model")
        outputs: Tensor = layer(features)
    if cols_to_vars is not None:
        kernels = {column: [layer.kernels[column.name]] for column in layer.feature_columns}
        cols_to_vars |= {column: [*_made(layer, column), *kernel] for column, kernel in kernels.items()}
        cols_to_vars["bias"] = [layer.bias]
    return outputs


def _made(layer: ColumnLayer, column: Any) -> list[Any]:
    made = layer.column_weights.get(column.name)
    return [] if made is None else [made]


def sequence_input_layer(
    features: Any, feature_columns: Iterable[Any], weight_collections: Any = None, trainable: bool = True
) -> tuple[Tensor, Tensor]:
    """Run a new `SequenceFeatures` layer, whose variables an active `EagerVariableStore` keeps by name.

    Args:
        features: a dict of tensors, dense or sparse.
        feature_columns: dense columns of sequences.
        trainable: whether the tables of vectors are trained.

    Returns:
        A tensor of shape (batch, steps, n), and the length of each sequence.

    Raises:
        ValueError: there is no column, one is of no sequences, or a feature is missing.
    """
    with variable_scope(None, default_name="sequence_input_layer"):
        found: tuple[Tensor, Tensor] = SequenceFeatures(feature_columns, trainable, "sequence_input_layer")(features)
    return found
