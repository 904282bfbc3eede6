"""Write the files of this folder with TensorFlow 2: ``python write_files.py files`` with tensorflow-cpu installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensors import FIRST, PARTS, SECOND

v1 = tf.compat.v1


@contextmanager
def session() -> Iterator[Any]:
    """A session with two devices for its variables."""
    with tf.Graph().as_default(), v1.Session(config=v1.ConfigProto(device_count={"CPU": 2})) as opened:
        yield opened


def write_tensors(path: str, tensors: dict[str, np.ndarray[Any, Any]], version: int, sharded: bool) -> None:
    """All dtypes, and variables in parts; sharded by two devices."""
    with session() as opened:
        variables: list[Any] = []
        for number, (name, value) in enumerate(tensors.items()):
            with tf.device(f"/cpu:{number % 2}"):
                variables.append(v1.Variable(value.tolist() if value.dtype == object else value, name=name))
        for axis, (name, value) in enumerate(PARTS.items()):
            parts = v1.fixed_size_partitioner(2 + axis, axis=axis)
            variables.append(
                v1.get_variable(
                    name,
                    value.shape,
                    initializer=lambda shape, dtype, partition_info, value=value: tf.slice(
                        value, partition_info.var_offset, shape
                    ),
                    partitioner=parts,
                )
            )
        opened.run(v1.global_variables_initializer())
        v1.train.Saver(variables, sharded=sharded, write_version=version).save(opened, path, write_meta_graph=False)


def write_layers(folder: Path) -> None:
    """Two layers after three steps of Adam; and their outputs then, and their weights after one more step."""
    with session() as opened:
        inputs = v1.placeholder(tf.float32, [None, 4])
        hidden = tf.nn.relu(dense(inputs, 8, "dense"))
        outputs = dense(hidden, 3, "dense_1")
        step = v1.train.get_or_create_global_step()
        train = v1.train.AdamOptimizer(0.01).minimize(tf.reduce_mean(outputs**2), global_step=step)
        opened.run(v1.global_variables_initializer())
        feed = {inputs: np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)}
        for _ in range(3):
            opened.run(train, feed)
        v1.train.Saver().save(opened, str(folder / "layers/model.ckpt"), step, write_meta_graph=False)
        results = {"inputs": feed[inputs], "outputs": opened.run(outputs, feed)}
        opened.run(train, feed)
        after = {f"after/{variable.op.name}": opened.run(variable) for variable in v1.trainable_variables()}
        np.savez_compressed(folder / "layers/values.npz", **results, **after)


def dense(inputs: Any, units: int, name: str) -> Any:
    """A layer with the names of variables that those of TensorFlow 1.x have."""
    with v1.variable_scope(name):
        kernel = v1.get_variable("kernel", (inputs.shape[-1], units))
        return inputs @ kernel + v1.get_variable("bias", (units,), initializer=v1.ones_initializer())


OPTIMIZERS = {
    "Adadelta": v1.train.AdadeltaOptimizer(0.1),
    "Adagrad": v1.train.AdagradOptimizer(0.1),
    "Adam": v1.train.AdamOptimizer(0.1),
    "Ftrl": v1.train.FtrlOptimizer(0.1),
    "Momentum": v1.train.MomentumOptimizer(0.1, 0.9),
    "RMSProp": v1.train.RMSPropOptimizer(0.1),
    "CenteredRMSProp": v1.train.RMSPropOptimizer(0.1, centered=True),
}


def write_slots(folder: Path) -> None:
    """A variable for each optimizer, with its slots after a step."""
    with session() as opened:
        steps = []
        for name, optimizer in OPTIMIZERS.items():
            variable = v1.get_variable(f"{name}/w", (2,), initializer=v1.ones_initializer())
            steps.append(optimizer.minimize(tf.reduce_sum(variable**2)))
        opened.run(v1.global_variables_initializer())
        opened.run(steps)
        v1.train.Saver().save(opened, str(folder / "slots.ckpt"), write_meta_graph=False)


def write_saved_models(folder: Path) -> None:
    """A variable in SavedModels of TensorFlow 1.x and 2.x."""
    with session() as opened:
        inputs = v1.placeholder(tf.float32, [])
        outputs = inputs * v1.get_variable("w", initializer=[1.0, 2.0])
        opened.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(opened, str(folder / "saved_model_1"), {"x": inputs}, {"y": outputs})
    module = tf.Module()
    module.w = tf.Variable([1.0, 2.0])
    tf.saved_model.save(module, str(folder / "saved_model_2"))


def write_objects(folder: Path) -> None:
    """Variables of objects: two with names of their own, and two with the same."""
    values = {"a": ([1.0, 2.0], "net/dense/kernel"), "b": ([3.0], "net/dense/bias"), "c": (4, "same"), "d": (5, "same")}
    variables = {key: tf.Variable(value, name=name) for key, (value, name) in values.items()}
    tf.train.Checkpoint(**variables).write(str(folder / "objects"))


def main(folder: Path) -> None:
    """Write all files."""
    folder.mkdir(exist_ok=True)
    for version, tensors in ((1, FIRST), (2, SECOND)):
        for sharded in (False, True):
            write_tensors(str(folder / f"v{version}{'_sharded' * sharded}.ckpt"), tensors, version, sharded)
    write_layers(folder)
    write_slots(folder)
    write_saved_models(folder)
    write_objects(folder)
    (folder / "checkpoint").unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
