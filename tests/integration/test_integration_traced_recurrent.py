"""Layers that go on with their states: traced functions and ``fit(jit_compile=True)`` do so as eager code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog as tf
from agog_testing import says

layers = tf.keras.layers
X = np.random.default_rng(0).normal(size=(8, 5, 3)).astype("f4")
Y = np.random.default_rng(1).normal(size=(8, 2)).astype("f4")
KINDS = {
    "LSTM": lambda: [layers.LSTM(4, stateful=True)],
    "GRU": lambda: [layers.GRU(4, stateful=True)],
    "SimpleRNN": lambda: [layers.SimpleRNN(4, stateful=True, return_sequences=True), layers.GRU(3, stateful=True)],
    "RNN": lambda: [layers.RNN([layers.LSTMCell(4), layers.GRUCell(3)], stateful=True)],
    "Bidirectional": lambda: [layers.Bidirectional(layers.LSTM(3, stateful=True))],
    "masked": lambda: [layers.Masking(), layers.LSTM(4, stateful=True, dropout=0.5)],
    "ConvLSTM2D": lambda: [layers.Reshape([5, 1, 1, 3]), layers.ConvLSTM2D(2, 1, stateful=True), layers.Flatten()],
}


def made(kind: str) -> Any:
    tf.set_random_seed(3)
    return tf.keras.Sequential([*KINDS[kind](), layers.Dense(2)])


def trained(kind: str, jit_compile: bool) -> Any:
    model = made(kind)
    model.compile("adam", "mse", jit_compile=jit_compile)
    found = []
    for _ in range(3):
        found.append(model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0).history["loss"])
        found.append(model.predict(X, batch_size=4).tobytes())
        model.reset_states()
        found.append(model.evaluate(X, Y, batch_size=4, verbose=0))
    return found, [each.tobytes() for each in model.get_weights()]


@pytest.mark.parametrize("kind", KINDS)
def test_fit_trains_as_in_eager_code(kind: str) -> None:
    assert trained(kind, True) == trained(kind, False)


def called(wrap: Any) -> list[bytes]:
    tf.set_random_seed(3)
    layer = layers.LSTM(4, stateful=True, return_state=True)
    f, found = wrap(lambda x: layer(x)), []
    large, small = tf.constant(X), tf.constant(X[:2])
    first = [tf.constant(X[:, 0, :1] * np.ones((8, 4), "f4"))] * 2
    for x, states in [(large, None), (small, None), (large, first), (large, None), (small, [s[:2] for s in first])]:
        layer.reset_states(states)
        found += [f(x), f(x), f(x), *layer.states]
    return [each.numpy().tobytes() for each in tf.contrib.framework.nest.flatten(found)]


def test_states_that_programs_set_and_forget() -> None:
    assert called(tf.function) == called(lambda f: f)


def test_states_of_other_batches_are_refused() -> None:
    layer = layers.LSTM(4, stateful=True, name="kept")
    f = tf.function(lambda x: layer(x))
    f(tf.constant(X))
    f(tf.constant(X))
    with says(
        ValueError,
        "LSTM layer 'kept' keeps the states of 8 examples; got an input of shape (2, 5, 3). Call reset_states first.",
    ):
        f(tf.constant(X[:2]))


def test_masks_of_a_variational_dropout_are_drawn_once() -> None:
    def outputs(wrap: Any) -> list[bytes]:
        tf.set_random_seed(3)
        cell = tf.nn.rnn_cell.DropoutWrapper(
            tf.nn.rnn_cell.BasicLSTMCell(4), input_keep_prob=0.5, variational_recurrent=True
        )
        f = wrap(lambda x: tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0])
        return [f(tf.constant(X)).numpy().tobytes() for _ in range(4)]

    assert outputs(tf.function) == outputs(lambda f: f)


def masked(wrap: Any) -> list[bytes]:
    tf.set_random_seed(3)
    mask, inner, outer = layers.Masking(), layers.LSTM(3, return_sequences=True), layers.GRU(2)
    f, g = wrap(lambda x: outer(x)), wrap(lambda x: inner(mask(x)))
    x = tf.constant(X * (np.arange(5) < 3)[:, None])
    found: list[Any] = []
    for given in (x, mask(x), mask(x), x, inner(mask(x))):
        found += [f(given), outer(g(x)), f(g(x))]
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(f(given)) + tf.reduce_sum(f(g(x)))
        found += tape.gradient(loss, outer.trainable_variables + inner.trainable_variables)
    return [each.numpy().tobytes() for each in found if each is not None]


def test_masks_go_with_arguments_and_results() -> None:
    assert masked(tf.function) == masked(lambda f: f)
