"""Traced functions in many threads, and where kernels are chosen anew: they give what eager calls give."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe
from agog_core.dispatch.plugins.compilers import compilers_of
from agog_testing.compilers import compilers_in_use

THREADS = 16
SEED = 4


@pytest.fixture(params=["numpy", "compiled", "portable"])
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """What runs the traced functions: NumPy's calls, loops that are compiled, or kernels on another device."""
    if request.param == "compiled" and not compilers_of("cpu"):
        pytest.skip("no compiler is there")
    with compilers_in_use() if request.param == "numpy" else nullcontext():
        yield request.param


def in_threads(work: Callable[[int], Any]) -> list[Any]:
    """What some work gives in each thread; all begin at once."""
    start = threading.Barrier(THREADS)

    def begin(number: int) -> Any:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


class Step:
    """A training step of one thread: its own variables and random numbers, and a function that all threads share."""

    def __init__(self, number: int, device: str) -> None:
        self.device = device
        with tf.device(device):
            self.w = tfe.Variable(np.random.default_rng(number).normal(size=(30, 40)).astype("f4"))
            self.x = tf.constant(np.random.default_rng(number + 99).normal(size=(5 + number % 3, 30)).astype("f4"))

    def run(self, layer: Callable[..., Any]) -> list[Any]:
        """The losses, gradients and weights of a few steps; a branch goes another way in each second one."""
        tf.set_random_seed(SEED)
        found: list[Any] = []
        with tf.device(self.device):
            for step in range(6):
                with tf.GradientTape() as tape:
                    w = self.w.value()
                    loss = layer(self.x * float(step % 2 * 2 - 1), w)
                gradient = tape.gradient(loss, w)
                self.w.assign_sub(0.1 * gradient)
                found += [loss, gradient, self.w]
        return [np.array(each) for each in found]


def layer(x: tf.Tensor, w: tf.Tensor) -> Any:
    """With a branch, random numbers, fused elementwise ops, and a kernel that stays a call."""
    y = tf.tanh(tf.matmul(x, w)) * 2.0 + 1.0
    y = tf.exp(-y) if tf.reduce_sum(x) > 0.0 else tf.square(y) - 0.5
    best = tf.nn.top_k(y, 3)[0]
    return tf.reduce_sum(tf.nn.dropout(y, 0.5)) + tf.reduce_mean(best)


def test_training_in_threads_has_the_bits_of_one(way: str) -> None:
    device = "fake:0" if way == "portable" else "cpu:0"
    expected = [Step(number, device).run(layer) for number in range(THREADS)]
    shared, steps = tf.function(layer), [Step(number, device) for number in range(THREADS)]
    for one, other in zip(expected, in_threads(lambda number: steps[number].run(shared)), strict=True):
        for left, right in zip(one, other, strict=True):
            np.testing.assert_array_equal(left, right)


def test_whole_steps_on_the_same_variables_lose_nothing(way: str) -> None:
    """Each step reads and writes both variables; whole numbers, so that no order of steps rounds in another way."""
    with tf.device("fake:0" if way == "portable" else "cpu:0"):
        v, w = tfe.Variable(np.zeros((30, 30), "f4")), tfe.Variable(np.zeros((30, 30), "f4"))

    def step(x: tf.Tensor) -> Any:
        before = v + 0.0
        v.assign_add(x)
        w.assign(w + (v - before) * 2.0)
        return v - before

    traced = tf.function(step)

    def work(number: int) -> float:
        with tf.device("fake:0" if way == "portable" else "cpu:0"):
            added = [traced(tf.fill([30, 30], float(number))).numpy() for _ in range(10)]
        assert all((each == number).all() for each in added)
        return float(sum(each[0, 0] for each in added))

    total = sum(in_threads(work))
    assert total == 10 * sum(range(THREADS))
    assert set(v.numpy().flat) == {total}
    assert set(w.numpy().flat) == {2 * total}


def loss_of(w: tf.Tensor, x: tf.Tensor) -> Any:
    return tf.reduce_sum(tf.tanh(tf.matmul(x, w)) * 2.0, 1)


def test_threads_get_the_bits_of_one() -> None:
    rng = np.random.default_rng(SEED)
    w = tf.constant(rng.normal(size=(30, 40)).astype("f4"))
    batches = [tf.constant(rng.normal(size=(5, 30)).astype("f4")) for _ in range(THREADS)]
    expected = [loss_of(w, batch).numpy() for batch in batches]
    f = tf.function(loss_of)
    start = threading.Barrier(THREADS)

    def work(number: int) -> list[Any]:
        start.wait()  # all of them find that there is no trace yet
        return [f(w, batches[number]).numpy() for _ in range(50)]

    with ThreadPoolExecutor(THREADS) as pool:
        for number, found in enumerate(pool.map(work, range(THREADS))):
            for each in found:
                np.testing.assert_array_equal(each, expected[number])
    assert len(f.traces()) == 1


def test_concurrent_updates_lose_nothing() -> None:
    v = tfe.Variable(np.zeros(1000, "f4"))
    add = tf.function(lambda x: v.assign(v.value() + x))
    one = tf.ones([1000])
    start = threading.Barrier(THREADS)

    def work(number: int) -> None:
        start.wait()
        for _ in range(20):
            add(one) if number % 2 else v.assign_add(one)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    assert set(v.numpy().tolist()) == {20.0 * THREADS}


def test_kernels_are_chosen_again() -> None:
    x = tf.constant([1.0, 2.0])
    f = tf.function(lambda x: tf.exp(x) * 2.0)
    first = f(x).numpy()
    seen: list[str] = []
    tfe.add_execution_callback(lambda op, *rest: seen.append(op))
    try:
        np.testing.assert_array_equal(f(x).numpy(), first)
    finally:
        tfe.clear_execution_callbacks()
    assert len(seen) == 2
    np.testing.assert_array_equal(f(x).numpy(), first)
    assert len(seen) == 2
    assert len(f.traces()) == 1
