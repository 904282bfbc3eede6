"""Saving behind the back of a training changes nothing, and what is saved is what a training that waits would save."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import agog as tf

STEPS = 12


def train(folder: Path, options: dict[str, object] | None) -> tuple[list[bytes], list[str]]:
    """Train, with a save after each step if there are options; the last weights, and the paths."""
    tf.set_random_seed(7)
    rng = np.random.default_rng(7)
    images, labels = rng.random((64, 50), np.float32), rng.random((64, 3), np.float32)
    model = tf.keras.Sequential(
        [tf.layers.Dense(400, activation=tf.nn.relu), tf.layers.Dropout(0.5), tf.layers.Dense(3)]
    )
    optimizer = tf.train.AdamOptimizer(0.01)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, random=tf.random.generator())
    paths = []
    for _ in range(STEPS):
        with tf.GradientTape() as tape:
            loss = tf.losses.mean_squared_error(labels, model(images, training=True))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        if options is not None:
            paths.append(checkpoint.save(folder / "ckpt", **options))
    checkpoint.wait()
    return [variable.numpy().tobytes() for variable in model.variables], paths


@pytest.mark.parametrize("max_shard_bytes", [None, 100_000])
def test_a_training_with_asynchronous_saves_is_bit_exact(tmp_path: Path, max_shard_bytes: int | None) -> None:
    never, _ = train(tmp_path, None)
    waiting, paths = train(tmp_path / "waiting", {})
    behind, paths_behind = train(tmp_path / "behind", {"asynchronous": True, "max_shard_bytes": max_shard_bytes})
    assert never == waiting == behind
    assert len(paths) == len(paths_behind) == STEPS
    for path, path_behind in zip(paths, paths_behind, strict=True):
        expected, found = tf.train.load_checkpoint(path), tf.train.load_checkpoint(path_behind)
        names = list(expected.get_variable_to_shape_map())
        assert names == list(found.get_variable_to_shape_map())
        assert len(names) > 12  # weights and slots
        for name in names:
            assert expected.get_tensor(name).tobytes() == found.get_tensor(name).tobytes(), (path, name)
