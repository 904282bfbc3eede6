"""A traced step takes at most the memory of an eager one: what it takes while it runs, and what stays between runs."""

from __future__ import annotations

import gc
import re
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe
from agog_testing.compilers import compilers_in_use

Step = tuple[Callable[..., Any], tuple[tf.Tensor, ...]]
"""A step, and its arguments."""
RNG = np.random.RandomState(0)


def weight(*shape: int) -> tfe.Variable:
    return tfe.Variable((RNG.randn(*shape) / shape[0] ** 0.5).astype("f4"))


def constant(*shape: int) -> tf.Tensor:
    return tf.constant(RNG.randn(*shape).astype("f4"))


def labels(count: int, classes: int) -> tf.Tensor:
    return tf.constant(RNG.randint(0, classes, count).astype("i4"))


def gradient(loss: Callable[[tf.Tensor], tf.Tensor], x: tf.Tensor) -> Step:
    def step(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = loss(x)
        return tape.gradient(value, x)

    return step, (x,)


def training(loss: Callable[[], tf.Tensor], variables: list[tfe.Variable], optimizer: Any = None) -> Step:
    chosen = tf.train.AdamOptimizer(0.001) if optimizer is None else optimizer

    def step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            value = loss()
        chosen.apply_gradients(zip(tape.gradient(value, variables), variables, strict=True))
        return value

    return step, ()


def cross_entropy(classes: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits))


def chain() -> Step:
    a = constant(3)

    def loss(x: tf.Tensor) -> tf.Tensor:
        for _ in range(10):
            x = tf.sigmoid(tf.tanh(x) * a + a) - a
        return tf.reduce_sum(x)

    return gradient(loss, constant(3))


def wide() -> Step:
    b = constant(200)
    return gradient(
        lambda x: tf.reduce_sum((0.5 * x * (1.0 + tf.tanh(0.8 * (x + 0.04 * x * x * x))) + b) ** 2), constant(100, 200)
    )


def square() -> Step:
    return gradient(lambda x: x * x, tf.constant(3.0))


def huber() -> Step:
    w, b, x, y = tfe.Variable(0.0), tfe.Variable(0.0), tf.constant(1.3), tf.constant(7.0)

    def loss() -> tf.Tensor:
        e = y - (w * x + b)
        return e * e if tf.abs(e) <= 1.0 else 2 * tf.abs(e) - 1.0

    return training(loss, [w, b], tf.train.GradientDescentOptimizer(0.03))


def mlp() -> Step:
    v = [weight(256, 128), weight(128), weight(128, 64), weight(64), weight(64, 10), weight(10)]
    x, y = constant(32, 256), labels(32, 10)

    def loss() -> tf.Tensor:
        h = tf.nn.relu(tf.matmul(x, v[0]) + v[1])
        return cross_entropy(y, tf.matmul(tf.nn.relu(tf.matmul(h, v[2]) + v[3]), v[4]) + v[5])

    return training(loss, v)


def transformer() -> Step:
    size, length, batch, heads = 16, 16, 4, 2
    table, wq, wk, wv, w1, w2, out = (weight(*s) for s in ([32, 16], *[[16, 16]] * 3, [16, 64], [64, 16], [16, 32]))
    tokens, classes = tf.reshape(labels(batch * length, 32), [batch, length]), labels(batch * length, 32)
    mask = tf.constant(np.triu(np.full((length, length), -1e9, "f4"), 1))

    def split(x: tf.Tensor, w: tfe.Variable) -> tf.Tensor:
        parts = tf.reshape(tf.matmul(tf.reshape(x, [-1, size]), w), [batch, length, heads, size // heads])
        return tf.transpose(parts, [0, 2, 1, 3])

    def loss() -> tf.Tensor:
        x = tf.gather(table, tokens)
        scores = tf.matmul(split(x, wq), split(x, wk), transpose_b=True) * 0.35 + mask
        mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), split(x, wv)), [0, 2, 1, 3])
        x = tf.reshape(x + tf.reshape(mixed, [batch, length, size]), [-1, size])
        x -= tf.reduce_mean(x, -1, keepdims=True)
        x *= tf.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1e-5)
        return cross_entropy(classes, tf.matmul(x + tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2), out))

    return training(loss, [table, wq, wk, wv, w1, w2, out])


def lstm() -> Step:
    wx, wh, b, out = weight(16, 64), weight(16, 64), weight(64), weight(16, 10)
    x, y, zero = constant(6, 8, 16), labels(8, 10), tf.zeros([8, 16])

    def loss() -> tf.Tensor:
        h = c = zero
        for xt in tf.unstack(x):
            i, f, g, o = tf.split(tf.matmul(xt, wx) + tf.matmul(h, wh) + b, 4, 1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
        return cross_entropy(y, tf.matmul(h, out))

    return training(loss, [wx, wh, b, out])


def peak(step: Callable[..., Any], args: tuple[tf.Tensor, ...]) -> int:
    """The most bytes that a call takes: the least of three counts, since other threads only add to them."""
    for _ in range(3):
        step(*args)

    def counted() -> int:
        gc.collect()
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            step(*args)
            return tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()

    return min(counted() for _ in range(3))


@contextmanager
def alone() -> Iterator[None]:
    """No compilers; eager code has the reference kernels too, where compiled ones need less memory."""
    before = tf.prefer("cpu-numpy")
    try:
        with compilers_in_use():
            yield
    finally:
        tf.prefer(*before)


@pytest.mark.parametrize("make", [chain, wide, square, huber, mlp, transformer, lstm])
@pytest.mark.parametrize("is_compiled", [False, True], ids=["alone", "compiled"])
def test_the_peak_is_at_most_that_of_eager_steps(make: Callable[[], Step], is_compiled: bool) -> None:
    with nullcontext() if is_compiled else alone():
        eager = peak(*make())
        step, args = make()
        traced = tf.function(step)
        found = peak(traced, args)
        (stays,) = re.findall(r"([\d,]+) bytes of memory stay between runs", traced.graph().summary())
    assert found + int(stays.replace(",", "")) <= eager
