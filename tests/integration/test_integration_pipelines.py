"""A checkpoint continues pipelines that part, mix, pad and keep elements, in another process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import json, sys
import agog as tf

experimental = tf.data.experimental


def noise(x):
    return tf.cast(x, tf.float32) + tf.random_uniform([])


def build():
    train, test = tf.data.Dataset.range(60).split(train=0.8, test=0.2)
    shards = train.shuffle(10).shard(2, 1).map(noise, 2).cache(file)
    counted = experimental.Counter(100).take(9).map(noise).apply(experimental.ignore_errors())
    mixed = experimental.sample_from_datasets([shards, counted], [0.7, 0.3]).repeat(2)
    kept = mixed.apply(experimental.rejection_resample(lambda x: tf.cast(x < 100, tf.int32), [0.5, 0.5], [0.4, 0.6]))
    rows = kept.map(lambda c, x: tf.fill([tf.cast(x, tf.int32) % 3 + 1], x))
    return rows.padded_batch(2, [None], -1.0).apply(experimental.prefetch_to_device("/cpu:0"))


def values(iterator):
    return [x.numpy().tolist() for x in iterator]


command, folder, file = sys.argv[1:]
found = []
if command == "save":
    iterator = iter(build())
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    for steps in range(5):
        checkpoint.save(f"{folder}/{steps}")
        found += values([next(iterator), next(iterator)])
    found += values(iterator)
else:
    for steps in range(5):
        iterator = iter(build())
        tf.train.Checkpoint(iterator=iterator).restore(f"{folder}/{steps}-{steps + 1}").assert_consumed()
        found.append(values(iterator))
print(json.dumps(found))
"""


def run(*arguments: Any) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("cache", ["", "kept", "gone"])
def test_another_process_continues(cache: str, tmp_path: Path) -> None:
    """The cache is in memory, in a file, or in a file that is gone when the second process begins."""
    file = tmp_path / "cache"
    expected = run("save", tmp_path, cache and file)
    assert len(expected) > 10
    if cache == "gone":
        file.unlink()
    assert run("restore", tmp_path, cache and file) == [expected[2 * steps :] for steps in range(5)]
