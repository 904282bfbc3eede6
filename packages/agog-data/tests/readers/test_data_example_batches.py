"""make_batched_features_dataset: batches of features from files of examples."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agog_core import dtypes
from agog_data import Dataset, Iterator
from agog_data.examples.features import FixedLenFeature
from agog_data.examples.messages import Example
from agog_data.readers import TextLineDataset, TFRecordDataset, TFRecordWriter, make_batched_features_dataset
from agog_testing import says

FEATURES = {"x": FixedLenFeature([], dtypes.int64), "y": FixedLenFeature([2], dtypes.float32)}


def serialized(x: int) -> bytes:
    example = Example()
    example.features.feature["x"].int64_list.value.append(x)
    example.features.feature["y"].float_list.value.extend([x, 0.5])
    return bytes(example.SerializeToString())


@pytest.fixture
def pattern(tmp_path: Path) -> str:
    for number in range(3):
        with TFRecordWriter(tmp_path / f"part{number}.tfrecord") as writer:
            for x in range(4):
                writer.write(serialized(10 * number + x))
    return str(tmp_path / "part*.tfrecord")


def xs(dataset: Any) -> list[list[int]]:
    return [batch["x"].numpy().tolist() for batch in dataset]


def test_one_file_after_the_other(pattern: str) -> None:
    batches = list(make_batched_features_dataset(pattern, 5, FEATURES, num_epochs=1, shuffle=False))
    assert [batch["x"].numpy().tolist() for batch in batches] == [[0, 1, 2, 3, 10], [11, 12, 13, 20, 21], [22, 23]]
    assert batches[2]["y"].numpy().tolist() == [[22.0, 0.5], [23.0, 0.5]]


def test_files_in_turns(pattern: str) -> None:
    dataset = make_batched_features_dataset(pattern, 6, FEATURES, num_epochs=1, shuffle=False, reader_num_threads=3)
    assert xs(dataset) == [[0, 10, 20, 1, 11, 21], [2, 12, 22, 3, 13, 23]]


def test_the_last_batch(pattern: str) -> None:
    dataset = make_batched_features_dataset(
        pattern, 5, FEATURES, num_epochs=1, shuffle=False, drop_final_batch=True, sloppy_ordering=True
    )
    assert list(map(len, xs(dataset))) == [5, 5]
    endless = make_batched_features_dataset(pattern, 5, FEATURES, shuffle=False)
    assert xs(endless.take(3)) == [[0, 1, 2, 3, 10], [11, 12, 13, 20, 21], [22, 23, 0, 1, 2]]


def test_shuffled_and_resumed(pattern: str) -> None:
    dataset = make_batched_features_dataset(pattern, 2, FEATURES, num_epochs=2, shuffle_seed=1, shuffle_buffer_size=5)
    iterator = Iterator(dataset)
    begin = xs([next(iterator) for _ in range(5)])
    other = Iterator(dataset)
    other.load_state_dict(iterator.state_dict())
    rest = xs(other)
    assert rest == xs(iterator)
    counts = Counter(x for batch in begin + rest for x in batch)
    assert counts == {10 * number + x: 2 for number in range(3) for x in range(4)}


def test_label(pattern: str) -> None:
    dataset = make_batched_features_dataset(pattern, 3, FEATURES, label_key="x", num_epochs=1, shuffle=False)
    features, label = next(iter(dataset))
    assert list(features) == ["y"]
    assert label.numpy().tolist() == [0, 1, 2]


def test_a_reader_of_pairs_with_arguments(pattern: str) -> None:
    def keyed(path: Any, count: int) -> Dataset:
        return Dataset.zip((Dataset.from_tensors(path).repeat(), TFRecordDataset(path).take(count)))

    dataset = make_batched_features_dataset(
        pattern, 9, FEATURES, reader=keyed, reader_args=[2], num_epochs=1, shuffle=False
    )
    assert xs(dataset) == [[0, 1, 10, 11, 20, 21]]


def test_a_reader_of_lines(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n\n")  # an empty line is an example without features
    features = {"x": FixedLenFeature([], dtypes.int64, default_value=7)}
    dataset = make_batched_features_dataset([tmp_path / "empty.txt"], 2, features, TextLineDataset, num_epochs=1)
    assert xs(dataset) == [[7, 7]]


def test_errors(pattern: str) -> None:
    with says(ValueError, "make_batched_features_dataset: no file matches 'no/such*'."):
        make_batched_features_dataset("no/such*", 2, FEATURES)
    with says(ValueError, "make_batched_features_dataset: label_key must be one of the features ['x', 'y']; got 'z'."):
        make_batched_features_dataset(pattern, 2, FEATURES, label_key="z")
    with says(
        TypeError,
        "make_batched_features_dataset: the reader's elements must be strings or pairs of strings; they are ['int64'].",
    ):
        make_batched_features_dataset(pattern, 2, FEATURES, reader=lambda path: Dataset.range(3))
