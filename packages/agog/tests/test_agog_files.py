"""Files of records under TensorFlow's names, as programs use them."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import agog as tf


def test_a_program_writes_and_reads_examples(tmp_path: Path) -> None:
    path = str(tmp_path / "train.tfrecord.gz")
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    with tf.python_io.TFRecordWriter(path, options=options) as writer:
        for label in range(3):
            pixels = np.full(4, label, np.uint8).tobytes()
            feature = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[pixels])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
                "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"w"] * label)),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())

    features = {
        "image": tf.FixedLenFeature([], tf.string),
        "label": tf.FixedLenFeature([], tf.int64),
        "words": tf.VarLenFeature(tf.string),
    }

    def parse(serialized: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        parsed = tf.parse_single_example(serialized, features)
        words = tf.sparse_tensor_to_dense(parsed["words"], default_value="")
        return tf.decode_raw(parsed["image"], tf.uint8), parsed["label"], tf.size(words)

    dataset = tf.data.TFRecordDataset(path, compression_type="GZIP").map(parse).batch(3)
    (batch,) = [[part.numpy().tolist() for part in batch] for batch in dataset]
    assert batch == [[[0] * 4, [1] * 4, [2] * 4], [0, 1, 2], [0, 1, 2]]
    records = list(tf.python_io.tf_record_iterator(path, options))
    assert [tf.train.Example.FromString(each).features.feature["label"].int64_list.value[0] for each in records] == [
        0,
        1,
        2,
    ]
    at_once = tf.io.parse_example(records, features)["words"]
    assert at_once.shape.as_list() == [3, 2]


def test_a_program_reads_text(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("x,y\n1,a\n2,b\n")
    columns = [tf.decode_csv(line, [[0], [""]]) for line in tf.data.TextLineDataset(str(path)).skip(1)]
    rows = list(tf.contrib.data.CsvDataset(str(path), [tf.int32, tf.string], header=True))
    assert (
        [[x.numpy() for x in row] for row in columns]
        == [[x.numpy() for x in row] for row in rows]
        == [[1, b"a"], [2, b"b"]]
    )
    assert [record.numpy() for record in tf.data.FixedLengthRecordDataset(str(path), 4)] == [
        b"x,y\n",
        b"1,a\n",
        b"2,b\n",
    ]


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("python_io.TFRecordWriter", ["io.TFRecordWriter"]),
        ("python_io.TFRecordOptions", ["io.TFRecordOptions"]),
        ("python_io.TFRecordCompressionType", ["io.TFRecordCompressionType"]),
        ("python_io.tf_record_iterator", ["io.tf_record_iterator"]),
        ("parse_example", ["io.parse_example"]),
        ("parse_single_example", ["io.parse_single_example"]),
        ("parse_single_sequence_example", ["io.parse_single_sequence_example"]),
        ("FixedLenFeature", ["io.FixedLenFeature"]),
        ("FixedLenSequenceFeature", ["io.FixedLenSequenceFeature"]),
        ("VarLenFeature", ["io.VarLenFeature"]),
        ("SparseFeature", ["io.SparseFeature"]),
        ("decode_csv", ["io.decode_csv"]),
        ("data.experimental.CsvDataset", ["contrib.data.CsvDataset"]),
        ("data.experimental.make_csv_dataset", ["contrib.data.make_csv_dataset"]),
        ("data.experimental.make_batched_features_dataset", ["contrib.data.make_batched_features_dataset"]),
        ("data.experimental.SqlDataset", ["contrib.data.SqlDataset"]),
        ("data.experimental.parse_example_dataset", ["contrib.data.parse_example_dataset"]),
        ("data.experimental.TFRecordWriter", ["contrib.data.TFRecordWriter"]),
    ],
)
def test_names_stand_for_one_thing(name: str, others: list[str]) -> None:
    def find(path: str) -> object:
        module, _, attribute = f"agog.{path}".rpartition(".")
        return getattr(importlib.import_module(module), attribute)

    assert [find(other) for other in others] == [find(name)] * len(others)


def test_without_the_packages_other_names_work() -> None:
    program = (
        "import sys; sys.modules['google'] = sys.modules['google_crc32c'] = None\n"
        "import agog as tf\n"
        "tf.train.AdamOptimizer, tf.data.TFRecordDataset, tf.io.read_file, tf.FixedLenFeature, tf.python_io\n"
        "tf.train.Example"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        "ImportError: tf.train.Example needs the package protobuf: pip install agog-data[tfrecord]"
    )
