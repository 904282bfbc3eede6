"""What feature columns make of features, against values by hand and those that TensorFlow's own tests state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import SparseTensor
from agog_keras.feature_columns import (
    DenseFeatures,
    LinearModel,
    SequenceFeatures,
    bucketized_column,
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
    crossed_column,
    embedding_column,
    indicator_column,
    numeric_column,
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column,
    shared_embeddings,
    weighted_categorical_column,
)
from agog_keras.feature_columns.features import Features

TABLE = np.array([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0], [13.0, 17.0]], np.float32)


def jagged(*values: Any) -> SparseTensor:
    """One value in the first row, two in the second."""
    return SparseTensor([[0, 0], [1, 0], [1, 1]], list(values), [2, 2])


def ids(column: Any, features: dict[str, Any]) -> list[int]:
    """The numbers of the categories that are there, row by row."""
    found = column.categories(Features("test", features))
    kept: list[int] = found.ids.numpy()[found.present.numpy()].tolist()
    return kept


def dense(column: Any, **features: Any) -> list[Any]:
    listed: list[Any] = DenseFeatures([column])(features).numpy().tolist()
    return listed


def test_numbers() -> None:
    assert dense(numeric_column("x"), x=[1.0, 2.0]) == [[1.0], [2.0]]
    assert dense(numeric_column("x", 2), x=np.array([[1, 2]])) == [[1.0, 2.0]]
    assert dense(numeric_column("x", [2, 2]), x=[[[1.0, 2.0], [3.0, 4.0]]]) == [[1.0, 2.0, 3.0, 4.0]]
    assert dense(numeric_column("x", normalizer_fn=lambda x: x * 10.0), x=[1.0]) == [[10.0]]


def test_columns_stand_in_the_order_of_their_names() -> None:
    layer = DenseFeatures(numeric_column(name) for name in "cab")
    assert layer({"a": [1.0], "b": [2.0], "c": [3.0]}).numpy().tolist() == [[1.0, 2.0, 3.0]]


@pytest.mark.parametrize(("x", "interval"), [(-1.0, 0), (0.0, 1), (0.5, 1), (10.0, 2), (99.0, 2)])
def test_intervals(x: float, interval: int) -> None:
    column = bucketized_column(numeric_column("x"), [0, 10])
    assert dense(column, x=[x]) == [np.eye(3)[interval].tolist()]
    assert ids(column, {"x": [x]}) == [interval]


def test_intervals_of_vectors() -> None:
    column = bucketized_column(numeric_column("x", 2), [0, 10])
    assert dense(column, x=[[5.0, 20.0]]) == [[0.0, 1.0, 0.0, 0.0, 0.0, 1.0]]
    assert (ids(column, {"x": [[5.0, 20.0]]}), column.num_buckets) == ([1, 5], 6)


def test_identity() -> None:
    column = categorical_column_with_identity("n", 4)
    assert ids(column, {"n": [[3, -1], [0, 2]]}) == [3, 0, 2]
    assert ids(column, {"n": jagged(3, 0, 2)}) == [3, 0, 2]
    assert ids(categorical_column_with_identity("n", 4, default_value=1), {"n": jagged(9, -7, 2)}) == [1, 1, 2]


def test_hashes_are_those_of_tensorflow() -> None:
    assert ids(categorical_column_with_hash_bucket("w", 4), {"w": jagged("omar", "stringer", "marlo")}) == [2, 0, 3]


def test_hashes_of_integers_are_those_of_their_digits() -> None:
    of_numbers = ids(categorical_column_with_hash_bucket("n", 1000, "int64"), {"n": [[7], [42]]})
    assert of_numbers == ids(categorical_column_with_hash_bucket("w", 1000), {"w": [["7"], ["42"]]})


def test_vocabularies(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("red\ngreen\nblue\n", encoding="utf-8")
    words: dict[str, Any] = {"w": [["green"], ["gray"]]}
    listed, from_file = categorical_column_with_vocabulary_list, categorical_column_with_vocabulary_file
    assert ids(listed("w", ["red", "green"]), words) == [1, -1]
    assert ids(listed("w", ["red", "green"], default_value=0), words) == [1, 0]
    assert ids(listed("w", ["red", "green"], num_oov_buckets=1), words) == [1, 2]
    assert ids(listed("w", np.array(["red", "green"])), {"w": [["green", ""], ["", "red"]]}) == [1, 0]
    assert ids(listed("n", [8, 9]), {"n": np.array([9, 8, 5])}) == [1, 0, -1]
    assert ids(from_file("w", tmp_path / "words.txt"), words) == [1, -1]
    column = from_file("w", str(tmp_path / "words.txt"), vocabulary_size=2, num_oov_buckets=3)
    assert column.num_buckets == 5


def test_crosses_are_those_of_tensorflow() -> None:
    # The buckets that TensorFlow 1.12's feature_column_v2_test states for these features.
    b = bucketized_column(numeric_column("a", 2, dtype="int32"), (0, 1))
    features = {
        "a": [[-1.0, 0.5], [0.5, 1.0]],
        "c": jagged("cA", "cB", "cC"),
        "d1": jagged("d1A", "d1B", "d1C"),
        "d2": jagged("d2A", "d2B", "d2C"),
    }
    assert ids(crossed_column([b, "c"], 5, hash_key=5), features) == [1, 0, 1, 3, 4, 2]
    crossed = crossed_column([b, "c", crossed_column(["d1", "d2"], 10)], 15, hash_key=5)
    assert ids(crossed, features) == [6, 14, 0, 13, 8, 8, 10, 12, 2, 0, 1, 9, 8, 12, 2, 0, 10, 11]
    assert crossed.name == "a_bucketized_X_c_X_d1_X_d2"


def test_crosses_without_a_key_are_those_of_tensorflow() -> None:
    # From TensorFlow 1.12's sparse_cross_op_test.
    names = [f"batch1-FC{n}-F1" for n in (1, 2, 3)]
    features = {f"f{n}": [[name]] for n, name in enumerate(names)}
    assert ids(crossed_column(["f0", "f1", "f2"], 100), features) == [83]
    assert ids(crossed_column(["f0", "f1", "f2"], 100, hash_key=0xDECAFCAFFE + 1), features) == [31]


def test_indicators_count() -> None:
    column = categorical_column_with_identity("n", 4)
    assert dense(indicator_column(column), n=[[2, 2], [0, -1]]) == [[0.0, 0.0, 2.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    weighted = indicator_column(weighted_categorical_column(column, "w"))
    assert dense(weighted, n=[[2, 1]], w=[[0.5, -3.0]]) == [[0.0, -3.0, 0.5, 0.0]]
    assert dense(weighted, n=jagged(2, 1, 0), w=jagged(0.5, 2.0, 4.0)) == [[0, 0, 0.5, 0], [4, 2, 0, 0]]


@pytest.mark.parametrize(("combiner", "scale"), [("sum", 1.0), ("mean", 1 / 2), ("sqrtn", 1 / np.sqrt(2))])
def test_embeddings(combiner: str, scale: float) -> None:
    column = embedding_column(categorical_column_with_identity("n", 4), 2, combiner, lambda shape, dtype: TABLE)
    found = DenseFeatures([column])({"n": [[2, 3], [1, -1], [-1, -1]]}).numpy()
    np.testing.assert_allclose(found, [(TABLE[2] + TABLE[3]) * scale, TABLE[1], [0, 0]], rtol=1e-6)


@pytest.mark.parametrize(("combiner", "scale"), [("sum", 1.0), ("mean", 1 / 5), ("sqrtn", 1 / np.sqrt(13))])
def test_embeddings_with_weights(combiner: str, scale: float) -> None:
    words = weighted_categorical_column(categorical_column_with_identity("n", 4), "w")
    column = embedding_column(words, 2, combiner, lambda shape, dtype: TABLE)
    found = DenseFeatures([column])({"n": [[2, 3]], "w": [[2.0, 3.0]]}).numpy()
    np.testing.assert_allclose(found, [(2 * TABLE[2] + 3 * TABLE[3]) * scale], rtol=1e-6)


def test_weights_below_zero_count_for_sums_alone() -> None:
    words = weighted_categorical_column(categorical_column_with_identity("n", 4), "w")
    features = {"n": [[2, 3]], "w": [[1.0, -1.0]]}
    for combiner, wanted in (("sum", TABLE[2] - TABLE[3]), ("mean", TABLE[2])):
        column = embedding_column(words, 2, combiner, lambda shape, dtype: TABLE)
        np.testing.assert_allclose(DenseFeatures([column])(features).numpy(), [wanted])


def test_long_rows_are_cut() -> None:
    column = embedding_column(
        categorical_column_with_identity("n", 4), 2, "sum", lambda shape, dtype: TABLE, max_norm=1.0
    )
    found = DenseFeatures([column])({"n": [[3]]}).numpy()
    np.testing.assert_allclose(found, [TABLE[3] / np.linalg.norm(TABLE[3])], rtol=1e-6)


def test_gradients_of_embeddings() -> None:
    column = embedding_column(categorical_column_with_identity("n", 4), 2, "mean", lambda shape, dtype: TABLE)
    layer = DenseFeatures([column])
    with ag.GradientTape() as tape:
        loss = ag.reduce_sum(layer({"n": [[2, 3], [3, -1]]}) * [[1.0], [10.0]])
    (gradient,) = tape.gradient(loss, layer.trainable_variables)
    wanted = np.zeros_like(TABLE)
    wanted[2], wanted[3] = 0.5, 0.5 + 10.0
    np.testing.assert_allclose(ag.convert_to_tensor(gradient).numpy(), wanted)


def test_shared_tables() -> None:
    columns = [categorical_column_with_identity(name, 4) for name in "ba"]
    layer = DenseFeatures(shared_embeddings(columns, 2, initializer=lambda shape, dtype: TABLE), name="features")
    found = layer({"a": [1], "b": [3]}).numpy()
    np.testing.assert_allclose(found, [[*TABLE[1], *TABLE[3]]])
    assert [v.name for v in layer.trainable_variables] == ["features/a_b_shared_embedding/embedding_weights:0"]


def test_tables_that_sequences_share() -> None:
    columns = shared_embeddings(
        [sequence_categorical_column_with_identity(name, 4) for name in "ba"],
        2,
        initializer=lambda shape, dtype: TABLE,
    )
    found, lengths = SequenceFeatures(columns)({"a": [[1, 2], [3, -1]], "b": [[0, 0], [2, -1]]})
    np.testing.assert_allclose(
        found, [[[*TABLE[1], *TABLE[0]], [*TABLE[2], *TABLE[0]]], [[*TABLE[3], *TABLE[2]], [0] * 4]]
    )
    assert lengths.numpy().tolist() == [2, 1]
    with pytest.raises(ValueError, match="'a_shared_embedding' is a sequence; use SequenceFeatures"):
        DenseFeatures(columns)


def test_tables_that_are_not_trained() -> None:
    column = embedding_column(categorical_column_with_identity("n", 4), 2, trainable=False)
    layer = DenseFeatures([column])
    layer({"n": [1]})
    assert (len(layer.weights), layer.trainable_variables) == (1, [])


def test_tables_of_checkpoints(tmp_path: Path) -> None:
    from agog_checkpoint import Checkpoint

    prefix = Checkpoint(table=ag.Variable(TABLE)).save(str(tmp_path / "saved"))
    column = embedding_column(categorical_column_with_identity("n", 4), 2, "sum", None, prefix, "table")
    np.testing.assert_allclose(DenseFeatures([column])({"n": [2]}).numpy(), [TABLE[2]])


def test_linear_model() -> None:
    words = categorical_column_with_hash_bucket("w", 4)  # "omar" is 2, "stringer" 0, "marlo" 3
    features = {"w": jagged("omar", "stringer", "marlo"), "x": [[1.0], [-1.0]]}
    for combiner, wanted in (("sum", [[1006.0], [10014.0]]), ("mean", [[1006.0], [5009.0]])):
        model = LinearModel([words, numeric_column("x")], sparse_combiner=combiner)
        assert model(features).numpy().tolist() == [[0.0], [0.0]]
        model.set_weights([[[10.0], [100.0], [1000.0], [10000.0]], [[1.0]], [5.0]])
        np.testing.assert_allclose(model(features).numpy(), wanted)
    assert [v.name for v in model.weights] == [
        f"{model.name}/{name}:0" for name in ("w/weights", "x/weights", "bias_weights")
    ]


def test_sequences(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("red\ngreen\n", encoding="utf-8")
    embedded = sequence_categorical_column_with_identity("n", 4)
    columns = [
        embedding_column(embedded, 2, initializer=lambda shape, dtype: TABLE),
        indicator_column(sequence_categorical_column_with_vocabulary_list("w", ["red", "green"])),
        sequence_numeric_column("x"),
    ]
    features = {"n": [[3, -1], [1, 2]], "w": jagged("green", "red", "green"), "x": jagged(0.5, 1.5, 2.5)}
    found, lengths = SequenceFeatures(columns)(features)
    wanted = [[[*TABLE[3], 0, 1, 0.5], [0] * 5], [[*TABLE[1], 1, 0, 1.5], [*TABLE[2], 0, 1, 2.5]]]
    np.testing.assert_allclose(found.numpy(), wanted)
    assert lengths.numpy().tolist() == [1, 2]
    from_file = sequence_categorical_column_with_vocabulary_file("w", str(tmp_path / "words.txt"))
    hashed = sequence_categorical_column_with_hash_bucket("w", 4)
    assert SequenceFeatures([indicator_column(from_file)])(features)[0].shape == (2, 2, 2)
    assert SequenceFeatures([indicator_column(hashed)])(features)[0].shape == (2, 2, 4)


def test_numbers_of_sequences_in_several_at_a_step() -> None:
    features = {"x": SparseTensor([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [1, 3]], [0.0, 1, 2, 3, 4, 5], [2, 4])}
    found, lengths = SequenceFeatures([sequence_numeric_column("x", 2, normalizer_fn=lambda x: x + 1.0)])(features)
    assert found.numpy().tolist() == [[[1.0, 2.0], [0.0, 0.0]], [[3.0, 4.0], [5.0, 6.0]]]
    assert lengths.numpy().tolist() == [1, 2]
