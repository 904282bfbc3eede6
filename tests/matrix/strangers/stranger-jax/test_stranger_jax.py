"""The device on JAX's arrays, as installed: networks train on it, and its kernels compute what they should."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agog_testing.conformance import collect

FIT = """
import sys

import numpy as np

import agog as tf

layers = tf.keras.layers
rng = np.random.default_rng(3)
images, labels = rng.normal(size=(64, 8, 8, 1)).astype("float32"), rng.integers(0, 3, 64)

def network():
    if sys.argv[1] == "mlp":
        hidden = [layers.Flatten(input_shape=(8, 8, 1)), layers.Dense(16, activation="relu")]
    else:
        convolution = layers.Conv2D(4, 3, activation="relu", input_shape=(8, 8, 1))
        hidden = [convolution, layers.MaxPooling2D(), layers.Flatten()]
    return tf.keras.Sequential([*hidden, layers.Dense(3)])

def losses(device):
    tf.set_random_seed(1)
    with tf.device(device):
        model = network()
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer="adam", loss=loss)
        history = model.fit(images, labels, epochs=3, batch_size=16, shuffle=False, verbose=0)
    assert all(w.value().device.endswith(device.upper()) for w in model.trainable_variables)
    return np.array(history.history["loss"])

on_jax, on_cpu = losses("jax:0"), losses("cpu:0")
assert on_jax[-1] < on_jax[0]
assert abs(on_jax - on_cpu).max() < 1e-5, (on_jax, on_cpu)
"""

FUNCTION = """
import agog as tf

with tf.device("jax:0"):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x):
        before = v.value()
        v.assign_add(x)
        return before * v

    x = tf.constant([1.0, 1.0])
    assert [step(x).numpy().tolist() for _ in range(3)] == [[2.0, 6.0], [6.0, 12.0], [12.0, 20.0]]
    assert tf.lgamma(tf.constant(3.0)).device.endswith("JAX:0")
    tf.scatter_update(v, [1], [7.0])
    assert v.numpy().tolist() == [4.0, 7.0]
"""

UNUSED = """
import sys

import agog as tf

tf.add(1.0, 2.0)
assert "jax" not in sys.modules
"""


def run(code: str, *arguments: str) -> None:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["mlp", "cnn"])
def test_a_network_trains_as_on_the_cpu(kind: str) -> None:
    run(FIT, kind)


def test_variables_take_new_arrays_in_functions_too() -> None:
    run(FUNCTION)


def test_a_program_that_does_not_use_it_does_not_import_jax() -> None:
    run(UNUSED)


CASES = [case for case in collect("stranger-jax") if case.check == "value"]
VALUES = {case.op: case for case in CASES} | {case.op: case for case in CASES if case.dtype == "float32"}
"""The check of values of each op, for float32 where it has that; XLA compiles for each shape, which takes long."""


def test_how_many_ops_it_has() -> None:
    assert len(VALUES) >= 200


@pytest.mark.parametrize("op", VALUES)
def test_values(op: str) -> None:
    test = VALUES[op].test
    assert test is not None
    test()
