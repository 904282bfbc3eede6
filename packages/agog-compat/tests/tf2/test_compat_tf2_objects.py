"""Modules, tables and devices of TensorFlow 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import agog_core as ag
from agog_compat.tf2 import devices
from agog_compat.tf2.module import Module
from agog_compat.tf2.tables import (
    DenseHashTable,
    KeyValueTensorInitializer,
    MutableHashTable,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)
from agog_core.errors import FailedPreconditionError, InvalidArgumentError
from agog_core.plugin import threads
from agog_testing import says


class Inner(Module):
    def __init__(self) -> None:
        super().__init__(name="inner")
        self.v = ag.Variable(1.0)


class Outer(Module):
    def __init__(self) -> None:
        super().__init__()
        self.late = ag.Variable(1.0, name="late")
        self.fixed = ag.Variable(2.0, trainable=False)
        self.parts = [Inner(), {"key": Inner()}]
        self.again = self.parts[0]


def test_modules_know_their_variables() -> None:
    outer = Outer()
    first, second = outer.parts[0], outer.parts[1]["key"]  # type: ignore[index]
    assert list(map(id, outer.variables)) == [id(v) for v in (first.v, outer.fixed, outer.late, second.v)]  # type: ignore[union-attr]
    assert outer.non_trainable_variables == (outer.fixed,)
    assert len(outer.trainable_variables) == 3
    assert list(map(id, outer.submodules)) == [id(first), id(second)]
    assert (outer.name, first.name, type("HTTPServer2", (Module,), {})().name) == ("outer", "inner", "http_server2")  # type: ignore[union-attr]
    assert sorted(outer.checkpoint_dependencies()) == ["again", "fixed", "late", "parts"]


def test_modules_in_a_circle() -> None:
    one, other = Inner(), Inner()
    one.other, other.one = other, one  # type: ignore[attr-defined]
    assert len(one.variables) == 2
    assert one.submodules == (other,)


def test_names_of_modules() -> None:
    with says(ValueError, "Module: name must be an identifier of Python; got 'a/b'."):
        Module(name="a/b")


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


def test_devices_have_two_names() -> None:
    (cpu,) = devices.list_physical_devices("CPU")
    (logical,) = devices.list_logical_devices("CPU")
    assert devices.list_physical_devices("TPU") == []
    with ag.device(logical.name):
        assert ag.ones([1]).device.endswith("CPU:0")
    devices.set_visible_devices(devices.get_visible_devices())
    with says(
        RuntimeError,
        f"set_visible_devices: {cpu.name} cannot be hidden from a program that runs. Choose devices with tf.device, or "
        "hide GPUs with the environment variable CUDA_VISIBLE_DEVICES.",
    ):
        devices.set_visible_devices([], "CPU")


def test_settings_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_settings", {})
    assert devices.get_intra_op_parallelism_threads() == 0
    devices.set_intra_op_parallelism_threads(3)
    assert threads.count() == 3
    threads.set_count(0)
    devices.set_inter_op_parallelism_threads(2)
    devices.set_soft_device_placement(True)
    devices.set_memory_growth("GPU:0", True)
    devices.enable_op_determinism()
    assert (devices.get_intra_op_parallelism_threads(), devices.get_inter_op_parallelism_threads()) == (3, 2)
    assert devices.get_soft_device_placement()
