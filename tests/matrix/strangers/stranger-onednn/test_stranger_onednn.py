"""oneDNN's kernels, as installed: they are chosen, a network trains on them, and they conform."""

from __future__ import annotations

import subprocess
import sys

FIT = """
import sys

import numpy as np

import agog as tf

layers = tf.keras.layers
rng = np.random.default_rng(3)
images, labels = rng.normal(size=(64, 12, 12, 3)).astype("float32"), rng.integers(0, 3, 64)

def losses():
    tf.set_random_seed(1)
    model = tf.keras.Sequential([
        layers.Conv2D(8, 3, activation="relu", padding="same", input_shape=(12, 12, 3)),
        layers.MaxPooling2D(),
        layers.Conv2D(16, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(3),
    ])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss)
    return np.array(model.fit(images, labels, epochs=3, batch_size=16, shuffle=False, verbose=0).history["loss"])

with_it = losses()
assert {f"stranger_onednn.{name}" for name in ("convolution", "pooling", "products")} <= sys.modules.keys()
tf.prefer("cpu-numpy")
without = losses()
assert with_it[-1] < with_it[0]
assert abs(with_it - without).max() < 1e-5, (with_it, without)
"""

THREADS = """
import sys
import threading

import numpy as np

import agog as tf
from agog_core.plugin import threads

x, y = (tf.constant(np.random.default_rng(n).normal(size=(64, 64)).astype("float32")) for n in (0, 1))
assert "stranger_onednn.api" not in sys.modules
expected = tf.matmul(x, y).numpy()
assert threads.owner() == "OpenMP of oneDNN"
found = []
workers = [threading.Thread(target=lambda: found.append(tf.matmul(x, y).numpy())) for _ in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
tf.config.threading.set_intra_op_parallelism_threads(1)
found.append(tf.matmul(x, y).numpy())
assert len(found) == 5 and all(np.array_equal(each, expected) for each in found)
"""

FORKED = """
import os

import numpy as np

import agog as tf

tf.config.threading.set_intra_op_parallelism_threads(2)
x = tf.constant(np.ones((256, 256), "float32"))
assert float(tf.matmul(x, x)[0, 0]) == 256
child = os.fork()
if not child:
    os._exit(0 if float(tf.matmul(x, x)[0, 0]) == 256 else 1)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
"""


def run(*command: str) -> str:
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, timeout=540)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_chosen_over_the_reference() -> None:
    said = run("-m", "agog", "explain", "convolution_bias", "--device", "cpu")
    assert "chosen: plugin 'stranger-onednn' (stranger-onednn 1.0)" in said
    assert "no size is 0, at most three axes; the activation is linear or relu" in said


def test_a_network_trains_as_without_it() -> None:
    run("-c", FIT)


def test_its_team_owns_the_threads_and_serves_several_of_the_program() -> None:
    run("-c", THREADS)


def test_a_forked_process_computes_with_one_thread() -> None:
    run("-c", FORKED)


def test_its_kernels_conform() -> None:
    run("-m", "agog_testing.conformance", "stranger-onednn")
