"""Static tables, and those of ``tf.lookup.experimental``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import agog_core as ag
from agog_compat.lookup.experimental_tables import DenseHashTable, MutableHashTable
from agog_compat.lookup.static_tables import (
    KeyValueTensorInitializer,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)
from agog_core.errors import FailedPreconditionError, InvalidArgumentError
from agog_testing import says


def table(**arguments: Any) -> StaticHashTable:
    return StaticHashTable(KeyValueTensorInitializer(["a", "b"], [1.5, 2.5]), -1.0, **arguments)


def test_static_tables() -> None:
    found = table()
    assert found.lookup([["b", "?"], ["a", "b"]]).numpy().tolist() == [[2.5, -1.0], [1.5, 2.5]]
    assert (found["a"].numpy(), int(found.size()), len(found), bool(found)) == (1.5, 2, 2, True)
    with says(TypeError, "mine: the keys must be of dtype string; got int32. Cast them with tf.cast(keys, tf.string)."):
        table(name="mine").lookup(ag.constant([1]))
    with says(FailedPreconditionError, "hash_table: key b'a' has two values, 1 and 2."):
        StaticHashTable(KeyValueTensorInitializer(["a", "a"], [1, 2]), 0)


def test_tables_of_files(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("a\t5\nb\t7\n")
    words = TextFileInitializer(str(file), "string", 0, "int64", 1)
    assert StaticHashTable(words, -1).lookup(["b", "c"]).numpy().tolist() == [7, -1]
    lines = TextFileInitializer(
        str(file), "string", TextFileIndex.WHOLE_LINE, "int64", TextFileIndex.LINE_NUMBER, value_index_offset=10
    )
    assert StaticHashTable(lines, -1).lookup("b\t7").numpy() == 11
    with pytest.raises(InvalidArgumentError, match=r"must have 3 lines, by vocab_size; it has 2\.$"):
        StaticHashTable(TextFileInitializer(str(file), "string", 0, "int64", 1, vocab_size=3), -1)


def test_vocabularies_have_buckets() -> None:
    words = KeyValueTensorInitializer(["a", "b"], [0, 1], value_dtype="int64")
    found = StaticVocabularyTable(words, 3).lookup(["b", "x", "x", "y", "a"]).numpy().tolist()
    assert found[0] == 1
    assert found[4] == 0
    assert found[1] == found[2]
    assert {*found[1:4]} <= {2, 3, 4}
    with says(ValueError, "StaticVocabularyTable: num_oov_buckets must be at least 1; got 0."):
        StaticVocabularyTable(words, 0)
    with says(TypeError, "IdTableWithHashBuckets: the table's values must be int64; got int32."):
        StaticVocabularyTable(KeyValueTensorInitializer(["a"], [0]), 1)


def test_tables_that_change() -> None:
    found = MutableHashTable("string", "float32", [0.0, 0.0])
    found.insert(["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
    found.insert(["a"], [[5.0, 6.0]])
    found.remove(["b", "nothing"])
    keys, values = found.export()
    assert (keys.numpy().tolist(), values.numpy().tolist()) == ([b"a"], [[5.0, 6.0]])
    with pytest.raises(ValueError, match=r"^MutableHashTable\.insert: keys of shape \(1,\) need values of"):
        found.insert(["a"], [1.0])
    other = MutableHashTable("string", "float32", [0.0, 0.0])
    other.restore_checkpoint_state(found.checkpoint_state())
    assert other.lookup(["a"]).numpy().tolist() == [[5.0, 6.0]]
    dense = DenseHashTable("int64", "string", "?", empty_key=-1, deleted_key=-2)
    dense.insert([3], ["three"])
    dense.erase([4])
    assert dense.lookup([3, 4]).numpy().tolist() == [b"three", b"?"]
