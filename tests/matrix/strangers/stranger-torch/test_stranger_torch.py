"""The device on PyTorch's tensors, as installed: a training runs on it, and its kernels conform."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from stranger_torch.hooks import LACKING

TRAINING = """
import numpy as np

import agog as tf

rng = np.random.default_rng(3)
x, y = rng.normal(size=(16, 4)).astype("float32"), rng.normal(size=(16, 2)).astype("float32")

def train(device):
    with tf.device(device):
        w = tf.Variable(tf.zeros([4, 2]))
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        for _ in range(10):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    assert w.value().device.endswith(device.upper()), w.value().device
    return w.numpy()

difference = abs(train("torch:0") - train("cpu:0")).max()
assert difference < 1e-6, difference
"""


def test_a_training_gives_what_it_gives_on_the_cpu() -> None:
    done = subprocess.run([sys.executable, "-c", TRAINING], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_program_that_does_not_use_it_does_not_import_torch() -> None:
    code = "import sys\nimport agog as tf\ntf.add(1.0, 2.0)\nassert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_op_that_is_left_to_the_host_gives_what_the_cpu_gives() -> None:
    code = """
import agog as tf

def random(device):
    tf.set_random_seed(3)
    with tf.device(device):
        kept = tf.nn.dropout(tf.ones([8]), 0.5)
    assert kept.device.endswith(device.upper()), kept.device
    return kept.numpy().tolist()

assert random("torch:0") == random("cpu:0")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_op_that_it_lacks_is_an_error() -> None:
    code = "import agog as tf\nwith tf.device('torch:0'): tf.lgamma(2.0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "No kernel is registered for op 'lgamma' on device 'torch' with dtype float32" in done.stderr


def test_its_kernels_conform(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agog_testing.conformance", "stranger-torch", "--dtype", "float32"]
    done = subprocess.run(
        [*command, "--timeout", "300", "--json", str(tmp_path / "results.json")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    outcomes = defaultdict(set)
    for test in json.loads((tmp_path / "results.json").read_text())["tests"]:
        outcomes[test["op"]].add(test["outcome"])
    green = [op for op, kinds in outcomes.items() if kinds == {"passed"}]
    assert len(green) >= 150, len(green)
    assert not outcomes.keys() & LACKING.keys()
