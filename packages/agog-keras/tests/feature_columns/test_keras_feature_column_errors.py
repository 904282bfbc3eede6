"""What feature columns say of mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agog_core import SparseTensor
from agog_core.errors import InvalidArgumentError
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
    make_parse_example_spec,
    numeric_column,
    sequence_categorical_column_with_identity,
    sequence_numeric_column,
    shared_embeddings,
    weighted_categorical_column,
)
from agog_testing import says

X = numeric_column("x")
N = categorical_column_with_identity("n", 3)
_N = "IdentityCategoricalColumn(key='n', number_buckets=3, default_value=None)"

MAKING: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: numeric_column(1), ValueError, "numeric_column: key must be a string; got 1 of type int."),  # type: ignore[arg-type]
    (
        lambda: numeric_column("x", [2.0]),
        TypeError,
        "numeric_column 'x': shape must hold integers; got [2.0].",
    ),
    (lambda: numeric_column("x", [0]), ValueError, "numeric_column 'x': shape must hold positive sizes; got [0]."),
    (
        lambda: numeric_column("x", dtype="string"),
        ValueError,
        "numeric_column 'x': dtype must be of floats or integers; got string.",
    ),
    (
        lambda: numeric_column("x", normalizer_fn=3),  # type: ignore[arg-type]
        TypeError,
        "numeric_column 'x': normalizer_fn must be a function; got 3.",
    ),
    (
        lambda: numeric_column("x", 3, default_value=[1.0, 2.0]),
        ValueError,
        "numeric_column 'x': default_value must be one number, or of shape (3,); got shape (2,).",
    ),
    (
        lambda: numeric_column("x", default_value=1.5, dtype="int64"),
        TypeError,
        "numeric_column 'x': default_value must be of dtype int64; got 1.5.",
    ),
    (
        lambda: bucketized_column(N, [1.0]),
        ValueError,
        f"bucketized_column: source_column must be a numeric_column; got {_N}.",
    ),
    (
        lambda: bucketized_column(numeric_column("x", [2, 2]), [1.0]),
        ValueError,
        "bucketized_column: source_column must have one axis; that of 'x' has shape (2, 2).",
    ),
    (
        lambda: bucketized_column(X, [2.0, 1.0]),
        ValueError,
        "bucketized_column: boundaries must be a list of ascending numbers; got [2.0, 1.0].",
    ),
    (
        lambda: categorical_column_with_identity("n", 0),
        ValueError,
        "categorical_column_with_identity 'n': num_buckets must be at least 1; got 0.",
    ),
    (
        lambda: categorical_column_with_identity("n", 3, 3),
        ValueError,
        "categorical_column_with_identity 'n': default_value must be from 0 to 2; got 3.",
    ),
    (
        lambda: categorical_column_with_hash_bucket("w", 0),
        ValueError,
        "categorical_column_with_hash_bucket 'w': hash_bucket_size must be at least 1; got 0.",
    ),
    (
        lambda: categorical_column_with_hash_bucket("w", 3, "float32"),
        ValueError,
        "categorical_column_with_hash_bucket 'w': dtype must be string or an integer's; got float32.",
    ),
    (
        lambda: categorical_column_with_vocabulary_list("w", []),
        ValueError,
        "categorical_column_with_vocabulary_list 'w': vocabulary_list is empty; give at least one term.",
    ),
    (
        lambda: categorical_column_with_vocabulary_list("w", ["a", "b", "a"]),
        ValueError,
        "categorical_column_with_vocabulary_list 'w': vocabulary_list has 'a' twice.",
    ),
    (
        lambda: categorical_column_with_vocabulary_list("w", ["a"], dtype="int64"),
        ValueError,
        "categorical_column_with_vocabulary_list 'w': vocabulary_list must hold terms of dtype int64; got ['a'].",
    ),
    (
        lambda: categorical_column_with_vocabulary_list("w", ["a"], num_oov_buckets=-1),
        ValueError,
        "categorical_column_with_vocabulary_list 'w': num_oov_buckets must be at least 0; got -1.",
    ),
    (
        lambda: categorical_column_with_vocabulary_list("w", ["a"], default_value=0, num_oov_buckets=2),
        ValueError,
        "categorical_column_with_vocabulary_list 'w': give num_oov_buckets or default_value; got 2 buckets and "
        "default_value 0.",
    ),
    (
        lambda: categorical_column_with_vocabulary_file("w", ""),
        ValueError,
        "categorical_column_with_vocabulary_file 'w': vocabulary_file is missing.",
    ),
    (
        lambda: weighted_categorical_column(X, "w"),
        ValueError,
        "weighted_categorical_column: categorical_column must be a categorical column, such as "
        f"categorical_column_with_identity gives; got {X!r}.",
    ),
    (
        lambda: weighted_categorical_column(N, "w", "string"),
        ValueError,
        "weighted_categorical_column: dtype must be of floats or integers; got string.",
    ),
    (lambda: crossed_column(["a"], 5), ValueError, "crossed_column: keys must be a list of two or more; got ['a']."),
    (
        lambda: crossed_column(["a", "b"], 0),
        ValueError,
        "crossed_column: hash_bucket_size must be at least 1; got 0.",
    ),
    (
        lambda: crossed_column(["a", 2], 5),
        ValueError,
        "crossed_column: a key must be a string or a categorical column; got 2.",
    ),
    (
        lambda: crossed_column(["a", categorical_column_with_hash_bucket("w", 3)], 5),
        ValueError,
        "crossed_column: categorical_column_with_hash_bucket 'w' would be hashed twice; give the key 'w' instead.",
    ),
    (
        lambda: embedding_column(N, 0),
        ValueError,
        "embedding_column: dimension must be a positive integer; got 0.",
    ),
    (
        lambda: embedding_column(N, 2, "max"),
        ValueError,
        "embedding_column: combiner must be 'mean', 'sqrtn' or 'sum'; got 'max'.",
    ),
    (
        lambda: embedding_column(N, 2, ckpt_to_load_from="folder"),
        ValueError,
        "embedding_column: give ckpt_to_load_from and tensor_name_in_ckpt, or neither; got 'folder' and None.",
    ),
    (
        lambda: shared_embeddings([N, categorical_column_with_identity("m", 4)], 2),
        ValueError,
        "shared_embeddings: categorical_columns must be of one kind, with as many categories; got 'm' with 4 and 'n' "
        "with 3.",
    ),
    (
        lambda: sequence_numeric_column("x", 0),
        ValueError,
        "sequence_numeric_column 'x': shape must hold positive sizes; got 0.",
    ),
    (
        lambda: sequence_numeric_column("x", normalizer_fn=3),  # type: ignore[arg-type]
        TypeError,
        "sequence_numeric_column 'x': normalizer_fn must be a function; got 3.",
    ),
    (
        lambda: DenseFeatures([N], name="features"),
        ValueError,
        "DenseFeatures layer 'features': feature_columns must be dense columns; wrap a categorical one with "
        f"embedding_column or indicator_column; got {_N}.",
    ),
    (
        lambda: DenseFeatures([], name="features"),
        ValueError,
        "DenseFeatures layer 'features': feature_columns is empty; give at least one column.",
    ),
    (
        lambda: DenseFeatures({"x": X}, name="features"),
        ValueError,
        "DenseFeatures layer 'features': feature_columns must be a list of columns; got a dict.",
    ),
    (
        lambda: DenseFeatures([X, numeric_column("x", 2)], name="features"),
        ValueError,
        "DenseFeatures layer 'features': two columns have the name 'x'; leave one out.",
    ),
    (
        lambda: DenseFeatures([sequence_numeric_column("x")], name="features"),
        ValueError,
        "DenseFeatures layer 'features': 'x' is a sequence; use SequenceFeatures.",
    ),
    (
        lambda: SequenceFeatures([X], name="features"),
        ValueError,
        "SequenceFeatures layer 'features': 'x' is of no sequences; make it with sequence_numeric_column or a "
        "sequence_categorical_column.",
    ),
    (
        lambda: LinearModel([3], name="model"),
        ValueError,
        "LinearModel layer 'model': feature_columns must be dense or categorical columns; got 3.",
    ),
    (
        lambda: LinearModel([X], sparse_combiner="max", name="model"),
        ValueError,
        "LinearModel layer 'model': sparse_combiner must be 'mean', 'sqrtn' or 'sum'; got 'max'.",
    ),
    (
        lambda: make_parse_example_spec(["x"]),
        ValueError,
        "make_parse_example_spec: feature_columns must be feature columns; got 'x'.",
    ),
    (
        lambda: make_parse_example_spec([X, numeric_column("x", 2)]),
        ValueError,
        "make_parse_example_spec: feature 'x' is read in two ways: as FixedLenFeature(shape=(1,), dtype=tf.float32, "
        "default_value=None) and as FixedLenFeature(shape=(2,), dtype=tf.float32, default_value=None).",
    ),
]


@pytest.mark.parametrize(("make", "kind", "text"), MAKING, ids=[text[:60] for _, _, text in MAKING])
def test_making(make: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with says(kind, text):
        make()


SPARSE = SparseTensor([[0, 0]], [1.0], [1, 1])
RUNNING: list[tuple[Any, Any, type[Exception], str]] = [
    (
        X,
        [1.0],
        ValueError,
        "DenseFeatures layer 'features': features must be a dict of tensors by their keys; got [1.0] of type list.",
    ),
    (X, {"y": [1.0], "z": [1.0]}, ValueError, "Feature 'x' is not among the features; there are 'y', 'z'."),
    (X, {"x": 1.0}, ValueError, "Feature 'x' must have one value or more for each example; got shape ()."),
    (
        X,
        {"x": SPARSE},
        ValueError,
        "Feature 'x' must be a tensor; got a SparseTensor. Convert it with tf.sparse.to_dense.",
    ),
    (X, {"x": ["a"]}, ValueError, "Feature 'x' of a numeric_column must be of numbers; got dtype string."),
    (
        X,
        {"x": [[1.0, 2.0]]},
        ValueError,
        "Feature 'x' must have shape (batch, 1) as its numeric_column says; got (1, 2).",
    ),
    (
        indicator_column(N),
        {"n": [5, 0]},
        InvalidArgumentError,
        "Feature 'n' must be from 0 to 2 as its categorical column says; got 0 to 5. A default_value stands in for "
        "other numbers.",
    ),
    (
        indicator_column(N),
        {"n": ["a"]},
        ValueError,
        "Feature 'n' must be of integers as its categorical column says; got dtype string.",
    ),
    (
        indicator_column(categorical_column_with_hash_bucket("w", 3)),
        {"w": [1]},
        ValueError,
        "Feature 'w' must be of strings as its categorical column says; got dtype int32.",
    ),
    (
        indicator_column(weighted_categorical_column(N, "w")),
        {"n": [[1, 2]], "w": [[1.0]]},
        ValueError,
        "Feature 'w' must have a weight for each category of 'n', of shape (1, 2); got shape (1, 1).",
    ),
    (
        indicator_column(weighted_categorical_column(N, "w")),
        {"n": [1], "w": ["a"]},
        ValueError,
        "Feature 'w' must be of numbers; got dtype string.",
    ),
    (
        indicator_column(crossed_column(["x", "y"], 5)),
        {"x": [1.0], "y": ["a"]},
        ValueError,
        "crossed_column takes strings and integers; got a feature of dtype float32.",
    ),
    (
        indicator_column(crossed_column([weighted_categorical_column(N, "w"), "y"], 5)),
        {"n": [1], "w": [1.0], "y": ["a"]},
        ValueError,
        "crossed_column takes no weights; 'n_weighted_by_w' has some.",
    ),
    (
        [X, numeric_column("y")],
        {"x": [1.0], "y": [1.0, 2.0]},
        ValueError,
        "DenseFeatures layer 'features': all features must have as many examples; got 'x' 1, 'y' 2.",
    ),
]


@pytest.mark.parametrize(("columns", "features", "kind", "text"), RUNNING, ids=[each[3][:60] for each in RUNNING])
def test_running(columns: Any, features: Any, kind: type[Exception], text: str) -> None:
    layer = DenseFeatures(columns, name="features")
    with says(kind, text):
        layer(features)


def test_sequences() -> None:
    numbers = sequence_numeric_column("x", 2)
    with says(
        ValueError,
        "Feature 'x' must have a multiple of 2 numbers, those of a step of its sequence_numeric_column; got 3.",
    ):
        SequenceFeatures([numbers])({"x": [[1.0, 2.0, 3.0]]})
    words = indicator_column(sequence_categorical_column_with_identity("n", 3))
    with says(
        ValueError,
        "SequenceFeatures layer 'features': all sequences must have as many steps; got 'n_indicator' 2, 'x' 1.",
    ):
        SequenceFeatures([sequence_numeric_column("x"), words], name="features")({"x": [[1.0]], "n": [[1, 2]]})


def test_files_that_are_too_short(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("red\n", encoding="utf-8")
    with says(
        ValueError,
        "categorical_column_with_vocabulary_file 'w': vocabulary_size must be from 1 to 1, the lines of "
        f"{str(path)!r}; got 2.",
    ):
        categorical_column_with_vocabulary_file("w", str(path), vocabulary_size=2)
