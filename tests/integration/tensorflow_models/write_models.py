"""Write models: checkpoints by TensorFlow, Keras 2 and Keras 3 of `networks`, and beside each what the model computes.

    python write_models.py FOLDER [NAME ...]

needs tensorflow-cpu and tf_keras. A name is ``<generation>-<model>-<optimizer>``; without names all are written,
and files of other things.
"""

from __future__ import annotations

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tf_keras
from networks import MODELS, inputs_of

GENERATIONS = {"keras2": tf_keras, "keras3": keras}
legacy, v1 = tf_keras.optimizers.legacy, tf.compat.v1.train
OPTIMIZERS: dict[str, dict[str, Any]] = {
    "keras2": {
        "adam": lambda: tf_keras.optimizers.Adam(0.01),
        "sgd": lambda: tf_keras.optimizers.SGD(0.01, momentum=0.9),
        "rmsprop": lambda: tf_keras.optimizers.RMSprop(0.01, epsilon=1e-6, momentum=0.5, centered=True),
        "legacy_adam": lambda: legacy.Adam(0.01, amsgrad=True),
        "legacy_sgd": lambda: legacy.SGD(0.01, momentum=0.9, nesterov=True, decay=0.1),
        "legacy_rmsprop": lambda: legacy.RMSprop(0.01, epsilon=1e-6, momentum=0.5),
        "v1_adam": lambda: v1.AdamOptimizer(0.01),
        "v1_momentum": lambda: v1.MomentumOptimizer(0.01, 0.9),
        "v1_rmsprop": lambda: v1.RMSPropOptimizer(0.01, momentum=0.5, epsilon=1e-6),
    },
    "keras3": {
        "adam": lambda: keras.optimizers.Adam(0.01),
        "amsgrad": lambda: keras.optimizers.Adam(0.01, amsgrad=True),
        "sgd": lambda: keras.optimizers.SGD(0.01, momentum=0.9),
        "rmsprop": lambda: keras.optimizers.RMSprop(0.01, epsilon=1e-6),
    },
}


def step(model: Any, optimizer: Any, x: Any) -> None:
    """One step of training; layers compute as in inference, so that the step is the same everywhere."""
    with tf.GradientTape() as tape:
        y = model(x, training=False)
        loss = tf.reduce_mean((y - 1.0) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))


def write(folder: Path, name: str) -> None:
    generation, network, kind = name.split("-")
    K = GENERATIONS[generation]
    K.utils.set_random_seed(len(name))
    model, x = MODELS[network][0](K), inputs_of(network)
    x = [tf.constant(each) for each in x] if isinstance(x, list) else tf.constant(x)
    model(x, training=False)
    random = np.random.RandomState(3)
    model.set_weights([random.uniform(0.1, 0.9, weight.shape) for weight in model.get_weights()])
    if kind == "weights":
        model.save_weights(folder / name, save_format="tf")
    elif kind == "saved":
        tf.saved_model.save(model, str(folder / name))
    optimizer = OPTIMIZERS[generation].get(kind, OPTIMIZERS[generation]["sgd"])()
    if kind in OPTIMIZERS[generation]:
        for _ in range(3):
            step(model, optimizer, x)
        tf.train.Checkpoint(model=model, optimizer=optimizer, step=tf.Variable(3, dtype="int64")).write(
            str(folder / name)
        )
    before = np.asarray(model(x, training=False))
    step(model, optimizer, x)
    np.savez(folder / f"{name}.npz", before=before, after=np.asarray(model(x, training=False)))


def write_state(path: str) -> None:
    """What is no number of a variable: the state of an iterator, a table, a text."""
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(tf.constant(["a"]), tf.constant([1], tf.int64))
    iterator = iter(tf.data.Dataset.range(3))
    next(iterator)
    tf.train.Checkpoint(step=tf.Variable(5), iterator=iterator, table=table, text=tf.Variable("a")).write(path)


def write_by_names(path: str) -> None:
    """A checkpoint of a `Saver` in TensorFlow 1, after a step of Adam."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        kernel = tf.compat.v1.get_variable("dense/kernel", initializer=np.float32([[1, 2], [3, 4]]))
        loss = tf.reduce_sum(kernel**2)
        train = v1.AdamOptimizer(0.1).minimize(loss, global_step=v1.get_or_create_global_step())
        session.run(tf.compat.v1.global_variables_initializer())
        session.run(train)
        v1.Saver().save(session, path, write_meta_graph=False, write_state=False)


def main(folder: str, *names: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    every = [
        f"{generation}-{network}-{kind}"
        for generation, kinds in OPTIMIZERS.items()
        for network in MODELS
        for kind in (*kinds, *(("weights", "saved") if generation == "keras2" else ("saved",)))
    ]
    for name in names or every:
        write(Path(folder), name)
        tf_keras.backend.clear_session()
        keras.backend.clear_session()
        print(name, flush=True)
    if not names:
        write_state(f"{folder}/state")
        write_by_names(f"{folder}/by_names")


if __name__ == "__main__":
    main(*sys.argv[1:])
