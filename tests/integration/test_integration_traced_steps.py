"""Users' programs give the same bits in `tf.function` as without: steps of trainings, and gradients."""

from __future__ import annotations

from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe

X = np.random.default_rng(0).normal(size=(4, 3)).astype("f4")
W = np.random.default_rng(1).normal(size=(3, 2)).astype("f4")

# Makes a traced function of one, or leaves it as it is.
Wrap = Callable[[Any], Any]
PROGRAMS: list[Callable[[Wrap], Any]] = []


def program(run: Callable[[Wrap], Any]) -> Callable[[Wrap], Any]:
    PROGRAMS.append(run)
    return run


def given(scale: float = 1.0) -> Any:
    return tf.constant(X * np.float32(scale))


# Training


def trained(step: Any, calls: int, *state: Any) -> list[Any]:
    return [*[step(given(1 + number % 2)) for number in range(calls)], *state]


@program
def keras_models(wrap: Wrap) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Dense(4, activation="relu"), layers.BatchNormalization(), layers.Dropout(0.5), layers.Dense(2)]
    )
    optimizer, mean, accuracy = tf.train.AdamOptimizer(0.1), tfe.metrics.Mean(), tfe.metrics.Accuracy()

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = model(x, training=True)
            loss = tf.reduce_mean(tf.square(y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        mean(loss)
        accuracy(tf.argmax(y, 1), tf.constant([0, 1, 1, 0], tf.int64))
        return loss, mean.result(), accuracy.result()

    found = trained(wrap(step), 4, model.variables, optimizer.variables(), mean.result(), accuracy.result())
    f = wrap(lambda x, training: model(x, training=training))
    return [*found, f(given(), False), f(given(), True), f(given(), False), model.variables]


@program
def regularized_models(wrap: Wrap) -> Any:
    layer = tf.keras.layers.Dense(2, kernel_regularizer=tf.keras.regularizers.l2(0.1))
    model = tf.keras.Sequential([layer])
    f = wrap(lambda x: (model(x), tf.add_n(model.losses)))
    found = trained(f, 3)
    layer.kernel.assign(layer.kernel * 2.0)
    return [*found, f(given())]


@program
def recurrent_cells(wrap: Wrap) -> Any:
    cell = tf.contrib.rnn.BasicLSTMCell(4)
    f, state, found = wrap(lambda x, state: cell(x, state)), cell.zero_state(4, tf.float32), []
    for _ in range(3):
        output, state = f(given(), state)
        found += [output, state]
    return found


@program
def embeddings(wrap: Wrap) -> Any:
    table, optimizer = tf.Variable(X), tf.train.AdagradOptimizer(0.1)

    def step(ids: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids)))
        optimizer.apply_gradients([(tape.gradient(loss, table), table)])
        return loss

    f = wrap(step)
    return [f(tf.constant(ids)) for ids in ([0, 1], [1, 1], [2, 3])] + [table]


@program
def schedules_and_averages(wrap: Wrap) -> Any:
    count, v = tf.Variable(0, dtype=tf.int64), tf.Variable([1.0, 2.0])
    optimizer = tf.train.MomentumOptimizer(tf.train.exponential_decay(0.1, count, 2, 0.5), 0.9)
    averages = tf.train.ExponentialMovingAverage(0.9)

    def step(x: Any) -> Any:
        optimizer.minimize(lambda: tf.reduce_sum(v * v) * x[0, 0], global_step=count)
        averages.apply([v])
        return v * 1.0, averages.average(v) * 1.0

    return trained(wrap(step), 5, count, v)


@program
def own_momentum_and_clipping(wrap: Wrap) -> Any:
    w, m = tf.Variable(W), tf.Variable(np.zeros_like(W), trainable=False)

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.matmul(x, w))) * 100.0
        (gradient,), norm = tf.clip_by_global_norm([tape.gradient(loss, w)], 1.0)
        m.assign(0.9 * m + gradient)
        w.assign_sub(0.01 * m)
        return loss, norm

    return trained(wrap(step), 4, w, m)


# Gradients


@program
def tapes_inside_and_outside(wrap: Wrap) -> Any:
    w = tf.Variable(W)

    def call(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.matmul(x, w)))
        return tape.gradient(loss, w)

    f, found = wrap(call), []
    for _ in range(3):
        with tf.GradientTape() as tape:
            gradient = f(given())
            norm = tf.reduce_sum(gradient * gradient)
        found += [gradient, tape.gradient(norm, w)]
    return found


@program
def gradient_penalty(wrap: Wrap) -> Any:
    w = tf.Variable(W)
    critic = wrap(lambda x: tf.nn.leaky_relu(tf.matmul(x, w)))

    def call(x: Any) -> Any:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = critic(x)
            gradient = inner.gradient(y, x)
            penalty = tf.reduce_mean(tf.square(tf.sqrt(tf.reduce_sum(gradient * gradient, 1)) - 1.0))
        return penalty, outer.gradient(penalty, w)

    f = wrap(call)
    return [f(given()), call(given()), f(given(2)), call(given(2))]


@program
def steps_within_steps(wrap: Wrap) -> Any:
    w = tf.Variable(W)

    def call(x: Any) -> Any:
        with tf.GradientTape() as outer:
            inside = w * 1.0
            with tf.GradientTape() as inner:
                inner.watch(inside)
                loss = tf.reduce_mean(tf.square(tf.matmul(x, inside)))
            inside = inside - 0.1 * inner.gradient(loss, inside)
            after = tf.reduce_mean(tf.square(tf.matmul(x, inside)))
        return outer.gradient(after, w)

    f = wrap(call)
    return [f(given()), f(given(2))]


@program
def watched_closures(wrap: Wrap) -> Any:
    """Tensors that are no arguments, but that a tape outside watches."""
    held, found = tf.constant(2.0), []
    f = wrap(lambda x: x * held * tf.exp(held))
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(held)
            y = f(given())
        found += [y, tape.gradient(y, held)]
    with tf.GradientTape() as tape:
        tape.watch(held)
        doubled = held * 2.0
        y = wrap(lambda x: x * doubled)(given())
    return [*found, tape.gradient(y, held)]


@program
def jacobians(wrap: Wrap) -> Any:
    def call(x: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.square(x) * x[0]
        return tape.jacobian(y, x)

    f = wrap(call)
    return [f(tf.constant([1.0, 2.0, 3.0])), f(tf.constant([2.0, 1.0, 0.0]))]


@program
def pictures_and_sequences(wrap: Wrap) -> Any:
    layers, rng = tf.keras.layers, np.random.default_rng(3)
    convolution = [layers.Conv2D(3, 2, padding="same", activation="relu"), layers.MaxPooling2D(2), layers.Flatten()]
    models = [
        tf.keras.Sequential([*convolution, layers.Dense(2)]),
        tf.keras.Sequential([layers.LSTM(4, return_sequences=True), layers.GRU(2)]),
    ]
    inputs = [tf.constant(rng.normal(size=shape).astype("f4")) for shape in ((2, 6, 6, 1), (2, 5, 3))]
    optimizer = tf.train.RMSPropOptimizer(0.01)

    def step(*inputs: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = tf.add_n([model(x) for model, x in zip(models, inputs, strict=True)])
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.constant([0, 1]), logits=logits)
            )
        variables = [v for model in models for v in model.variables]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    f = wrap(step)
    return [*[f(*inputs) for _ in range(3)], *[model.variables for model in models]]


@program
def fitted_models(wrap: Wrap) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(3, activation="tanh"), layers.Dropout(0.3), layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"], jit_compile=wrap is tf.function)
    history = model.fit(X, X[:, :1], epochs=3, batch_size=2, verbose=0).history
    return [list(history["loss"]), model.get_weights(), model.evaluate(X, X[:, :1], verbose=0), model.predict(X)]


@program
def checkpoints(wrap: Wrap) -> Any:
    model, optimizer = tf.keras.Sequential([tf.keras.layers.Dense(2)]), tf.train.AdamOptimizer(0.1)

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(model(x)))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables, strict=True))
        return loss

    f = wrap(step)
    found = trained(f, 3)
    with TemporaryDirectory() as folder:
        checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
        path = checkpoint.save(f"{folder}/checkpoint")
        found += trained(f, 2)
        checkpoint.restore(path)
        return [*found, *trained(f, 2, model.variables, optimizer.variables())]


@program
def loss_scales(wrap: Wrap) -> Any:
    v = tf.Variable([1.0, 2.0])
    manager = tf.contrib.mixed_precision.ExponentialUpdateLossScaleManager(8.0, 2)
    optimizer = tf.contrib.mixed_precision.LossScaleOptimizer(tf.train.AdamOptimizer(0.1), manager)

    def step(x: Any) -> Any:
        optimizer.minimize(lambda: tf.reduce_sum(v * v * x))
        return v * 1.0

    f = wrap(step)
    return [f(tf.constant(x)) for x in (1.0, 2.0, float("inf"), 1.0, 1.0)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_programs_are_equal(run: Callable[[Wrap], Any], assert_same_bits: Callable[..., None]) -> None:
    assert_same_bits(run)
