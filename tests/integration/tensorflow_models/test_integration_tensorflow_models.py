"""Models of TensorFlow's checkpoints: they compute what they computed in TensorFlow, and train on from there."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from networks import MODELS, inputs_of

import agog as tf

# Files that were written just now, in the session that has TensorFlow.
FILES = Path(os.environ.get("AGOG_TENSORFLOW_MODELS") or Path(__file__).parent / "files")
NAMES = sorted(path.stem for path in FILES.glob("*.npz"))
TOLERANCE = 1e-6  # of the largest number, if that is more than 1

optimizers = tf.keras.optimizers
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "adam": lambda: optimizers.Adam(0.01),
    "amsgrad": lambda: optimizers.Adam(0.01, amsgrad=True),
    "sgd": lambda: optimizers.SGD(0.01, momentum=0.9),
    "legacy_adam": lambda: optimizers.Adam(0.01, amsgrad=True),
    "legacy_sgd": lambda: optimizers.SGD(0.01, momentum=0.9, nesterov=True, decay=0.1),
    "legacy_rmsprop": lambda: optimizers.RMSprop(0.01, epsilon=1e-3, momentum=0.5),
    "v1_adam": lambda: tf.train.AdamOptimizer(0.01),
    "v1_momentum": lambda: tf.train.MomentumOptimizer(0.01, 0.9),
    "v1_rmsprop": lambda: tf.train.RMSPropOptimizer(0.01, momentum=0.5, epsilon=1e-6),
}


def optimizer_of(generation: str, kind: str) -> Any:
    if kind != "rmsprop":
        return OPTIMIZERS.get(kind, OPTIMIZERS["sgd"])()
    more = {"momentum": 0.5, "centered": True} if generation == "keras2" else {}
    return optimizers.RMSprop(0.01, epsilon=1e-3, **more)


def tensors_of(network: str) -> Any:
    x = inputs_of(network)
    return [tf.constant(each) for each in x] if isinstance(x, list) else tf.constant(x)


def difference(found: Any, expected: Any) -> float:
    return np.max(np.abs(found.numpy() - expected)) / max(1.0, np.max(np.abs(expected)))


def step(model: Any, optimizer: Any, x: Any) -> None:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=False) - 1.0) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(list(zip(gradients, model.trainable_variables, strict=True)))


def restored(name: str, model: Any, optimizer: Any) -> Any:
    """Restore a model, with the optimizer if the file has one."""
    kind = name.split("-")[2]
    path = FILES / name
    if kind == "weights":
        return model.load_weights(path)
    if kind == "saved":
        return tf.train.Checkpoint(model=model).restore(path / "variables" / "variables")
    return tf.train.Checkpoint(model=model, optimizer=optimizer, step=tf.Variable(0, dtype=tf.int64)).restore(path)


@pytest.fixture(autouse=True)
def _no_restore_waits_on() -> Iterator[None]:
    """A restore waits for objects as long as the model is there, which is in circles."""
    yield
    gc.collect()


@pytest.mark.parametrize("name", NAMES)
def test_it_computes_and_trains_on_as_in_tensorflow(name: str) -> None:
    generation, network, kind = name.split("-")
    with np.load(FILES / f"{name}.npz") as file:
        expected = dict(file)
    model, x, optimizer = MODELS[network][0](tf.keras), tensors_of(network), optimizer_of(generation, kind)
    model(x, training=False)
    status = restored(name, model, optimizer)
    if kind == "saved":  # which has the state of the optimizer, too, and other lists of the variables
        status.expect_partial().assert_existing_objects_matched()
    else:
        status.assert_consumed()
    assert difference(model(x, training=False), expected["before"]) < TOLERANCE
    step(model, optimizer, x)
    assert difference(model(x, training=False), expected["after"]) < TOLERANCE
