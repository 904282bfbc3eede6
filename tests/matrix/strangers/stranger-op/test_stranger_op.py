"""The new op, as installed: it computes, it has gradients of any order, and it conforms."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from stranger_op import softcap

import agog as tf


def test_it_has_gradients_of_any_order() -> None:
    x = tf.constant([-3.0, 0.1, 2.0], tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = softcap(x, cap=2.0)
        first = inner.gradient(y, x)
    second = outer.gradient(first, x)
    t = np.tanh(x.numpy() / 2)
    np.testing.assert_allclose(y.numpy(), 2 * t, rtol=1e-14)
    np.testing.assert_allclose(first.numpy(), 1 - t**2, rtol=1e-14)
    np.testing.assert_allclose(second.numpy(), -t * (1 - t**2), rtol=1e-13)


def test_it_conforms() -> None:
    command = [sys.executable, "-m", "agog_testing.conformance", "stranger-op"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not covered" not in done.stdout
