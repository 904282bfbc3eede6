"""Checkpoints between agog and TensorFlow itself, which the session `tensorflow` installs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow
from bundles.tensors import PARTS, SECOND, same

import agog as tf
from agog_checkpoint.tensorflow import open_checkpoint
from agog_checkpoint.tensorflow.writer import write_checkpoint

BUNDLES = Path(__file__).parents[2] / "packages/agog-checkpoint/tests/bundles"
v1 = tensorflow.compat.v1


@pytest.fixture
def session() -> Iterator[Any]:
    with tensorflow.Graph().as_default(), v1.Session() as opened:
        yield opened


def test_tensorflow_reads_what_agog_writes(tmp_path: Path, session: Any) -> None:
    tensors = SECOND | PARTS | {f"many/{i:04d}/w": np.full((i % 5, 2), i, np.float32) for i in range(1000)}
    path = str(tmp_path / "m.ckpt")
    write_checkpoint(path, tensors)
    reader = tensorflow.train.load_checkpoint(path)
    assert reader.get_variable_to_shape_map() == {name: list(value.shape) for name, value in tensors.items()}
    for name, value in tensors.items():
        found = np.asarray(reader.get_tensor(name), object if value.dtype == object else None)
        assert same(found.reshape(value.shape), value), name
    variables = {
        name: v1.get_variable(name, value.shape, value.dtype, initializer=v1.zeros_initializer())
        for name, value in tensors.items()
        if value.dtype.kind in "fic"
    }
    v1.train.Saver(variables).restore(session, path)
    values = session.run(variables)
    assert all(same(np.asarray(values[name]), tensors[name]) for name in values)


def test_a_training_of_agog_goes_on_in_tensorflow_1(tmp_path: Path, session: Any) -> None:
    model = tf.keras.Sequential([tf.layers.Dense(3, name="dense"), tf.layers.Dense(1, name="dense_1")])
    optimizer = tf.train.AdamOptimizer(0.01)
    x = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(tf.constant(x)) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables, strict=True))

    for _ in range(3):
        step()
    saved = tf.train.Checkpoint(model=model, optimizer=optimizer).write(str(tmp_path / "agog"))
    arguments = ["ckpt", "convert", saved, tmp_path / "model.ckpt", "--strip", f"{model.name}/"]
    subprocess.run([sys.executable, "-m", "agog", *arguments], check=True)
    step()

    hidden: Any = x
    for name, shape in (("dense", (4, 3)), ("dense_1", (3, 1))):
        with v1.variable_scope(name):
            hidden = hidden @ v1.get_variable("kernel", shape) + v1.get_variable("bias", shape[1:])
    train = v1.train.AdamOptimizer(0.01).minimize(tensorflow.reduce_mean(hidden**2))
    v1.train.Saver().restore(session, str(tmp_path / "model.ckpt"))
    session.run(train)
    for variable, theirs in zip(model.variables, v1.trainable_variables(), strict=True):
        assert variable.name.endswith(theirs.name)
        np.testing.assert_allclose(variable.numpy(), session.run(theirs), rtol=1e-5, atol=1e-7)


def test_the_files_of_the_tests_are_those_that_tensorflow_writes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, BUNDLES / "write_files.py", tmp_path], check=True, capture_output=True)
    written = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {path.relative_to(BUNDLES / "files") for path in (BUNDLES / "files").rglob("*") if path.is_file()}
    for prefix in ("v1.ckpt", "v2.ckpt", "v1_sharded.ckpt-?????-of-00003", "v2_sharded.ckpt", "slots.ckpt"):
        with open_checkpoint(tmp_path / prefix) as fresh, open_checkpoint(BUNDLES / "files" / prefix) as kept:
            assert fresh.names() == kept.names()
            assert all(same(fresh.read(name), kept.read(name)) for name in kept.names())


def test_parts_of_many_rows(tmp_path: Path, session: Any) -> None:
    parts = v1.fixed_size_partitioner(7)
    value = np.arange(210_000, dtype=np.float32).reshape(70_000, 3)
    variable = v1.get_variable(
        "rows",
        value.shape,
        initializer=lambda shape, dtype, partition_info: tensorflow.slice(value, partition_info.var_offset, shape),
        partitioner=parts,
    )
    session.run(v1.global_variables_initializer())
    for version in (1, 2):
        path = v1.train.Saver([variable], write_version=version).save(session, str(tmp_path / f"v{version}"))
        with open_checkpoint(path) as checkpoint:
            assert same(checkpoint.read("rows"), value)


def test_tensorflow_lists_what_agog_lists(tmp_path: Path) -> None:
    v = tensorflow.Variable([1.0])
    manager = tensorflow.train.CheckpointManager(tensorflow.train.Checkpoint(v=v), str(tmp_path / "größe"), 2)
    for _ in range(3):
        manager.save()
    folder = str(tmp_path / "größe")
    assert tf.train.latest_checkpoint(folder) == tensorflow.train.latest_checkpoint(folder) == f"{folder}/ckpt-3"
    ours, theirs = tf.train.get_checkpoint_state(folder), tensorflow.train.get_checkpoint_state(folder)
    assert ours is not None
    assert ours.all_model_checkpoint_paths == list(theirs.all_model_checkpoint_paths)
    assert ours.all_model_checkpoint_timestamps == list(theirs.all_model_checkpoint_timestamps)
    assert [os.path.basename(path) for path in ours.all_model_checkpoint_paths] == ["ckpt-2", "ckpt-3"]
