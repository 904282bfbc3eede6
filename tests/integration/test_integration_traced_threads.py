"""Traced functions in many threads, and where kernels are chosen anew: they give what eager calls give."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import agog as tf
import agog.eager as tfe

THREADS = 16
SEED = 4


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
