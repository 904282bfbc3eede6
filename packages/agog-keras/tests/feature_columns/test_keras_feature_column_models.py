"""Feature columns in models, in traced functions, in examples, and in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import SparseTensor
from agog_core.tracing.functions.function import function
from agog_data import Dataset
from agog_data.examples.features import FixedLenFeature, VarLenFeature
from agog_data.examples.parsing import parse_example
from agog_keras.feature_columns import (
    DenseFeatures,
    LinearModel,
    bucketized_column,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_list,
    crossed_column,
    embedding_column,
    indicator_column,
    input_layer,
    linear_model,
    make_parse_example_spec,
    numeric_column,
    shared_embeddings,
    weighted_categorical_column,
)
from agog_layers import Dense, Input
from agog_training import Model, Sequential, load_model

KINDS = ["cat", "dog", "bird"]


def columns() -> list[Any]:
    kind = categorical_column_with_vocabulary_list("kind", KINDS)
    age = numeric_column("age")
    return [
        age,
        bucketized_column(age, [0.2, 0.5]),
        embedding_column(kind, 4),
        indicator_column(crossed_column(["kind", "color"], 20)),
        *shared_embeddings([categorical_column_with_identity(name, 5) for name in "uv"], 2),
    ]


def table(count: int) -> tuple[dict[str, Any], Any]:
    rng = np.random.default_rng(7)
    features: dict[str, Any] = {
        "age": rng.random(count),
        "kind": rng.choice(KINDS, count),
        "color": rng.choice(["red", "green"], count),
        "u": rng.integers(0, 5, count),
        "v": rng.integers(0, 5, count),
    }
    return features, ((features["age"] > 0.5) & (features["kind"] != "dog")).astype("float32")


def compiled() -> Sequential:
    ag.set_random_seed(1)
    model = Sequential([DenseFeatures(columns()), Dense(16, activation="relu"), Dense(1, activation="sigmoid")])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return model


def test_models_learn_from_dicts_and_datasets_of_dicts(tmp_path: Path) -> None:
    x, y = table(128)
    model = compiled()
    losses = model.fit(x, y, epochs=3, verbose=0).history["loss"]
    dataset = Dataset.from_tensor_slices((x, y)).batch(32)
    losses += model.fit(dataset, epochs=3, verbose=0).history["loss"]
    assert losses == sorted(losses, reverse=True)
    np.testing.assert_allclose(model.evaluate(dataset, verbose=0), model.evaluate(x, y, verbose=0), rtol=1e-5)
    model.save(tmp_path / "model.agog")
    loaded = load_model(tmp_path / "model.agog")
    assert len(loaded.weights) == len(model.weights) == 6  # the shared table is one again
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))


def test_sparse_features_come_through_models() -> None:
    x, _ = table(3)
    model = compiled()
    sparse = SparseTensor([[n, 0] for n in range(3)], x["u"], [3, 4])
    np.testing.assert_array_equal(model({**x, "u": sparse}).numpy(), model(x).numpy())


def test_functional_models() -> None:
    x, _ = table(4)
    kinds = {"age": "float32", "kind": "string", "color": "string", "u": "int64", "v": "int64"}
    inputs = {name: Input([1], name=name, dtype=dtype) for name, dtype in kinds.items()}
    layer = DenseFeatures(columns())
    hidden = layer(inputs)
    assert hidden.shape.as_list() == [None, 1 + 3 + 4 + 20 + 2 + 2]
    model: Any = Model(inputs, Dense(1)(hidden))
    np.testing.assert_allclose(model(x).numpy(), model.layers[-1](layer(x)).numpy())


def test_traced_functions_serve_all_batches() -> None:
    x, _ = table(40)
    layer = DenseFeatures(columns())
    runs = []

    @function
    def traced(batch: Any) -> Any:
        runs.append(1)
        return layer(batch)

    batches = [{key: ag.constant(value[n : n + 10]) for key, value in x.items()} for n in range(0, 40, 10)]
    layer(batches[0])
    for batch in batches:
        np.testing.assert_array_equal(traced(batch).numpy(), layer(batch).numpy())
    assert len(runs) == 1


def test_layers_are_made_again_of_their_configuration() -> None:
    weighted = weighted_categorical_column(categorical_column_with_identity("n", 3), "w")
    layer = LinearModel([*columns()[:4], weighted], units=2, sparse_combiner="mean")
    again = LinearModel.from_config(layer.get_config())
    assert again.feature_columns == layer.feature_columns
    assert (again.units, again.sparse_combiner) == (2, "mean")


def test_examples_are_parsed_as_columns_say() -> None:
    pytest.importorskip("google.protobuf", reason="protobuf, which messages need, is not installed")
    from agog_data.examples.messages import Example

    spec = make_parse_example_spec(
        [*columns()[:4], weighted_categorical_column(categorical_column_with_identity("n", 3), "w")]
    )
    assert spec == {
        "age": FixedLenFeature((1,), ag.float32, None),
        "kind": VarLenFeature(ag.string),
        "color": VarLenFeature(ag.string),
        "n": VarLenFeature(ag.int64),
        "w": VarLenFeature(ag.float32),
    }
    example = Example()
    example.features.feature["age"].float_list.value.append(0.75)
    example.features.feature["kind"].bytes_list.value.extend([b"dog", b"bird"])
    example.features.feature["color"].bytes_list.value.append(b"red")
    parsed = parse_example([example.SerializeToString()], spec)
    kinds = indicator_column(categorical_column_with_vocabulary_list("kind", KINDS))
    assert DenseFeatures([numeric_column("age"), kinds])(parsed).numpy().tolist() == [[0.75, 0.0, 1.0, 1.0]]


def test_functions_tell_the_variables() -> None:
    column = embedding_column(categorical_column_with_identity("n", 3), 2)
    made: dict[Any, Any] = {}
    tensors: dict[Any, Any] = {}
    found = input_layer({"n": [1]}, [column], cols_to_vars=made, cols_to_output_tensors=tensors)
    np.testing.assert_array_equal(found.numpy(), made[column][0].numpy()[1:2])
    np.testing.assert_array_equal(found.numpy(), tensors[column].numpy())
    kept: dict[Any, Any] = {}
    assert linear_model({"n": [1]}, [column], units=3, cols_to_vars=kept).shape == (1, 3)
    assert [v.shape.as_list() for v in kept[column]] == [[3, 2], [2, 3]]
    assert [v.shape.as_list() for v in kept["bias"]] == [[3]]
