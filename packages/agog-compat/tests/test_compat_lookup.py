"""Tables: from lists and files, with buckets for what they lack, and those that grow and are saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_compat import lookup
from agog_core.errors import FailedPreconditionError, InvalidArgumentError
from agog_testing import says


@pytest.fixture
def words(tmp_path: Path) -> str:
    file = tmp_path / "words.txt"
    file.write_bytes(b"emerson\t5\nlake\t-7\npalmer\t9\n")
    return str(file)


def test_a_table_keeps_the_shape_of_the_keys() -> None:
    table = lookup.HashTable(lookup.KeyValueTensorInitializer([1, 2], [0.5, 1.5]), -1.0, name="rates")
    found = table.lookup(ag.constant([[1, 2], [3, 1]]))
    np.testing.assert_array_equal(found, np.float32([[0.5, 1.5], [-1.0, 0.5]]))
    assert (found.dtype, int(table.size()), table.name, table.init) == (ag.float32, 2, "rates", None)
    assert (table.key_dtype, table.value_dtype, float(table.default_value)) == (ag.int32, ag.float32, -1.0)
    assert table.lookup(ag.constant(2)).shape == []
    keys, values = table.export()
    assert dict(zip(keys.numpy().tolist(), values.numpy().tolist(), strict=True)) == {1: 0.5, 2: 1.5}


def test_sparse_keys_keep_their_places() -> None:
    keys = ag.SparseTensor([[0, 0], [1, 2]], ag.constant(["a", "z"]), [2, 3])
    for buckets, expected in ((0, [0, -1]), (1, [0, 1])):
        found = lookup.index_table_from_tensor(["a"], buckets).lookup(keys)
        assert found.values.numpy().tolist() == expected
        assert found.indices is keys.indices


def test_vocabularies_of_lists() -> None:
    assert lookup.index_table_from_tensor(mapping=("brain", "salad"), num_oov_buckets=1).lookup(
        ag.constant(("salad", "brain", "tarkus"))
    ).numpy().tolist() == [1, 0, 2]
    numbers = lookup.index_table_from_tensor([42, 1, -1000], dtype="int64")
    assert numbers.lookup(ag.constant([1, -1000, 11], "int64")).numpy().tolist() == [1, 2, -1]
    hashed = lookup.index_table_from_tensor([42, 1], 3, dtype="int32")
    ids = hashed.lookup(ag.constant([1, 7, 8, 9]))
    assert int(ids[0]) == 1
    assert set(ids[1:].numpy().tolist()) <= {2, 3, 4}
    expected = 2 + ag.string_to_hash_bucket_fast(["7", "8", "9"], 3).numpy()
    np.testing.assert_array_equal(ids[1:], expected)
    strong = lookup.index_table_from_tensor(["a"], 5, hasher_spec=lookup.StrongHashSpec([1, 2])).lookup(["b"])
    assert strong.numpy() == 1 + ag.string_to_hash_bucket_strong(["b"], 5, [1, 2]).numpy()


def test_vocabularies_of_files(words: str) -> None:
    column = {"key_column_index": 0, "delimiter": "\t"}
    assert lookup.index_table_from_file(words, **column).lookup(["palmer", "x"]).numpy().tolist() == [2, -1]
    assert lookup.index_table_from_file(words, 2, **column).lookup(["lake"]).numpy().tolist() == [1]
    small = lookup.index_table_from_file(words, vocab_size=1, default_value=8, **column)
    assert (int(small.size()), small.lookup(["lake"]).numpy().tolist()) == (1, [8])
    columns = lookup.index_table_from_file(words, key_column_index=0, value_column_index=1)
    assert columns.lookup(["lake", "emerson"]).numpy().tolist() == [-7, 5]
    back = lookup.index_to_string_table_from_file(words, value_column_index=0)
    assert back.lookup(ag.constant([1, 9], "int64")).numpy().tolist() == [b"lake", b"UNK"]
    assert lookup.index_to_string_table_from_file(words).lookup([0]).numpy().tolist() == [b"emerson\t5"]
    numbers = lookup.TextFileInitializer(words, "int32", 1, "float64", 1)
    assert [each.numpy().tolist() for each in numbers.entries()] == [[5, -7, 9], [5.0, -7.0, 9.0]]


def test_mutable_tables() -> None:
    table = lookup.MutableHashTable("string", "float32", [0.0, 0.0])
    table.insert(["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
    table.insert(["b"], [[5.0, 6.0]])
    np.testing.assert_array_equal(table.lookup([["b"], ["z"]]), [[[5.0, 6.0]], [[0.0, 0.0]]])
    keys, values = table.export()
    assert (keys.numpy().tolist(), values.numpy().tolist()) == ([b"a", b"b"], [[1.0, 2.0], [5.0, 6.0]])
    texts = lookup.MutableHashTable("int64", "string", "none")
    texts.insert([1], ["one"])
    assert texts.lookup([1, 2]).numpy().tolist() == [b"one", b"none"]


def test_the_entries_are_state() -> None:
    table = lookup.MutableHashTable("string", "int64", -1)
    table.insert([b"\xff\x00", "b"], [3, 2**62])
    other = lookup.MutableHashTable("string", "int64", -1)
    other.insert(["old"], [1])
    other.restore_checkpoint_state(table.checkpoint_state())
    assert other.lookup([b"\xff\x00", "b", "old"]).numpy().tolist() == [3, 2**62, -1]
    assert lookup.MutableHashTable("string", "int64", -1, checkpoint=False).checkpoint_state() == {}


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: lookup.KeyValueTensorInitializer(["a"], [1, 2]),
            ValueError,
            "KeyValueTensorInitializer: there must be a value for each key; got keys of shape (1,) and values of shape "
            "(2,).",
        ),
        (
            lambda: lookup.HashTable(lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), 0),
            FailedPreconditionError,
            "hash_table: key b'a' has two values, 1 and 2.",
        ),
        (
            lambda: lookup.index_table_from_tensor(["a"]).lookup(ag.constant([1])),
            TypeError,
            "hash_table: the keys must be of dtype string; got int32. Cast them with tf.cast(keys, tf.string).",
        ),
        (
            lambda: lookup.index_table_from_tensor(),
            ValueError,
            "index_table_from_tensor: vocabulary_list must be specified.",
        ),
        (
            lambda: lookup.index_table_from_tensor(["a"], -1),
            ValueError,
            "index_table_from_tensor: num_oov_buckets must be greater or equal than 0; got -1.",
        ),
        (
            lambda: lookup.index_table_from_tensor(["a"], dtype="float32"),
            TypeError,
            "index_table_from_tensor: only integer and string keys are supported; got float32.",
        ),
        (
            lambda: lookup.index_table_from_tensor([1], dtype="string"),
            ValueError,
            "index_table_from_tensor: expected words of dtype string; got int32.",
        ),
        (
            lambda: lookup.index_table_from_file(""),
            ValueError,
            "index_table_from_file: vocabulary_file must be specified and must not be empty.",
        ),
        (
            lambda: lookup.index_table_from_file("f", vocab_size=0),
            ValueError,
            "index_table_from_file: vocab_size must be greater than 0; got 0.",
        ),
        (
            lambda: lookup.index_table_from_file("f", key_dtype="float32"),
            TypeError,
            "index_table_from_file: only integer and string keys are supported; got float32.",
        ),
        (
            lambda: lookup.index_to_string_table_from_file(None),
            ValueError,
            "index_to_string_table_from_file: vocabulary_file must be specified and must not be empty.",
        ),
        (
            lambda: lookup.index_to_string_table_from_file("f", 0),
            ValueError,
            "index_to_string_table_from_file: vocab_size must be greater than 0; got 0.",
        ),
        (
            lambda: lookup.index_to_string_table_from_tensor(),
            ValueError,
            "index_to_string_table_from_tensor: vocabulary_list must be specified.",
        ),
        (
            lambda: lookup.TextFileInitializer("", "string", 0, "string", 0),
            ValueError,
            "TextFileInitializer: a filename is required.",
        ),
        (
            lambda: lookup.TextFileInitializer("f", "string", -3, "string", 0),
            ValueError,
            "TextFileInitializer: the key's index must be -2 or more; got -3.",
        ),
        (
            lambda: lookup.TextFileInitializer("f", "string", 0, "string", -1),
            ValueError,
            "TextFileInitializer: numbers of lines are int64, but value_dtype is string.",
        ),
        (
            lambda: lookup.TextFileInitializer("f", "float32", -2, "string", 0),
            ValueError,
            "TextFileInitializer: whole lines are strings or integers, but key_dtype is float32.",
        ),
        (
            lambda: lookup.TextFileInitializer("f", "string", 0, "string", 0, vocab_size=0),
            ValueError,
            "TextFileInitializer: vocab_size must be positive or None; got 0.",
        ),
        (
            lambda: lookup.IdTableWithHashBuckets(None, 0),
            ValueError,
            "IdTableWithHashBuckets: without a table num_oov_buckets must be positive; got 0.",
        ),
        (
            lambda: lookup.IdTableWithHashBuckets(None, 1, key_dtype="float32"),
            TypeError,
            "IdTableWithHashBuckets: the keys must be strings or integers; got float32.",
        ),
        (
            lambda: lookup.IdTableWithHashBuckets(lookup.index_to_string_table_from_tensor(["a"]), 1),
            TypeError,
            "IdTableWithHashBuckets: the table's values must be int64; got string.",
        ),
        (
            lambda: lookup.IdTableWithHashBuckets(None, 1, lookup.HasherSpec("md5")),
            TypeError,
            "IdTableWithHashBuckets: hasher_spec must be FastHashSpec or StrongHashSpec(key); got "
            "HasherSpec(hasher='md5', key=None).",
        ),
        (lambda: lookup.StrongHashSpec([1]), ValueError, "StrongHashSpec: key must be two integers; got [1]."),
        (
            lambda: lookup.StrongHashSpec([1, 2.0]),  # type: ignore[list-item]  # what is tested
            TypeError,
            "StrongHashSpec: key must be two integers; got [1, 2.0].",
        ),
        (
            lambda: lookup.MutableHashTable("string", "int64", -1).insert(["a"], [1, 2]),
            ValueError,
            "MutableHashTable.insert: keys of shape (1,) need values of shape [1]; got (2,).",
        ),
        (
            lambda: lookup.MutableDenseHashTable("int64", "int64", -1, empty_key=0).lookup([0]),
            InvalidArgumentError,
            "MutableDenseHashTable: the empty key 0 is among the keys.",
        ),
    ],
)
def test_mistakes(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with says(error, text):
        call()


def test_files_that_do_not_fit(words: str) -> None:
    for call, text in (
        (
            lambda: lookup.TextFileInitializer(words, "string", 2, "string", 0).entries(),
            f"TextFileInitializer: line 0 of {words!r} has 2 columns, but column 2 is asked for; the delimiter is "
            "'\\t'.",
        ),
        (
            lambda: lookup.TextFileInitializer(words, "string", 0, "int32", 0).entries(),
            f"TextFileInitializer: {words!r} must hold int32: invalid literal for int() with base 10: b'emerson'.",
        ),
        (
            lambda: lookup.TextFileInitializer(words, "string", 0, "string", 0, vocab_size=4).entries(),
            f"TextFileInitializer: {words!r} must have 4 lines, by vocab_size; it has 3.",
        ),
    ):
        with says(InvalidArgumentError, text):
            call()


def test_dense_tables_export_empty_buckets() -> None:
    table = lookup.MutableDenseHashTable("string", "int64", -1, empty_key="", initial_num_buckets=4)
    table.insert(["a", "b", "c"], [1, 2, 3])
    keys, values = table.export()
    assert keys.numpy().tolist() == [b"a", b"b", b"c", b""]
    assert values.numpy().tolist() == [1, 2, 3, -1]
    table.insert(["d"], [4])
    assert [len(part.numpy()) for part in table.export()] == [8, 8]
    other = lookup.MutableDenseHashTable("string", "int64", -1, empty_key="", initial_num_buckets=64)
    other.restore_checkpoint_state(table.checkpoint_state())
    assert other.export()[0].numpy().tolist() == table.export()[0].numpy().tolist()
    assert int(other.size()) == 4
