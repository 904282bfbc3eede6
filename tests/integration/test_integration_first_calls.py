"""First calls: small ones load no LLVM, and later processes need it for no call whose code is on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agog_cpu_llvm import image, presence

pytestmark = pytest.mark.skipif(presence.unavailable() is not None, reason=str(presence.unavailable()))

SMALL = """
import sys
import agog as tf

x = tf.ones([1, 4, 4, 4])
normalize, lstm, gru = tf.keras.layers.LayerNormalization(), tf.keras.layers.LSTM(3), tf.keras.layers.GRU(3)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.nn.conv2d(x, tf.ones([2, 2, 4, 4]), (1, 1, 1, 1), "SAME")
    y = tf.nn.softmax(normalize(tf.nn.avg_pool2d(tf.nn.max_pool2d(y, 2, 1, "SAME"), 2, 1, "SAME")))
    y = tf.reshape(y, [4, 4, 4])
    y = tf.matmul(lstm(y), gru(y), transpose_b=True)
tape.gradient(y, x)
print(sorted(name for name in sys.modules if name.partition(".")[0] == "llvmlite"))
"""

# Calls of each family that are taken; what they give is written to a file.
PROGRAM = """
import sys
import numpy as np
import agog as tf

x = tf.constant(np.random.default_rng(0).normal(size=(4, 16, 16, 24)).astype("float32"))
rows = tf.reshape(x, [96, 256])
filters = tf.reshape(tf.reshape(x, [-1])[: 9 * 24 * 32], [3, 3, 24, 32])
with tf.GradientTape() as tape:
    tape.watch([x, filters, rows])
    convolved = tf.nn.conv2d(x, filters, (1, 1, 1, 1), "SAME")
    pooled = tf.nn.max_pool2d(convolved, 2, 2, "VALID")
    normal = tf.keras.layers.LayerNormalization()(rows)
    y = [pooled, normal, tf.nn.softmax(rows), tf.matmul(rows, rows, transpose_b=True)]
sources = [x, filters, rows]
results = [*y, *tape.gradient(y, sources)]
lstm = tf.keras.layers.LSTM(16, recurrent_initializer="ones", kernel_initializer="ones")(tf.reshape(rows, [24, 32, 32]))
np.savez(sys.argv[1], *[each.numpy() for each in (*results, lstm)])
print("llvmlite.binding" in sys.modules)
"""


def run(program: str, *arguments: str, cache: Path) -> str:
    environment = {**os.environ, "AGOG_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout


@pytest.mark.skipif(not image.IS_KNOWN, reason="LLVM loads the object files of this system.")
def test_a_later_process_needs_no_llvm_and_has_the_same_bits(tmp_path: Path) -> None:
    first, second = str(tmp_path / "first.npz"), str(tmp_path / "second.npz")
    assert run(PROGRAM, first, cache=tmp_path) == "True\n"
    assert run(PROGRAM, second, cache=tmp_path) == "False\n"
    with np.load(first) as wanted, np.load(second) as got:
        assert wanted.files == got.files
        for name in wanted.files:
            np.testing.assert_array_equal(got[name], wanted[name])


def test_small_calls_and_their_gradients_load_no_llvm(tmp_path: Path) -> None:
    assert run(SMALL, cache=tmp_path) == "[]\n"
    assert not list(tmp_path.iterdir())
