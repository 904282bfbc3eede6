"""Programs that run for long, and in many threads: nothing grows, and each thread gets what it would get alone."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe

PASSES = 400
THREADS = 16
TURNS = 20

Step = Callable[[], list[Any]]


def scalar_function(rng: np.random.Generator) -> Step:
    x = tf.constant(rng.normal())
    value_and_gradients = tfe.value_and_gradients_function(lambda x: x * x * tf.sin(x))

    def step() -> list[Any]:
        value, (gradient,) = value_and_gradients(x)
        return [value, gradient]

    return step


def training(rng: np.random.Generator) -> Step:
    shapes = [(8, 16), (16,), (16, 3), (3,)]
    w1, b1, w2, b2 = variables = [tf.Variable(rng.normal(size=shape) * 0.1) for shape in shapes]
    x, labels = tf.constant(rng.normal(size=(4, 8))), tf.constant([0, 1, 2, 0])
    optimizer = tf.train.AdamOptimizer(1e-3)

    def step() -> list[Any]:
        with tf.GradientTape() as tape:
            logits = tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return [loss, *variables]

    return step


def own_gradient(rng: np.random.Generator) -> Step:
    x, v = tf.constant(rng.normal(size=3)), tf.Variable(rng.normal(size=3))

    @tf.custom_gradient
    def scaled(x: tf.Tensor) -> Any:
        y = tf.exp(x) * v
        return y, lambda dy, variables: (dy * y * 2.0, [dy * x])

    def step() -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scaled(x) * x
        return list(tape.gradient(y, [x, v]))

    return step


def persistent_tapes(rng: np.random.Generator) -> Step:
    x = tf.constant(rng.normal(size=3))

    def step() -> list[Any]:
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=True) as inner:
                inner.watch(x)
                y = x * x * x
                z = y * y
            first = inner.gradient(z, x)
        return [first, inner.gradient(z, y), inner.gradient(y, x), outer.gradient(first, x), outer.gradient(z, x)]

    return step


def lookups(rng: np.random.Generator) -> Step:
    table, ids = tf.Variable(rng.normal(size=(50, 4))), tf.constant(rng.integers(0, 50, 6))
    optimizer = tf.train.MomentumOptimizer(0.01, 0.9)

    def step() -> list[Any]:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) ** 2) + tf.reduce_sum(tf.gather(table, [0, 0]))
        gradient = tape.gradient(loss, table)
        assert isinstance(gradient, tf.IndexedSlices)
        optimizer.apply_gradients([(gradient, table)])
        return [loss, table]

    return step


def forward_mode(rng: np.random.Generator) -> Step:
    x, direction = tf.constant(rng.normal(size=3)), tf.constant(rng.normal(size=3))

    def step() -> list[Any]:
        with tfe.ForwardAccumulator(x, direction) as forward, tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.exp(x) * x + tf.reduce_sum(x)
        return [forward.jvp(y), tape.gradient(y, x)]

    return step


def recomputing(rng: np.random.Generator) -> Step:
    w, x = tf.Variable(rng.normal(size=(4, 4))), tf.constant(rng.normal(size=(2, 4)))
    layer = tfe.recompute_grad(lambda x: tf.tanh(tf.matmul(x, w)))

    def step() -> list[Any]:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(layer(x)))
        return [loss, tape.gradient(loss, w)]

    return step


def profiled(rng: np.random.Generator) -> Step:
    measured = scalar_function(rng)

    def step() -> list[Any]:
        with tf.profile():
            return measured()

    return step


MAKERS = [
    scalar_function,
    training,
    own_gradient,
    persistent_tapes,
    lookups,
    forward_mode,
    recomputing,
    profiled,
]
each = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)


@contextmanager
def nothing_grows() -> Iterator[None]:
    """Assert that a block leaves neither more memory blocks than a few caches take, nor garbage in cycles."""
    gc.collect()
    flags = gc.get_debug()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        before = sys.getallocatedblocks()
        yield
        gc.collect()  # it also gives back the freed tuples that the interpreter keeps for new ones
        grown = sys.getallocatedblocks() - before
        garbage = {type(item).__name__ for item in gc.garbage}
    finally:
        gc.set_debug(flags)
        gc.garbage.clear()
        gc.enable()
    assert not garbage, f"garbage in cycles: {sorted(garbage)}"
    assert grown < PASSES // 2, f"{grown} blocks more after {PASSES} passes"


def run(step: Callable[[], Any]) -> None:
    """Run a step again and again, three times: what it leaves it leaves each time, and what caches and threads of other
    tests make it does not."""
    for turn in range(3):
        try:
            with nothing_grows():
                for _ in range(PASSES):
                    step()
        except AssertionError:
            if turn == 2:
                raise
        else:
            return


@each
def test_nothing_grows(make: Callable[[np.random.Generator], Step]) -> None:
    step = make(np.random.default_rng(0))
    for _ in range(PASSES):  # what is cached is made now
        step()
    run(step)


def test_a_planted_leak_is_noticed() -> None:
    step = scalar_function(np.random.default_rng(0))
    kept: list[Any] = []
    with pytest.raises(AssertionError, match="blocks more after"):
        run(lambda: kept.append(step()[0]))


def test_planted_garbage_is_noticed() -> None:
    step = scalar_function(np.random.default_rng(0))

    def make_ring() -> None:
        ring: list[Any] = [step()]
        ring.append(ring)

    with pytest.raises(AssertionError, match=r"garbage in cycles: .*list"):
        run(make_ring)


def results(make: Callable[[np.random.Generator], Step], seed: int) -> list[bytes]:
    step = make(np.random.default_rng(seed))
    return [np.asarray(value.numpy()).tobytes() for _ in range(TURNS) for value in step()]


@each
def test_threads_get_what_they_would_get_alone(make: Callable[[np.random.Generator], Step]) -> None:
    alone = [results(make, seed) for seed in range(THREADS)]
    barrier = threading.Barrier(THREADS)

    def work(seed: int) -> list[bytes]:
        barrier.wait()
        return results(make, seed)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # so that threads interrupt each other in the middle of ops
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            together = list(pool.map(work, range(THREADS)))
    finally:
        sys.setswitchinterval(interval)
    assert together == alone
