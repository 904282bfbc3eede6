"""The kernel through numba, as installed: it is chosen, it conforms, and it is faster than the reference."""

from __future__ import annotations

import subprocess
import sys


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=False)


def test_it_is_chosen_over_the_reference() -> None:
    done = run("agog", "explain", "apply_adam", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert "chosen: plugin 'stranger-numba' (stranger-numba 1.0)" in done.stdout
    assert "arrays that are C-contiguous" in done.stdout


def test_it_conforms() -> None:
    done = run("agog_testing.conformance", "stranger-numba")
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_is_faster_than_the_reference() -> None:
    done = run("agog_testing.conformance", "stranger-numba", "--faster-than", "cpu-numpy", "--dtype", "float32")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_training_with_it_is_the_same_as_without() -> None:
    program = """
import agog as tf

def train():
    tf.set_random_seed(3)
    w = tf.Variable(tf.random_normal([40, 3]))
    x, y = tf.random_normal([64, 40]), tf.random_normal([64, 3])
    optimizer = tf.train.AdamOptimizer(0.05)
    for _ in range(20):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    return w.numpy().tobytes()

with_it = train()
tf.prefer("cpu-numpy")
assert train() == with_it, "the weights differ"
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
