"""Datasets with the methods of the library ``datasets``, which these classes stand for."""

from __future__ import annotations

import json
from collections.abc import Iterator as Rows
from typing import Any

import numpy as np
import pytest

from agog_core import errors
from agog_data import Iterator
from agog_data.readers import from_huggingface
from agog_testing import says


class Value:
    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"Value({self.dtype!r})"


class Sequence:
    def __init__(self, feature: Any, length: int = -1) -> None:
        self.feature = feature
        self.length = length


class Array2D:
    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape = shape
        self.dtype = dtype


class MapStyle:
    """As datasets.Dataset: a number gives a row, a list of numbers gives a list for each feature."""

    def __init__(self, features: Any, columns: dict[str, list[Any]]) -> None:
        self.features = features
        self.columns = columns
        self.asked: list[Any] = []

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, key: Any) -> dict[str, Any]:
        self.asked.append(key)
        if isinstance(key, list):
            return {name: [column[row] for row in key] for name, column in self.columns.items()}
        return {name: column[key] for name, column in self.columns.items()}


class IterableStyle:
    """As datasets.IterableDataset."""

    def __init__(self, features: Any, rows: list[dict[str, Any]]) -> None:
        self.features = features
        self.rows = rows

    def __iter__(self) -> Rows[dict[str, Any]]:
        return iter(self.rows)


FEATURES = {
    "label": Value("int64"),
    "small": Value("int8"),
    "score": Value("float32"),
    "flag": Value("bool"),
    "text": Value("string"),
    "data": Value("binary"),
    "vector": Sequence(Value("float64"), 3),
    "words": Sequence(Value("string"), 2),
    "image": Array2D((2, 2), "uint8"),
}
COLUMNS: dict[str, list[Any]] = {
    "label": list(range(10)),
    "small": [-k for k in range(10)],
    "score": [k / 4 for k in range(10)],
    "flag": [k % 2 == 0 for k in range(10)],
    "text": [f"ä{k}" for k in range(10)],
    "data": [bytes([0, k, 0]) for k in range(10)],
    "vector": [[k, 0.5, -k] for k in range(10)],
    "words": [["a", f"b{k}"] for k in range(10)],
    "image": [[[k, 1], [2, 3]] for k in range(10)],
}


def python(value: Any) -> Any:
    host = value.numpy()
    return host if isinstance(host, bytes) else host.tolist()


def encoded(value: Any) -> Any:
    if isinstance(value, list):
        return [encoded(part) for part in value]
    return value.encode() if isinstance(value, str) else value


def expected(rows: range) -> list[dict[str, Any]]:
    return [{name: encoded(column[row]) for name, column in COLUMNS.items()} for row in rows]


def listed(dataset: Any) -> list[dict[str, Any]]:
    return [{name: python(part) for name, part in row.items()} for row in dataset]


def test_rows_by_number() -> None:
    own = MapStyle(FEATURES, COLUMNS)
    dataset = from_huggingface(own)
    assert listed(dataset) == expected(range(10))
    names = ["int64", "int8", "float32", "bool", "string", "string", "float64", "string", "uint8"]
    assert [dtype.name for dtype in dataset.output_types.values()] == names
    assert [x.as_list() for x in dataset.output_shapes.values()] == [[], [], [], [], [], [], [3], [2], [2, 2]]
    own.asked.clear()
    batch = next(iter(dataset.shuffle(10, seed=4).batch(5)))
    assert len(own.asked) == 1
    assert len(own.asked[0]) == 5
    assert {name: part.numpy().tolist() for name, part in batch.items()} == {
        name: [row[name] for row in (expected(range(10))[k] for k in own.asked[0])] for name in COLUMNS
    }


def test_numpy_values_are_rows_too() -> None:
    own = MapStyle({"x": Sequence(Value("float32"), 2)}, {"x": [np.array([k, 1.0], np.float32) for k in range(3)]})
    assert listed(from_huggingface(own)) == [{"x": [k, 1.0]} for k in range(3)]


@pytest.mark.parametrize("style", ["map", "iterable"])
def test_the_state_after_every_row(style: str) -> None:
    ragged = [{"x": list(range(k)), "t": f"t{k}"} for k in range(6)]
    features = {"x": Sequence(Value("int64")), "t": Value("string")}
    columns = {name: [row[name] for row in ragged] for name in features}
    own: Any = MapStyle(features, columns) if style == "map" else IterableStyle(features, ragged)
    dataset = from_huggingface(own)
    everything = [{"x": list(range(k)), "t": f"t{k}".encode()} for k in range(6)]
    iterator = Iterator(dataset)
    for done in range(7):
        other = Iterator(dataset)
        other.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
        assert listed(other) == everything[done:]
        if done < 6:
            next(iterator)
    assert dataset.output_shapes["x"].as_list() == [None]


def test_skip_is_used_where_there_is_one() -> None:
    class Skipping(IterableStyle):
        def skip(self, count: int) -> IterableStyle:
            return IterableStyle(self.features, [{"x": 100 + count}])

    iterator = Iterator(from_huggingface(Skipping({"x": Value("int64")}, [{"x": 0}, {"x": 1}])))
    next(iterator)
    other = Iterator(from_huggingface(Skipping({"x": Value("int64")}, [{"x": 0}, {"x": 1}])))
    other.load_state_dict(iterator.state_dict())
    assert int(next(other)["x"]) == 101


@pytest.mark.parametrize(
    ("feature", "value", "problem"),
    [
        (Value("int64"), None, "int64 and the shape (); the value is None, of type NoneType."),
        (Value("string"), None, "string and the shape (); the value is None, of type NoneType."),
        (Value("string"), 3, "string and the shape (); the value is 3, of type int."),
        (
            Sequence(Value("float32"), 2),
            [1.0, None],
            "float32 and the shape (2,); the value is [1.0, None], of type list.",
        ),
        (Sequence(Value("float32"), 2), [1.0], "float32 and the shape (2,); the value is [1.0], of type list."),
        (Sequence(Value("string"), 1), [None], "string and the shape (1,); the value is [None], of type list."),
        (
            Array2D((2, 2), "uint8"),
            [[1, 2], [3]],
            "uint8 and the shape (2, 2); the value is [[1, 2], [3]], of type list.",
        ),
    ],
)
def test_values_that_do_not_fit(feature: Any, value: Any, problem: str) -> None:
    dataset = from_huggingface(MapStyle({"x": feature}, {"x": [value]}))
    for broken in (dataset, dataset.batch(1)):
        with says(errors.InvalidArgumentError, f"from_huggingface: row 0: the feature 'x' has the dtype {problem}"):
            next(iter(broken))


@pytest.mark.parametrize(
    "feature",
    [Value("timestamp[s]"), {"a": Value("int64")}, Sequence(Sequence(Value("int64"))), [Value("int64")], object()],
)
def test_features_that_are_no_tensors(feature: Any) -> None:
    with says(
        errors.InvalidArgumentError,
        f"from_huggingface: the feature 'x' is {feature!r}, which no tensor has; numbers, strings, binary data, and "
        "sequences and arrays of those are read. Change it with dataset.cast_column or dataset.map, or leave it out "
        "with dataset.remove_columns.",
    ):
        from_huggingface(MapStyle({"x": feature}, {"x": []}))


def test_wrong_arguments() -> None:
    with says(TypeError, "from_huggingface: a datasets.Dataset or datasets.IterableDataset is expected; got a list."):
        from_huggingface([1, 2])
    with pytest.raises(TypeError, match=r"got a dict; take one of train, test\.$"):
        from_huggingface({"train": None, "test": None})
    with says(
        errors.InvalidArgumentError,
        "from_huggingface: the features of the dataset are not known; give them, as by dataset.cast(features).",
    ):
        from_huggingface(IterableStyle(None, []))
