"""Files on a server like S3: all that programs do with files, conditional requests, and how long 5,000 records take."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from click.testing import CliRunner

import agog as tf
from agog.__main__ import main
from agog_core.files import stores

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:(botocore|aiobotocore|s3fs)")

RECORDS = 5_000


def names() -> list[str]:
    system = fsspec.filesystem("s3")
    system.invalidate_cache()
    return [name.removeprefix("bucket/") for name in system.find("bucket")]


def test_gfile(bucket: str, tmp_path: Path) -> None:
    gfile = tf.io.gfile
    gfile.makedirs(f"{bucket}/a/b")
    with gfile.GFile(f"{bucket}/a/b/c.txt", "w") as file:
        file.write("one\n")
    with gfile.GFile(f"{bucket}/a/b/c.txt", "a") as file:
        file.write("two\n")
    with gfile.GFile(f"{bucket}/a/b/c.txt") as file:
        assert list(file) == ["one\n", "two\n"]
    assert list(gfile.walk(bucket)) == [
        (bucket, ["a"], []),
        (f"{bucket}/a", ["b"], []),
        (f"{bucket}/a/b", [], ["c.txt"]),
    ]
    assert gfile.glob(f"{bucket}/a/*/*.txt") == [f"{bucket}/a/b/c.txt"]
    assert (gfile.isdir(f"{bucket}/a"), gfile.exists(f"{bucket}/z")) == (True, False)
    assert gfile.stat(f"{bucket}/a/b/c.txt").length == 8
    assert abs(gfile.stat(f"{bucket}/a/b/c.txt").mtime_nsec / 1e9 - time.time()) < 60
    gfile.rename(f"{bucket}/a", f"{bucket}/d")
    gfile.copy(f"{bucket}/d/b/c.txt", f"{tmp_path}/c")
    assert (tmp_path / "c").read_text() == "one\ntwo\n"
    gfile.rmtree(f"{bucket}/d")
    with pytest.raises(tf.errors.NotFoundError, match=r"Remove: there is no file 's3://bucket/d/b/c\.txt'\."):
        gfile.remove(f"{bucket}/d/b/c.txt")
    with pytest.raises(tf.errors.NotFoundError, match=r"GFile: there is no file 's3://other/a'\."):
        gfile.GFile("s3://other/a").read()
    assert names() == []


def test_files_of_several_requests(bucket: str) -> None:
    data = os.urandom(1 << 20) * 70
    with tf.io.gfile.GFile(f"{bucket}/large", "wb") as file:
        file.write(data)
    with tf.io.gfile.GFile(f"{bucket}/large", "rb") as file:
        assert file.read() == data
    assert tf.read_file(f"{bucket}/large").numpy() == data


def test_records_resume_where_they_were(bucket: str) -> None:
    with tf.io.TFRecordWriter(f"{bucket}/records") as writer:
        for number in range(RECORDS):
            writer.write(b"%d" % number * 20)
    iterator = iter(tf.data.TFRecordDataset(f"{bucket}/records"))
    for _ in range(3000):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(f"{bucket}/run/ckpt")
    other = iter(tf.data.TFRecordDataset(f"{bucket}/records"))
    tf.train.Checkpoint(iterator=other).restore(path).assert_consumed()
    assert [x.numpy() for x in other] == [b"%d" % number * 20 for number in range(3000, RECORDS)]


def test_how_long_records_take(bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for place in (str(tmp_path), "memory://records", bucket):
        with tf.io.TFRecordWriter(f"{place}/records") as writer:
            for number in range(RECORDS):
                writer.write(b"%d" % number * 20)
        seconds = []
        for _ in range(3):
            begin = time.perf_counter()
            assert sum(1 for _ in tf.data.TFRecordDataset(f"{place}/records")) == RECORDS
            seconds.append(time.perf_counter() - begin)
        said.append(f"{RECORDS} records from {place.partition('://')[0]}: {min(seconds):.3f} s")
    fsspec.filesystem("memory").rm("/records", recursive=True)
    with capsys.disabled():
        print("", *said, sep="\n")


@pytest.mark.parametrize("exists", [False, True])
def test_conditional_requests(bucket: str, exists: bool) -> None:
    """Who has looked at a file before another one has written it looks again."""
    url = f"{bucket}/count"
    if exists:
        stores.put(url, b"1")
    made = []

    def make() -> bytes:
        made.append(stores.get(url) if tf.io.gfile.exists(url) else b"0")
        if len(made) == 1:
            stores.put(url, b"5")
        return b"%d" % (int(made[-1]) + 1)

    stores.update(url, make)
    assert (made, stores.get(url)) == ([b"1" if exists else b"0", b"5"], b"6")
    with pytest.raises(FileExistsError):
        stores.put(url, b"", exclusive=True)


def test_updates_of_several_writers_get_none_lost(bucket: str) -> None:
    def count() -> None:
        for _ in range(5):
            stores.update(url, lambda: b"%d" % (int(stores.get(url)) + 1))

    url = f"{bucket}/count"
    stores.put(url, b"0")
    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stores.get(url) == b"20"


def test_checkpoints(bucket: str) -> None:
    v, w = tf.Variable(np.arange(6, dtype=np.float32)), tf.Variable(np.ones(3000, np.float32))
    checkpoint = tf.train.Checkpoint(v=v, w=w)
    manager = tf.train.CheckpointManager(checkpoint, f"{bucket}/run", 2, max_shard_bytes=4000)
    for _ in range(4):
        manager.save()
    assert sorted({name.split(".")[0] for name in names()}) == ["run/checkpoint", "run/ckpt-3", "run/ckpt-4"]
    v.assign(np.zeros(6))
    checkpoint.restore(tf.train.latest_checkpoint(f"{bucket}/run")).assert_consumed()
    np.testing.assert_array_equal(v.numpy(), np.arange(6))
    path = tf.train.Saver([v]).save(None, f"{bucket}/old/model", global_step=3)
    assert tf.train.list_variables(path)[0][1] == [6]
    listed = CliRunner().invoke(main, ["ckpt", "ls", f"{bucket}/run", "--json"])
    assert [each["checkpoint"] for each in json.loads(listed.output)] == ["ckpt-3", "ckpt-4"]
    verified = CliRunner().invoke(main, ["ckpt", "verify", f"{bucket}/run"])
    assert verified.output.count("whole") == 2


PROGRAM = """
import sys, numpy as np, fsspec, agog as tf
fsspec.config.conf["s3"] = {"client_kwargs": {"endpoint_url": sys.argv[1]}}
v, w = tf.Variable(np.zeros(3000, np.float32)), tf.Variable(np.zeros(3000, np.float32))
checkpoint = tf.train.Checkpoint(v=v, w=w)
manager = tf.train.CheckpointManager(checkpoint, "s3://bucket/run", 2, max_shard_bytes=12000)
checkpoint.restore(manager.latest_checkpoint)
print("ready", flush=True)
while True:
    v.assign_add(np.ones(3000, np.float32)), w.assign_add(np.ones(3000, np.float32))
    manager.save()
"""


def test_kills(bucket: str, server: str) -> None:
    """A program that saves is killed at 12 moments: the newest checkpoint is whole, and no older one than before."""
    before = 0.0
    for attempt in range(12):
        with subprocess.Popen([sys.executable, "-c", PROGRAM, server], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(0.4 + 0.037 * attempt)
            process.send_signal(signal.SIGKILL)
        v, w = tf.Variable(np.zeros(3000, np.float32)), tf.Variable(np.zeros(3000, np.float32))
        newest = tf.train.latest_checkpoint(f"{bucket}/run")
        if newest is not None:
            tf.train.Checkpoint(v=v, w=w).restore(newest).assert_existing_objects_matched()
        (found,) = {*v.numpy().tolist(), *w.numpy().tolist()}
        assert found >= before
        before = found
    assert before > 12


def test_a_training(bucket: str) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile("adam", "mse")
    callbacks: list[Any] = [
        tf.keras.callbacks.CSVLogger(f"{bucket}/log.csv"),
        tf.keras.callbacks.ModelCheckpoint(f"{bucket}/m-{{epoch}}.agog"),
        tf.keras.callbacks.TensorBoard(f"{bucket}/logs"),
        tf.keras.callbacks.BackupAndRestore(f"{bucket}/backup", delete_checkpoint=False),
    ]
    model.fit(np.eye(2), np.ones(2), epochs=3, verbose=0, callbacks=callbacks)
    again = tf.keras.models.load_model(f"{bucket}/m-3.agog")
    np.testing.assert_array_equal(again.get_weights()[0], model.get_weights()[0])
    assert tf.read_file(f"{bucket}/log.csv").numpy().count(b"\n") == 4
    found = names()
    assert "backup/backup.safetensors" in found
    assert sum(name.startswith("logs/events.out.tfevents") for name in found) == 1
